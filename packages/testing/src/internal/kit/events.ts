/** Creates complete events for every point from the fields that a test gives. */
import type { HookPointName, In } from "@belay/core/HookPoint"
import { names } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message, ToolCall } from "@belay/core/Message"
import * as ProviderError from "@belay/core/ProviderError"
import { type PreToolCallEvent, success, type ToolMeta, unrestricted } from "@belay/core/Tool"
import type { TurnInput, TurnOutput } from "@belay/core/Turn"

/** The methods that wrap an act. */
export const wrappers = ["wrapLlmCall", "wrapToolCall"] as const

/** A point or a wrapper. */
export type Point = HookPointName | (typeof wrappers)[number]

/** All points and wrappers. */
export const points: ReadonlyArray<Point> = [...names, ...wrappers]

/** The event of a point, or the input of a wrapper. */
export type EventAt<P extends Point> = P extends HookPointName ? In<P>
  : P extends "wrapLlmCall" ? LlmRequest
  : PreToolCallEvent

type Parts =
  | LlmRequest
  | LlmResponse
  | TurnInput
  | TurnOutput
  | ToolCall
  | ToolMeta
  | In<"preDelegation">
  | In<"preCompaction">["budget"]

/**
 * Any part of the event. Missing fields are filled in, also inside `request`, `response`, `input`, `output`, `call`,
 * `tool`, `delegation` and `budget`.
 */
export type Given<P extends Point> = EventAt<P> extends infer Event
  ? Event extends unknown ? { readonly [K in keyof Event]?: Event[K] extends Parts ? Partial<Event[K]> : Event[K] }
  : never
  : never

const usage = { inputTokens: 10, outputTokens: 5 }
const input: TurnInput = { message: "hello" }
const messages: ReadonlyArray<Message> = [{ role: "user", content: "hello" }]
const request: LlmRequest = { messages, tools: [], parameters: {} }
const call: ToolCall = { id: "call-1", name: "tool-1", args: {} }
const tool: ToolMeta = { name: "tool-1", description: "A tool.", inputSchema: { type: "object" } }
const budget = { usedTokens: 800, windowTokens: 1000 }
const error = new ProviderError.Overloaded({ provider: "provider-1", message: "out of capacity" })
const delegation: In<"preDelegation"> = { agent: "worker", type: "delegate", message: "work" }

const defaults: { readonly [P in Point]: EventAt<P> } = {
  onSessionStart: { sessionId: "session-1", source: "startup", context: [] },
  onSessionEnd: { sessionId: "session-1", reason: "done" },
  preTurn: input,
  postTurn: { input, output: { text: "hi", finishReason: "stop", usage, steps: 1, toolCalls: 0 }, executed: true },
  onTurnError: { input, error },
  preLlmCall: request,
  onLlmDelta: { type: "text", text: "hi" },
  postLlmCall: {
    request,
    response: { model: "model-1", text: "hi", toolCalls: [], finishReason: "stop" },
    provider: "provider-1",
    attempt: 1,
    executed: true
  },
  onLlmError: {
    error,
    attempt: 1,
    provider: "provider-1",
    providers: ["provider-1"],
    request,
    decision: { type: "fail" }
  },
  preToolCall: { ...call, tool, grant: unrestricted },
  postToolCall: { call, tool, result: success("done"), elapsedMs: 1, executed: true },
  onPermission: { call, tool, reason: "the policy asks", decision: { type: "ask", reason: "the policy asks" } },
  onToolDenied: { call, by: "policy", reason: "not allowed" },
  postStep: { messages: [...messages, { role: "assistant", content: "hi" }], usage, budget },
  preStop: { text: "hi", followUps: 0, messages: [...messages, { role: "assistant", content: "hi" }], usage, budget },
  preDelegation: delegation,
  postDelegation: { delegation, result: { text: "done" }, executed: true },
  preCompaction: { messages, budget, trigger: "threshold", hint: {} },
  postCompaction: { removedCount: 4, summary: "they said hello", budget, trigger: "threshold" },
  onBudget: { level: "warn", kind: "tokens", scope: "window", used: 80, limit: 100 },
  onSignal: { name: "file-changed", payload: {}, blockable: true },
  wrapLlmCall: request,
  wrapToolCall: { ...call, tool, grant: unrestricted }
}

/** Completes an event. */
export const fill = <P extends Point>(point: P, given: Given<P> = {} as Given<P>): EventAt<P> => {
  // An event is an object, whatever its point.
  const parts = given as { readonly [key: string]: unknown }
  // An event is an object, whatever its point.
  const base = baseOf(point, parts) as { readonly [key: string]: unknown }
  const event: Record<string, unknown> = { ...base }
  for (const key of Object.keys(parts)) {
    const [before, value] = [base[key], parts[key]]
    if (value === undefined) delete event[key]
    else event[key] = mergedFields.has(key) && isRecord(before) && isRecord(value) ? { ...before, ...value } : value
  }
  // The name of the call and of the tool are the same.
  const called = "call" in event ? event["call"] : event
  if ("tool" in base && isRecord(called) && !isNamed(parts["tool"])) {
    // The event of this point has a tool.
    event["tool"] = { ...event["tool"] as ToolMeta, name: called["name"] }
  }
  // The fields are those of the point.
  return event as EventAt<P>
}

const mergedFields: ReadonlySet<string> = new Set([
  "request",
  "response",
  "input",
  "output",
  "call",
  "tool",
  "delegation",
  "budget"
])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNamed = (value: unknown): boolean => isRecord(value) && "name" in value

const baseOf = (point: Point, { type }: { readonly type?: unknown }): object => {
  if (point !== "onLlmDelta" || type !== "tool-call") return defaults[point]
  return { type, id: "call-1", name: "tool-1", argsText: "{}" } satisfies LlmDelta
}

/** Texts that break careless hooks. */
const texts: ReadonlyArray<string> = [
  "",
  " \n\t",
  "__proto__",
  "constructor",
  "\u0000\u001b[31m\u202e\uFEFF",
  "half \ud83d",
  "👩‍👩‍👧‍👦 e\u0301 שלום",
  "$& $1 ${x} %s {{x}} <script> ' OR 1=1; --",
  "<artifact:../../x> ../../../etc/passwd C:\\x",
  `${"a".repeat(30_000)}!`,
  "word ".repeat(40_000)
]

const nest = (depth: number): Json => depth === 0 ? "deep" : { in: nest(depth - 1) }

/** JSON values that break careless hooks. */
const values: ReadonlyArray<Json> = [
  null,
  "text",
  -0,
  1e308,
  [],
  JSON.parse(
    "{\"__proto__\":{\"polluted\":true},\"constructor\":{\"prototype\":1},\"toString\":null," +
      "\"hasOwnProperty\":0,\"length\":-1}"
  ) as Json,
  nest(60),
  Array.from({ length: 5000 }, (_, index) => index),
  Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, "v"])),
  { path: "x".repeat(100_000), url: "http://[::1]:99999/%00" }
]

/** For every point: events that an attacker, a confused model or a broken tool can cause. */
const hostile: { readonly [P in Point]: (text: string, value: Json) => ReadonlyArray<Given<P>> } = {
  onSessionStart: (text) => [{ context: [{ role: "user", content: text }] }],
  onSessionEnd: () => [{ reason: "error" }, { reason: "abort" }],
  preTurn: (message, value) => [{ message, metadata: { value } }],
  postTurn: (text) => [{ input: { message: text }, output: { text } }],
  onTurnError: (
    message
  ) => [{ input: { message }, error: new ProviderError.Malformed({ provider: "provider-1", message }) }],
  preLlmCall: (text, value) => [
    { messages: [], instructions: text },
    {
      instructions: text,
      messages: [
        { role: "user", content: [{ type: "text", text }, { type: "file", mediaType: text, url: text }] },
        { role: "assistant", content: text, toolCalls: [{ id: "c", name: text, args: value }] },
        { role: "tool", toolCallId: "c", toolName: text, content: value }
      ]
    }
  ],
  onLlmDelta: (
    text
  ) => [
    { text },
    { type: "reasoning", text },
    // A delta of this type has exactly these fields.
    { type: "tool-call", name: text, argsText: text } as Given<"onLlmDelta">
  ],
  postLlmCall: (text, args) => [
    { response: { text, reasoning: text } },
    {
      response: {
        text: "",
        toolCalls: [{ id: text, name: text, args }, { id: "c2", name: "tool-1", args: null, malformed: text }],
        finishReason: "tool-calls"
      }
    }
  ],
  onLlmError: (message) => [
    { error: new ProviderError.RateLimited({ provider: "provider-1", message, retryAfterMs: 1e15 }), providers: [] },
    {
      error: new ProviderError.Malformed({ provider: "unheard-of", message, partial: {} }),
      provider: "unheard-of",
      attempt: 99
    }
  ],
  preToolCall: (name, args) => [{ name, args }, { args }],
  postToolCall: (text, value) => [
    { call: { name: text, args: value }, result: { ok: true, output: value } },
    { result: { ok: true, output: text } },
    { result: { ok: false, error: text }, executed: false }
  ],
  onPermission: (text, args) => [{ call: { name: text, args }, reason: text }],
  onToolDenied: (text, args) => [{ call: { name: text, args }, by: text, reason: text }],
  postStep: (text) => [{ messages: [] }, { messages: [{ role: "user", content: text }] }],
  preStop: (text) => [{ text, followUps: 8 }],
  preDelegation: (text, value) => [{ agent: text, message: text, instructions: text, metadata: { value } }],
  postDelegation: (text) => [{ delegation: { agent: text }, result: { text } }],
  preCompaction: (
    text
  ) => [{ messages: [] }, {
    messages: [{ role: "user", content: text }],
    trigger: "overflow",
    budget: { usedTokens: 0, windowTokens: 0 }
  }],
  postCompaction: (summary) => [{ summary, removedCount: 0 }],
  onBudget: () => [{ level: "exceeded", used: 1e300, limit: 0 }],
  onSignal: (name, payload) => [{ name, payload }, { blockable: false, payload }],
  wrapLlmCall: (text) => [{ messages: [{ role: "user", content: text }] }],
  wrapToolCall: (name, args) => [{ name, args }]
}

/** Returns hostile events for a point. */
export const hostileEvents = <P extends Point>(point: P): ReadonlyArray<EventAt<P>> =>
  Array.from({ length: Math.max(texts.length, values.length) }, (_, index) => index)
    .flatMap((index) => hostile[point](texts[index % texts.length]!, values[index % values.length]!))
    // The table has events of each point.
    .map((given) => fill(point, given as Given<P>))
