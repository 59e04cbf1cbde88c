import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of sessions and tests", () => {
  it("sessions: a conversation in a file is continued, forked, listed, exported and read back", async () => {
    const lines = await run("agent/sessions.ts", {}, { asProcess: true })
    assert.deepStrictEqual(lines.slice(-5), [
      "- count_notes: 3",
      "another agent goes on after 4 messages",
      "what-if: 6 messages, idle",
      "ada: 4 messages, idle",
      "6 lines exported, 4 messages read back"
    ])
  })

  it("test-a-hook: a hook is tested alone, in a chain, with the laws, and in an agent", async () => {
    assert.deepStrictEqual(await run("agent/test-a-hook.ts"), [
      "Reject, Continue",
      "Reject by no-production",
      "8 laws hold",
      "preTurn postLlmCall postTurn"
    ])
  })
})
