/** Sessions and commits for tests of stores. */
import type { RunState } from "@belay/core/RunState"
import type { Commit } from "@belay/core/SessionStore"

/** A session with this many messages. */
export const stateOf = (revision: number, count: number, sessionId = "s"): RunState => ({
  version: 3,
  sessionId,
  revision,
  turnNumber: 1,
  stepNumber: 1,
  coreType: "tool-loop",
  input: { message: "go" },
  phase: "ended",
  messages: Array.from({ length: count }, (_, index) => ({ role: "user", content: `m${index}` })),
  calls: [],
  injections: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
  hookState: {}
})

/** A commit of the messages from `from` on. */
export const commitOf = (whole: RunState, from = 0): Commit => {
  const { messages, ...state } = whole
  return {
    sessionId: whole.sessionId,
    revision: whole.revision,
    from,
    messages: messages.slice(from),
    state,
    records: [],
    snapshot: () => whole
  }
}
