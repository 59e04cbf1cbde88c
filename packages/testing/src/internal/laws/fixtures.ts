/** States and steps for tests of stores. */
import type { Message } from "@belay/core/Message"
import * as RunState from "@belay/core/RunState"
import type { Commit } from "@belay/core/SessionStore"

/** A state after one turn. */
export const state = (more: Partial<RunState.RunState> = {}): RunState.RunState => ({
  version: RunState.version,
  sessionId: "session-1",
  revision: 1,
  turnNumber: 1,
  stepNumber: 1,
  coreType: "tool-loop",
  input: { message: "hello" },
  phase: "ended",
  messages: [{ role: "user", content: "hello" }, { role: "assistant", content: "hi" }],
  calls: [],
  injections: [],
  usage: { inputTokens: 12, outputTokens: 3 },
  counts: { llmCalls: 1, toolCalls: 0, followUps: 0, elapsedMs: 1.5 },
  hookState: { "cost/total": 0.25 },
  ...more
})

/** A state that waits for a person. */
export const suspendedState = (more: Partial<RunState.RunState> = {}): RunState.RunState => {
  const call = { id: "c1", name: "deploy", args: { to: "production" } }
  return state({
    phase: "tools",
    messages: [{ role: "user", content: "hello" }],
    open: { role: "assistant", content: "", toolCalls: [call] },
    calls: [{
      call,
      status: "asked",
      ask: {
        callId: "c1",
        tool: "deploy",
        args: call.args,
        by: "approval",
        reason: "production",
        fingerprint: "deploy:{}"
      }
    }],
    durable: { conversation: { plan: ["a", { b: null }] }, turn: {}, calls: { c1: { tries: 1 } } },
    ...more
  })
}

/** The step that writes a state whose first `from` messages are already stored. */
export const commitOf = (whole: RunState.RunState, from = 0, records: ReadonlyArray<unknown> = []): Commit => {
  const { messages, ...rest } = whole
  return {
    sessionId: whole.sessionId,
    revision: whole.revision,
    from,
    messages: messages.slice(from),
    state: rest,
    records,
    snapshot: () => whole
  }
}

/** Creates numbered user messages. */
export const talk = (count: number, first = 0): ReadonlyArray<Message> =>
  Array.from({ length: count }, (_, index) => ({ role: "user", content: `message ${first + index}` }))

/** Texts that careless stores change. */
export const texts: ReadonlyArray<string> = [
  "",
  " ",
  "\u0000 in \u0000 the middle",
  "línea\r\nnext\n\n\ttab",
  "emoji 👩‍👩‍👧‍👦 and flags 🇩🇪",
  "e\u0301 is not \u00e9",
  "שלום, שם ‮reversed",
  "\u2028 and \u2029 \uFEFF",
  "half of a pair \ud83d",
  "\udc00 the other half",
  "' OR 1=1; DROP TABLE sessions; --",
  "\\u0000 \\\" ${x} %s <script>",
  "{\"__proto__\":{\"polluted\":true}}"
]
