/** What a store of sessions tells when two processes write the same session. The laws of stores are in `@belay/testing`. */
import { assert, describe, it } from "@effect/vitest"
import * as SessionStore from "../../src/port/SessionStore.ts"

describe("a conflict of two processes", () => {
  it("says from which revision this process continues, and which one the store has", () => {
    const { expected, found, message, sessionId } = SessionStore.conflict("s", 4, 7)
    assert.deepStrictEqual({ expected, found, sessionId }, { expected: 3, found: 7, sessionId: "s" })
    assert.strictEqual(
      message,
      "session s was changed by another process: this process continues from revision 3, the store is at 7. " +
        "Load it again"
    )
  })
})
