/** The events of Strands as steps of a guarded session. */
import type { GivenCall } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { Decision } from "@belay/core/RunState"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import { decide } from "../decide.ts"
import { type Injected, injectedText, withInjected } from "../injected.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Place } from "../place.ts"
import { notOpen, questionText } from "../questionText.ts"
import { unseenBeside } from "../unseen.ts"

/** The parts of the SDK that the guard uses. The module is given, so that it is the one of the program. */
export interface Sdk {
  readonly BeforeModelCallEvent: unknown
  readonly BeforeToolCallEvent: unknown
  readonly AfterToolCallEvent: unknown
  // oxlint-disable-next-line typescript/no-explicit-any -- the classes differ from version to version
  readonly TextBlock: new(text: string) => any
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly ToolResultBlock: new(data: any) => any
}

interface AnyAgent {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: Array<unknown> }>
  readonly cancelSignal?: AbortSignal
}

interface BeforeModel {
  readonly agent: AnyAgent
  cancel: boolean | string
}

interface BeforeTool {
  readonly agent: AnyAgent
  readonly tool?: unknown
  /** The tool that runs in place of `tool`. */
  selectedTool?: unknown
  toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown }
  cancel: boolean | string
  readonly interrupt: (params: { readonly name: string; readonly reason?: unknown }) => unknown
}

interface AfterTool {
  readonly toolUse: BeforeTool["toolUse"]
  /** What the tool has thrown. Other plugins and the stream of the agent read it. */
  error?: Error
  result: { readonly status: string; readonly content: ReadonlyArray<unknown> }
}

/** The agents with the plugin of a guard. */
export const guardedAgents = new WeakSet<object>()

/** Whether another agent is behind a tool, and no guard is in that one. */
const isUnguardedAgent = async (tool: unknown): Promise<boolean> => {
  const { agent } = Object(tool) as { readonly agent?: unknown }
  if (typeof agent !== "object" || agent === null || !("addHook" in agent)) return false
  // The plugins of an agent begin when it first runs.
  const { initialize } = agent as { readonly initialize?: () => Promise<void> }
  if (!guardedAgents.has(agent)) await initialize?.call(agent)
  return !guardedAgents.has(agent)
}

/** A class, because it knows which message has begun the turn, and which calls did not run. */
export class Events {
  private readonly place: Place
  private readonly sdk: Sdk
  private begunWith: unknown = undefined
  private ended: string | undefined = undefined
  /** What hooks have injected, by the call in whose result the model reads it. */
  private readonly context = new Map<string, ReadonlyArray<string>>()
  /** What hooks have injected with the questions that are open, by call. */
  private readonly asked = new Map<string, Injected>()

  constructor(place: Place, sdk: Sdk) {
    this.place = place
    this.sdk = sdk
  }

  /** A message of the user begins a turn. */
  async beforeModel(event: BeforeModel): Promise<void> {
    const { messages } = event.agent
    const last = messages.at(-1)
    const text = textOf(last?.content ?? [])
    const isMessage = last?.role === "user" && (text !== "" || !last.content.some(isResult))
    if (isMessage && last !== this.begunWith) {
      const verdict = await this.place.session.userMessage(unseenBeside(text))
      this.ended = undefined
      if (verdict.type === "respond") this.ended = verdict.text
      else if (verdict.type !== "allow") this.ended = verdict.reason
      else if (verdict.input.message !== text) this.ended = "a hook changed the message, which this SDK cannot pass on"
      // The model reads the message from here.
      else if (verdict.context.length > 0) last.content.push(new this.sdk.TextBlock(injectedText(verdict.context)))
      if (this.ended === undefined) this.begunWith = last
    }
    if (this.ended !== undefined) event.cancel = this.ended
  }

  /** A tool is about to run. */
  async beforeTool(event: BeforeTool): Promise<void> {
    const { agent, toolUse } = event
    const { input, name, toolUseId: id } = toolUse
    const { guard: { allowUnguarded }, session } = this.place
    // Some models use an id again.
    this.place.denied.delete(id)
    if (!allowUnguarded.includes(name) && await isUnguardedAgent(event.tool)) {
      this.place.denied.add(id)
      event.cancel = `not run: the agent behind ${name} is not guarded: give it the plugin of a conversation of its own`
      return
    }
    const call: GivenCall = { id, name, args: jsonOf(input ?? {}), tool: await this.place.toolOf(name) }
    const isOpen = (await session.pending()).some(({ callId }) => callId === id)
    let verdict = await session.toolCall(call)
    if (verdict.type === "ask") {
      // The first time, this ends the run. With an answer, the event happens again, and hooks do not run again.
      const injected = isOpen ? [...this.asked.get(id) ?? [], ...verdict.context] : verdict.context
      this.asked.set(id, injected)
      const answer = event.interrupt({ name: `guard-${id}`, reason: questionText(verdict.question, call.args) })
      this.asked.delete(id)
      verdict = await decide(
        session,
        id,
        isOpen ? { ...decisionOf(answer), ...this.place.by } : { type: "deny", reason: notOpen(this.place, call) },
        injected
      )
    }
    // The turn may have been cancelled while the guard was deciding.
    const refused = agent.cancelSignal?.aborted === true ? "the turn was cancelled" : whyNot(verdict)
    if (refused !== undefined) {
      this.place.denied.add(id)
      event.cancel = withInjected(refused, verdict.context)
      if (verdict.type === "stop") this.ended = verdict.reason
      return
    }
    if (verdict.type !== "allow") return
    if (verdict.context.length > 0) this.context.set(id, [injectedText(verdict.context)])
    if (!sameJson(verdict.args, call.args ?? {})) event.toolUse = { ...toolUse, input: verdict.args }
    if (this.place.acts("postToolCall")) event.selectedTool = silent(event.selectedTool ?? event.tool)
  }

  /** A tool has run. */
  async afterTool(event: AfterTool): Promise<void> {
    const { result, toolUse: { name, toolUseId: id } } = event
    if (this.place.denied.has(id)) return
    const text = textOf(result.content)
    const before = result.content.length > 0 && result.content.every(isText) ? text : jsonOf(result.content)
    const wasError = result.status === "error"
    const error = typeof before === "string" ? before : JSON.stringify(before)
    const verdict = await this.place.session.toolResult(
      { id, name },
      wasError ? { ok: false, error } : { ok: true, output: before }
    )
    if (verdict.type === "stop") {
      this.ended = verdict.reason
      this.write(event, "error", verdict.reason)
      return
    }
    const { context, result: now } = verdict
    const more = [...this.context.get(id) ?? [], ...context.map((one) => one.text)]
    this.context.delete(id)
    const shown: Json = now.ok ? now.output : now.error
    const isSame = now.ok !== wasError && sameJson(shown, wasError ? error : before)
    if (isSame && more.length === 0) return
    const said = typeof shown === "string" ? shown : JSON.stringify(shown)
    this.write(event, now.ok ? "success" : "error", [said, ...more].join("\n\n"), isSame)
  }

  /** Replaces the result of a tool, and the error in which the tool has said it. */
  private write(event: AfterTool, status: string, text: string, isSameError = false): void {
    const { toolUse: { toolUseId } } = event
    event.result = new this.sdk.ToolResultBlock({ toolUseId, status, content: [new this.sdk.TextBlock(text)] })
    if (event.error !== undefined && !isSameError) event.error = new Error(text)
  }
}

type Stream = (...given: ReadonlyArray<unknown>) => AsyncIterator<unknown, unknown>

/** Returns a tool without the pieces that it shows before its result: hooks read the whole of it. */
const silent = (tool: unknown): unknown => {
  const { stream } = Object(tool) as { readonly stream?: Stream }
  if (typeof tool !== "object" || tool === null || typeof stream !== "function") return tool
  const quiet = async function*(...given: ReadonlyArray<unknown>): AsyncGenerator<never, unknown> {
    const pieces = stream.apply(tool, [...given])
    for (;;) {
      const { done, value } = await pieces.next()
      if (done === true) return value
    }
  }
  return new Proxy(tool, {
    get: (target, name) => {
      if (name === "stream") return quiet
      // The classes of the SDK have private fields.
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) as unknown : value
    }
  })
}

const whyNot = (verdict: ToolCallVerdict): string | undefined => {
  switch (verdict.type) {
    case "allow":
      return undefined
    case "ask":
      return `not run: more people have to approve: ${verdict.question.reason}`
    case "respond":
      return `not run, and this is its result: ${
        typeof verdict.result === "string" ? verdict.result : JSON.stringify(verdict.result)
      }`
    default:
      return verdict.reason
  }
}

/** Reads the answer to an interrupt. What is not an approval is a refusal. */
const decisionOf = (answer: unknown): Decision => {
  const { args, message, type } = Object(answer) as { readonly [key: string]: unknown }
  if (answer === true || type === "approve") return { type: "approve" }
  if (type === "edit") return { type: "edit", args: jsonOf(args) }
  return { type: "deny", reason: typeof message === "string" ? message : "a person refused the call" }
}

const isText = (block: unknown): boolean => Object(block).type === "textBlock"
const isResult = (block: unknown): boolean => Object(block).type === "toolResultBlock"

const textOf = (content: ReadonlyArray<unknown>): string =>
  content.flatMap((block) => {
    const { text, type } = Object(block) as { readonly [key: string]: unknown }
    return type === "textBlock" && typeof text === "string" ? [text] : []
  }).join("\n")
