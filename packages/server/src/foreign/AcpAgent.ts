/**
 * Foreign agents as agents of Belay, over ACP, the Agent Client Protocol: Claude Code, Codex, Gemini CLI, pi and
 * others. Needs the package `@agentclientprotocol/sdk`.
 *
 * @since 0.2.0
 */
import type { ContentBlock } from "@agentclientprotocol/sdk"
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentCore } from "@belay/core/AgentCore"
import { type Agent, createAgent } from "@belay/core/createAgent"
import type { AnyTool, ToolContext } from "@belay/core/defineTool"
import { canonical, type JsonObject } from "@belay/core/Json"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink, LlmProvider } from "@belay/core/LlmProvider"
import { type ContentPart, type Message, text as textOf } from "@belay/core/Message"
import { checkKinds, checkOptions, oneOf, type OptionKinds, within } from "@belay/core/OptionCheck"
import { NotFound, type ProviderError } from "@belay/core/ProviderError"
import * as ToolLoop from "@belay/core/ToolLoop"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { toolNames } from "./internal/actions.ts"
import { Conversation } from "./internal/conversation.ts"
import type { Next, Start } from "./internal/conversationParts.ts"
import { readText, runCommand, writeText } from "./internal/machine.ts"

/** Options of a foreign agent. @category models @since 0.2.0 */
export interface Options {
  /** The command that speaks ACP over standard input and output, such as `claude-agent-acp`. */
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** More variables, in addition to a few that every program gets, such as `HOME` and `PATH`. */
  readonly env?: { readonly [name: string]: string }
  /** The folder in which the agent works. Default: the folder of the process. */
  readonly cwd?: string
  /** The name in events and reports. Default: the command. */
  readonly name?: string
  /**
   * Whether the agent may read or write files through Belay, inside `cwd`, as calls of the tools `Read` and `Write`.
   * Default `none`: the agent uses its own ways, and asks for permission where it does.
   */
  readonly files?: "none" | "read" | "write"
  /** Whether the agent may run commands through Belay, as calls of the tool `Bash`. Default `false`. */
  readonly terminal?: boolean
  /** Milliseconds in which the agent must be ready. Default 60,000. */
  readonly startTimeoutMs?: number
  /** More options of the agent, such as `hooks`, `policy`, `limits`, `store` and `onAsk`. */
  readonly agent?: Omit<AgentConfig, "provider" | "core" | "tools" | "name" | "cwd" | "output" | "instructions">
}

const optionKinds: OptionKinds<Options> = {
  command: "text",
  args: "textList",
  env: "object",
  cwd: "text",
  name: "text",
  files: "text",
  terminal: "flag",
  startTimeoutMs: "number",
  agent: "object"
}

/**
 * Makes an agent of a program that speaks ACP. Use it like any agent, and with `agentTool` as a sub-agent. Nothing
 * starts before its first turn; each session has a process, which ends with the session.
 *
 * What the agent asks permission for becomes a call of a tool: `Bash`, `Edit`, `Read`, `Delete`, `Move`, `Grep`,
 * `WebFetch` and `Other`. Policy, hooks and people decide it like other calls, with the hooks of the whole tree. The
 * agent gets permission once, never for good. If a hook changes the arguments, the permission is refused, because the
 * agent would not use them. Requests for files and commands are calls too, and their results pass the hooks.
 *
 * What a program does without asking cannot be seen. Give it a mode in which it asks, and a sandbox if it is not yours.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { agentTool } from "@belay/core/agentTool"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as AcpAgent from "@belay/server/AcpAgent"
 *
 * export const lead = (provider: LlmProvider) =>
 *   createAgent({
 *     provider,
 *     tools: [agentTool({
 *       name: "code",
 *       description: "Changes the code of the project",
 *       agent: AcpAgent.make({ command: "claude-agent-acp", files: "write", terminal: true })
 *     })]
 *   })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: Options): Agent => {
  Result.getOrThrow(checkKinds("AcpAgent", options, optionKinds, ["command"]))
  const { agent = {}, args = [], command, cwd = process.cwd(), env = {}, files = "none", name = command } = options
  const { startTimeoutMs = 60_000, terminal = false } = options
  Result.getOrThrow(checkOptions(
    "AcpAgent",
    oneOf("files", files, ["none", "read", "write"]),
    within("startTimeoutMs", startTimeoutMs, 1)
  ))
  const foreign = new Foreign({ command, args, env, cwd, startTimeoutMs, files, terminal }, name)
  return createAgent({
    ...agent,
    name,
    cwd,
    provider: foreign.provider,
    core: foreign.core,
    tools: foreign.tools
  })
}

/** The session for which a model is called. */
const CurrentSession = Context.Reference<string>("@belay/server/foreign/CurrentSession", { defaultValue: () => "" })

const loop = ToolLoop.make()

/** A class, because its parts share the conversations. */
class Foreign {
  private readonly start: Start
  private readonly name: string
  private readonly conversations = new Map<string, Conversation>()

  constructor(start: Start, name: string) {
    this.start = start
    this.name = name
  }

  /** The agent stands in for the model: its answer is a text, or calls that it asks for. */
  get provider(): LlmProvider {
    const call = (request: LlmRequest, sink?: DeltaSink) =>
      Effect.flatMap(CurrentSession, (session) =>
        Effect.onInterrupt(
          Effect.tryPromise({
            try: () => this.complete(session, request, sink),
            // Not an error after which the runtime tries again: the agent may have done a part of its work.
            catch: (error): ProviderError =>
              new NotFound({
                provider: this.name,
                message: `${this.name}: ${error instanceof Error ? error.message : JSON.stringify(error)}`
              })
          }),
          () => Effect.sync(() => this.close(session))
        ))
    return { name: this.name, model: this.name, complete: (request) => call(request), stream: call }
  }

  get core(): AgentCore {
    return {
      coreType: "acp",
      runTurn: (input, ctx) =>
        loop.runTurn(input, ctx).pipe(
          Effect.provideService(CurrentSession, ctx.sessionId),
          Effect.onExit((exit) => Effect.sync(() => isWaiting(exit) ? undefined : this.close(ctx.sessionId)))
        ),
      shutdown: (session) => Effect.sync(() => this.close(session))
    }
  }

  get tools(): ReadonlyArray<AnyTool> {
    return [...new Set([...Object.values(toolNames), "Write"])].map((name) => ({
      name,
      description: `What ${this.name} asks for`,
      input: { type: "object" },
      execute: (args: JsonObject, ctx: ToolContext) => this.act(args, ctx)
    }))
  }

  private close(session: string): void {
    this.conversations.get(session)?.close()
    this.conversations.delete(session)
  }

  private async complete(session: string, { messages }: LlmRequest, sink?: DeltaSink): Promise<LlmResponse> {
    const results = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1)
    const known = this.conversations.get(session)
    const conversation = known?.isRunning === true ? known : new Conversation(this.start)
    conversation.onText = sink === undefined ? undefined : (text) => void sink({ type: "text", text })
    if (results.length > 0) {
      if (conversation !== known) {
        return Promise.reject(new Error("its process is gone, so the turn cannot go on: send the message again"))
      }
      for (const result of results) endCall(conversation, result)
    } else {
      const isNew = conversation !== known
      if (isNew) {
        this.conversations.set(session, conversation)
        await conversation.open()
      }
      conversation.prompt(promptOf(messages, isNew))
    }
    return responseOf(this.name, conversation, await conversation.next())
  }

  /** Runs a call that hooks and people have allowed. */
  private act(args: JsonObject, { callId, sessionId, signal }: ToolContext): Promise<unknown> {
    const waiting = this.conversations.get(sessionId)?.waiting.get(callId)
    const { cwd } = this.start
    switch (waiting?.kind) {
      case "read":
        return this.start.files === "none" ? notOffered("files") : readText(cwd, args)
      case "write":
        return this.start.files === "write" ? writeText(cwd, args) : notOffered("files")
      case "terminal":
        return this.start.terminal ? runCommand(cwd, args, signal) : notOffered("terminal")
      case "permission":
        return canonical(args) === canonical(waiting.args)
          ? Promise.resolve("allowed")
          : fail("the arguments were changed, and this agent would use its own, so the permission is refused")
      case undefined:
        return fail("the agent that asked for this is gone")
    }
  }
}

/** Whether the turn can go on later, with the same process. */
const isWaiting = (exit: Exit.Exit<unknown, unknown>): boolean => {
  if (Exit.isSuccess(exit)) return true
  const error = Cause.squash(exit.cause)
  const end = typeof error === "object" && error !== null && "end" in error ? error.end : undefined
  return typeof end === "object" && end !== null && "type" in end && end.type !== "aborted"
}

const endCall = (conversation: Conversation, message: Message): void => {
  if (message.role !== "tool") return
  const waiting = conversation.waiting.get(message.toolCallId)
  conversation.waiting.delete(message.toolCallId)
  waiting?.end({ ok: message.isError !== true, output: message.content })
}

/** The new messages. An agent that has just started reads the conversation before them. */
const promptOf = (messages: ReadonlyArray<Message>, isNew: boolean): Array<ContentBlock> => {
  const last = messages.findLastIndex(({ role }) => role === "assistant") + 1
  const before = isNew ? messages.slice(0, last).filter(({ role }) => role !== "tool") : []
  const said = before.map((message) => `${message.role}: ${textOf(message)}`).join("\n\n")
  const intro = said === "" ? [] : [`The conversation so far:\n\n${said}\n\nThe new message:`]
  const news = messages.slice(last)
  return [
    ...intro.map((text) => ({ type: "text" as const, text })),
    ...news.map((message) => ({ type: "text" as const, text: textOf(message) })),
    ...news.flatMap((message) =>
      message.role !== "user" || typeof message.content === "string" ? [] : message.content.flatMap(imageOf)
    )
  ]
}

const imageOf = (part: ContentPart): ReadonlyArray<ContentBlock> => {
  const data = part.type === "file" ? /^data:[^,]*;base64,(.*)$/s.exec(part.url)?.[1] : undefined
  return data !== undefined && part.type === "file" && part.mediaType.startsWith("image/")
    ? [{ type: "image", data, mimeType: part.mediaType }]
    : []
}

const responseOf = (model: string, conversation: Conversation, next: Next): LlmResponse => {
  const usage = conversation.spent()
  const { text } = next
  const toolCalls = next.type === "calls" ? next.calls : []
  const finishReason = next.type === "calls"
    ? "tool-calls"
    : next.stopReason === "max_tokens"
    ? "length"
    : next.stopReason === "refusal"
    ? "content-filter"
    : "stop"
  return { text, toolCalls, model, finishReason, ...(usage === undefined ? {} : { usage }) }
}

const notOffered = (option: string): Promise<never> =>
  fail(`this agent was not given \`${option}\`, so it cannot do this through Belay`)

const fail = (message: string): Promise<never> => Promise.reject(new Error(message))
