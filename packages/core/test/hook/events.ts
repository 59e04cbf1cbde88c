/**
 * For every point: an event that carries a text, the value a change carries, and the text read back. Written by hand,
 * not from the table.
 */
import { Malformed } from "../../src/data/ProviderError.ts"
import type { HookPointName } from "../../src/hook/HookPoint.ts"

interface Shape {
  readonly event: (text: string) => object
  readonly value?: (text: string) => unknown
  readonly read?: (event: never) => string
}

const usage = { inputTokens: 1, outputTokens: 1 }
const call = { id: "call-1", name: "deploy", args: {} }
const tool = { name: "deploy", description: "Deploys.", inputSchema: { type: "object" } }
const input = { message: "hi" }
const error = new Malformed({ provider: "p", message: "cut" })
const output = (text: string) => ({ text, finishReason: "stop", usage, steps: 1, toolCalls: 0 })
const messages = (text: string) => [{ role: "user", content: text }]
const request = (text: string) => ({ messages: messages(text), tools: [], parameters: {} })
const response = (text: string) => ({ model: "m", text, toolCalls: [], finishReason: "stop" })
const budget = { usedTokens: 90, windowTokens: 100 }
const fixed = (event: () => object): Shape => ({ event })
/** The event is the value. */
const whole = (event: (text: string) => object, read: (event: never) => string): Shape => ({
  event,
  value: event,
  read
})

type Messages = ReadonlyArray<{ readonly content: string }>

const shapes: { readonly [P in HookPointName]: Shape } = {
  onSessionStart: whole(
    (text) => ({ sessionId: "s", source: "startup", context: messages(text) }),
    (event: { context: Messages }) => event.context[0]!.content
  ),
  onSessionEnd: fixed(() => ({ sessionId: "s", reason: "done" })),
  preTurn: whole((message) => ({ message }), (event: { message: string }) => event.message),
  postTurn: {
    event: (text) => ({ input, output: output(text), executed: true }),
    value: output,
    read: (event: { output: { text: string } }) => event.output.text
  },
  onTurnError: {
    event: (text) => text === "" ? { input, error } : { input, error, answer: { text } },
    value: (text) => ({ text }),
    read: (event: { answer?: { text: string } }) => event.answer?.text ?? ""
  },
  preLlmCall: whole(request, (event: { messages: Messages }) => event.messages[0]!.content),
  onLlmDelta: whole((text) => ({ type: "text", text }), (event: { text: string }) => event.text),
  postLlmCall: {
    event: (text) => ({ request: request("q"), response: response(text), provider: "p", attempt: 1, executed: true }),
    value: response,
    read: (event: { response: { text: string } }) => event.response.text
  },
  onLlmError: {
    event: (model) => ({
      error,
      attempt: 1,
      provider: "p",
      providers: ["p"],
      request: request("q"),
      decision: { type: "fallback", model }
    }),
    value: (model) => ({ type: "fallback", model }),
    read: (event: { decision: { model: string } }) => event.decision.model
  },
  preToolCall: {
    event: (text) => ({ ...call, args: { text }, tool, grant: { sandbox: "none" } }),
    value: (text) => ({ ...call, args: { text } }),
    read: (event: { args: { text: string } }) => event.args.text
  },
  postToolCall: {
    event: (text) => ({ call, tool, result: { ok: true, output: text }, elapsedMs: 5, executed: true }),
    value: (text) => ({ ok: true, output: text }),
    read: (event: { result: { output: string } }) => event.result.output
  },
  onPermission: {
    event: (reason) => ({ call, tool, reason: "policy says ask", decision: { type: "ask", reason } }),
    value: (reason) => ({ type: "ask", reason }),
    read: (event: { decision: { reason: string } }) => event.decision.reason
  },
  onToolDenied: fixed(() => ({ call, by: "policy", reason: "no" })),
  postStep: {
    event: (text) => ({ messages: messages(text), usage, budget }),
    value: messages,
    read: (event: { messages: Messages }) => event.messages[0]!.content
  },
  preStop: {
    event: (text) => ({ text: "done", followUps: 0, messages: messages(text), usage, budget }),
    value: messages,
    read: (event: { messages: Messages }) => event.messages[0]!.content
  },
  preDelegation: whole(
    (message) => ({ agent: "helper", type: "delegate", message }),
    (event: { message: string }) => event.message
  ),
  postDelegation: {
    event: (text) => ({
      delegation: { agent: "helper", type: "delegate", message: "do" },
      result: { text },
      executed: true
    }),
    value: (text) => ({ text }),
    read: (event: { result: { text: string } }) => event.result.text
  },
  preCompaction: {
    event: (instructions) => ({ messages: messages("m"), budget, trigger: "threshold", hint: { instructions } }),
    value: (instructions) => ({ instructions }),
    read: (event: { hint: { instructions: string } }) => event.hint.instructions
  },
  postCompaction: fixed(() => ({ removedCount: 2, summary: "s", budget })),
  onBudget: fixed(() => ({ level: "warn", kind: "tokens", scope: "window", used: 80, limit: 100 })),
  onSignal: fixed(() => ({ name: "file-changed", payload: {}, blockable: true }))
}

/** Every point of SPEC section 3, in its order. */
export const points = Object.keys(shapes) as ReadonlyArray<HookPointName>

/** An event at a point that carries `text`, where the point carries a value at all. */
export const eventAt = (point: HookPointName, text: string): object => shapes[point].event(text)

/** What Transform and Replace carry. */
export const valueAt = (point: HookPointName, text: string): unknown => shapes[point].value?.(text)

/** The text an event carries; nothing where it cannot be changed. */
export const readAt = (point: HookPointName, event: unknown): string => shapes[point].read?.(event as never) ?? ""

/** Whether a change of the value is seen in the event. */
export const carries = (point: HookPointName): boolean => shapes[point].read !== undefined

/** What Respond carries. */
export const outputAt = (point: HookPointName, text: string): unknown =>
  point === "preToolCall"
    ? text
    : point === "preLlmCall"
    ? response(text)
    : { text, messages: messages(text), summary: text }
