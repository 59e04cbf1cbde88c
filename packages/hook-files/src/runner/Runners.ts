/**
 * Runs what an entry of a hook file names: a command, an HTTP request, an MCP tool, a prompt or an agent. The result is
 * always that of a command: an exit code and output.
 *
 * @since 0.1.0
 */
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import { checkObject, type OptionKinds } from "@belay/core/OptionCheck"
import type * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Command from "../process/Command.ts"
import * as Agent from "./Agent.ts"
import * as Http from "./Http.ts"
import { broke } from "./internal/within.ts"
import * as McpTool from "./McpTool.ts"
import * as Prompt from "./Prompt.ts"

/** A command: a shell line, or a program if it has `args`. @category models @since 0.1.0 */
export interface CommandWork {
  readonly type: "command"
  readonly command: string
  readonly args?: ReadonlyArray<string>
  readonly shell?: "bash" | "powershell"
}

/** A POST request with the event as its body. @category models @since 0.1.0 */
export interface HttpWork {
  readonly type: "http"
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** The environment variables that headers may contain, as `$NAME` or `${NAME}`. */
  readonly allowedEnvVars?: ReadonlyArray<string>
}

/** A call of a tool of an MCP server. @category models @since 0.1.0 */
export interface McpToolWork {
  readonly type: "mcp_tool"
  readonly server: string
  readonly tool: string
  /**
   * The input of the tool. Its strings may contain fields of the event, such as `${tool_input.file_path}`. Default: the
   * whole event.
   */
  readonly input?: JsonObject
}

/** A question to a model, which answers with `{ ok, reason }`. @category models @since 0.1.0 */
export interface PromptWork {
  readonly type: "prompt"
  /** The question. `$ARGUMENTS` is replaced by the event. */
  readonly prompt: string
  readonly model?: string
  readonly continueOnBlock?: boolean
}

/**
 * A question to an agent that can use the tools of the host. It answers with `{ ok, reason }`.
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentWork {
  readonly type: "agent"
  readonly prompt: string
  readonly model?: string
}

/** What an entry asks a runner to do. @category models @since 0.1.0 */
export type Work = CommandWork | HttpWork | McpToolWork | PromptWork | AgentWork

/** What to run, and with which input. @category models @since 0.1.0 */
export interface Task {
  readonly work: Work
  /** The event, in the format of the entry's system. */
  readonly input: JsonObject
  readonly cwd: string
  /**
   * Who controls the file of the entry. Only entries of the user may send HTTP requests to this machine. Default
   * `project`.
   */
  readonly trusted?: "user" | "project"
  /** Environment variables for a command, in addition to the few that every command gets. */
  readonly env?: { readonly [name: string]: string }
  readonly timeoutMs: number
  /** The most bytes of a command's standard output, and of its standard error. Default 1,048,576. */
  readonly maxOutput?: number
  /** Called with the first line of a command's standard output as soon as it is complete. */
  readonly onFirstLine?: (line: string) => void
  /** Called with the processes that a command left in the background. */
  readonly onLinger?: (left: Command.Left) => void
}

/** Options of `Runners.make`. @category models @since 0.1.0 */
export interface Options {
  /** Runs commands. Default `Command.run`. */
  readonly run?: Command.Runner
  /** The names of environment variables of the host that commands get in addition. */
  readonly passEnv?: ReadonlyArray<string>
  /** The time between SIGTERM and SIGKILL in milliseconds. Default 2,000. */
  readonly graceMs?: number
  /**
   * How long background processes of a command may run after the command has ended, in milliseconds. With 0 they end
   * with the command. Default 10,000.
   */
  readonly lingerMs?: number
  /** The model for prompts and agents whose entry names none. Default: the model of the agent. */
  readonly model?: string
  /** The servers that HTTP requests may reach. Default: public servers, with `https`. */
  readonly http?: HttpGuard.Options
  /**
   * The only URLs to which HTTP requests are sent. `*` matches any characters. Default: all URLs that `http` allows.
   */
  readonly allowedHttpHookUrls?: ReadonlyArray<string>
  /**
   * The only environment variables that headers may contain, even if the `allowedEnvVars` of an entry has more.
   * Default: those in `allowedEnvVars`.
   */
  readonly httpHookAllowedEnvVars?: ReadonlyArray<string>
}

/**
 * Runs a task and returns its result. It never fails: an error is an exit code with a text on standard error.
 *
 * @category models
 * @since 0.1.0
 */
export type Runners = (task: Task, ctx: HookContext) => Effect.Effect<Command.Finished>

/** The kinds of `Options`. @category models @since 0.1.0 */
export const optionKinds: OptionKinds<Options> = {
  run: "function",
  passEnv: "textList",
  graceMs: "number",
  lingerMs: "number",
  model: "text",
  http: "any",
  allowedHttpHookUrls: "textList",
  httpHookAllowedEnvVars: "textList"
}

/**
 * Makes a function that runs tasks of all types.
 *
 * @example
 * ```ts
 * import type { HookContext } from "@belay/core/HookContext"
 * import * as Runners from "@belay/hook-files/Runners"
 *
 * const run = Runners.make({ passEnv: ["CI"], allowedHttpHookUrls: ["https://hooks.example.com/*"] })
 * const look = (ctx: HookContext) =>
 *   run({ work: { type: "command", command: "./check.sh" }, input: { a: 1 }, cwd: ctx.cwd, timeoutMs: 5_000 }, ctx)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Runners => {
  Result.getOrThrow(checkObject("Runners.make", options, "an object with options"))
  const { graceMs = 2_000, lingerMs = 10_000, passEnv = [], run = Command.run } = options
  const http = requests(options)
  return (task, ctx) => {
    const { cwd, env, input, maxOutput, onFirstLine, onLinger, timeoutMs, work } = task
    switch (work.type) {
      case "command":
        return run({
          ...programOf(work),
          cwd,
          input: `${JSON.stringify(input)}\n`,
          passEnv,
          timeoutMs,
          graceMs,
          lingerMs,
          ...defined({ maxOutput, env, onFirstLine, onLinger })
        })
      case "http":
        return http(work, task, ctx)
      case "mcp_tool":
        return McpTool.run({ ...work, event: input, timeoutMs }, ctx)
      case "prompt":
        return Prompt.run({ prompt: work.prompt, event: input, timeoutMs, ...modelOf(work, options) }, ctx)
      case "agent":
        return Agent.run({ prompt: work.prompt, event: input, timeoutMs, ...modelOf(work, options) }, ctx)
    }
  }
}

const programOf = ({ args, command, shell }: CommandWork) =>
  shell === "powershell" && args === undefined
    ? { command: "pwsh", args: ["-NoProfile", "-NonInteractive", "-Command", command] }
    : defined({ command, args })

const modelOf = (work: PromptWork | AgentWork, options: Options): { readonly model?: string } =>
  defined({ model: work.model ?? options.model })

const requests = ({ allowedHttpHookUrls, http = {}, httpHookAllowedEnvVars }: Options) => {
  let isWarned = false
  return (
    work: HttpWork,
    { input, timeoutMs, trusted = "project" }: Task,
    ctx: HookContext
  ): Effect.Effect<Command.Finished> =>
    Effect.suspend(() => {
      const proxy = isWarned ? undefined : Http.proxyOf()
      if (proxy !== undefined) {
        ctx.warn(`hooks of type http connect directly, so that every address is checked: they ignore ${proxy}`)
      }
      isWarned = true
      const { allowedEnvVars, headers, url } = work
      const client = Result.try(() => Http.clientFor(url, trusted, http))
      if (Result.isFailure(client)) {
        return Effect.succeed(
          failure(client.failure instanceof Error ? client.failure.message : "the option http is invalid")
        )
      }
      return Http.run({
        url,
        body: input,
        timeoutMs,
        ...defined({
          headers,
          allowedEnvVars,
          allowedUrls: allowedHttpHookUrls,
          hostEnvVars: httpHookAllowedEnvVars
        })
      }, client.success)
    })
}

const failure = (stderr: string): Command.Finished => ({ ...broke(stderr), durationMs: 0 })
