/**
 * Runs what an entry of a hook file names: a command, an HTTP request, an MCP tool, a prompt or an agent. Each ends as a
 * command does, with an exit code and output.
 *
 * @since 0.1.0
 */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Command from "./process/Command.ts"
import * as Agent from "./runner/Agent.ts"
import * as Http from "./runner/Http.ts"
import { broke } from "./runner/internal/within.ts"
import * as McpTool from "./runner/McpTool.ts"
import * as Prompt from "./runner/Prompt.ts"

/** A process: a line for the shell, or with `args` a program. @category models @since 0.1.0 */
export interface CommandWork {
  readonly type: "command"
  readonly command: string
  readonly args?: ReadonlyArray<string>
  readonly shell?: "bash" | "powershell"
}

/** A POST with the event as its body. @category models @since 0.1.0 */
export interface HttpWork {
  readonly type: "http"
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** Variables of the host that headers may name, as `$NAME` or `${NAME}`. */
  readonly allowedEnvVars?: ReadonlyArray<string>
}

/** One call of a tool of an MCP server. @category models @since 0.1.0 */
export interface McpToolWork {
  readonly type: "mcp_tool"
  readonly server: string
  readonly tool: string
  /** Texts may name fields of the event, as `${tool_input.file_path}`. Default: the whole event. */
  readonly input?: JsonObject
}

/** One question to a model, answered with `{ ok, reason }`. @category models @since 0.1.0 */
export interface PromptWork {
  readonly type: "prompt"
  /** `$ARGUMENTS` stands for the event. */
  readonly prompt: string
  readonly model?: string
  readonly continueOnBlock?: boolean
}

/** An agent with the tools of its host, which answers with `{ ok, reason }`. @category models @since 0.1.0 */
export interface AgentWork {
  readonly type: "agent"
  readonly prompt: string
  readonly model?: string
}

/** @category models @since 0.1.0 */
export type Work = CommandWork | HttpWork | McpToolWork | PromptWork | AgentWork

/** One run. @category models @since 0.1.0 */
export interface Task {
  readonly work: Work
  /** The event in the form of its system. */
  readonly input: JsonObject
  readonly cwd: string
  /** Whose file it is. Only a file of the user may reach a server on this machine by HTTP. Default `project`. */
  readonly trusted?: "user" | "project"
  /** Variables for a command, in addition to the few that it always has. */
  readonly env?: { readonly [name: string]: string }
  readonly timeoutMs: number
  /** Most bytes of a command's standard output, and of its standard error. Default 1,048,576. */
  readonly maxOutput?: number
  /** Receives the first line of a command's standard output as soon as it is there. */
  readonly onFirstLine?: (line: string) => void
  /** Receives the processes that a command left in the background. */
  readonly onLinger?: (left: Command.Left) => void
}

/** @category models @since 0.1.0 */
export interface Options {
  /** Runs commands. Default `Command.run`. */
  readonly run?: Command.Runner
  /** Names of more variables of the host that commands see. */
  readonly passEnv?: ReadonlyArray<string>
  /** Milliseconds between SIGTERM and SIGKILL. Default 2,000. */
  readonly graceMs?: number
  /**
   * Milliseconds that background processes of a command may run after the command has ended; 0 ends them with it.
   * Default 10,000.
   */
  readonly lingerMs?: number
  /** The model of prompts and agents that name none. Default: the agent's. */
  readonly model?: string
  /** What requests may reach. Default: public servers, by `https`. */
  readonly http?: HttpGuard.Options
  /** The only URLs that requests go to, `*` standing for any characters. Default: whatever `http` lets through. */
  readonly allowedHttpHookUrls?: ReadonlyArray<string>
  /**
   * The only variables that headers may name, each handler's `allowedEnvVars` notwithstanding. Default: any that the
   * handler allows itself.
   */
  readonly httpHookAllowedEnvVars?: ReadonlyArray<string>
}

/** Runs tasks. It never fails: an error is an exit code and a text. @category models @since 0.1.0 */
export type Runners = (task: Task, ctx: HookContext) => Effect.Effect<Command.Finished>

/**
 * Makes the runners.
 *
 * @example
 * ```ts
 * import type { HookContext } from "@belay/core/HookContext"
 * import * as Runners from "@belay/hook-files/Runners"
 *
 * const run = Runners.make({ passEnv: ["CI"], allowedHttpHookUrls: ["https://hooks.example.com/*"] })
 * const look = (ctx: HookContext) => run({ work: { type: "command", command: "./check.sh" }, input: { a: 1 }, cwd: ctx.cwd, timeoutMs: 5_000 }, ctx)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Runners => {
  const { graceMs = 2_000, lingerMs = 10_000, passEnv = [], run = Command.run } = options
  const http = requests(options)
  return (task, ctx) => {
    const { cwd, env, input, maxOutput, onFirstLine, onLinger, timeoutMs, work } = task
    switch (work.type) {
      case "command":
        return run({
          ...(work.shell === "powershell" && work.args === undefined
            ? { command: "pwsh", args: ["-NoProfile", "-NonInteractive", "-Command", work.command] }
            : { command: work.command, ...(work.args === undefined ? {} : { args: work.args }) }),
          cwd,
          ...(maxOutput === undefined ? {} : { maxOutput }),
          input: `${JSON.stringify(input)}\n`,
          ...(env === undefined ? {} : { env }),
          passEnv,
          timeoutMs,
          graceMs,
          lingerMs,
          ...(onFirstLine === undefined ? {} : { onFirstLine }),
          ...(onLinger === undefined ? {} : { onLinger })
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

const modelOf = (work: PromptWork | AgentWork, options: Options): { readonly model?: string } => {
  const model = work.model ?? options.model
  return model === undefined ? {} : { model }
}

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
        ctx.warn(`hooks of type http connect directly, so that every address is checked: ${proxy} does not count`)
      }
      isWarned = true
      const { allowedEnvVars, headers, url } = work
      const client = Result.try(() => Http.clientFor(url, trusted, http))
      if (Result.isFailure(client)) {
        return Effect.succeed(
          failed(client.failure instanceof Error ? client.failure.message : "the options of http are wrong")
        )
      }
      return Http.run({
        url,
        ...(headers === undefined ? {} : { headers }),
        ...(allowedEnvVars === undefined ? {} : { allowedEnvVars }),
        body: input,
        timeoutMs,
        ...(allowedHttpHookUrls === undefined ? {} : { allowedUrls: allowedHttpHookUrls }),
        ...(httpHookAllowedEnvVars === undefined ? {} : { hostEnvVars: httpHookAllowedEnvVars })
      }, client.success)
    })
}

const failed = (stderr: string): Command.Finished => ({ ...broke(stderr), durationMs: 0 })
