/** What clients receive for errors, by the kind of the error. */
import type { Outcome } from "@belay/server/Outcome"
import { assert, describe, it } from "vitest"
import { Refusal, refusalOf, refusalOfOutcome, statusOf, type Unanswered } from "../../../src/serve/internal/refusal.ts"

/** The status of a refusal, its text, and whether the error was given to `onError`. */
const told = (ask: (serve: { onError: () => void }) => Refusal): readonly [number, string, boolean] => {
  let heard = false
  const { kind, message } = ask({ onError: () => void (heard = true) })
  return [statusOf[kind], message, heard]
}

const later = "the server could not do this: try again later"

describe("a client", () => {
  it.for<readonly [string, object, readonly [number, string, boolean]]>([
    ["a full host", { _tag: "HostError", problem: "full", limit: "inAll" }, [
      429,
      "too many messages wait (inAll): send it again later",
      false
    ]],
    ["its own wrong input", { _tag: "HostError", problem: "wrong-input", message: "no" }, [400, "no", false]],
    ["an unknown id", { _tag: "HostError", problem: "unknown" }, [404, "there is nothing with this id", false]],
    ["a store that is away", { _tag: "HostError", problem: "store", message: "secret" }, [503, later, true]],
    ["another error of the host", { _tag: "HostError", problem: "closed", message: "secret" }, [500, later, true]],
    ["an error that only looks like one", { _tag: "Other", problem: "store", message: "secret" }, [500, later, true]],
    ["an error of another kind with the problem full", { problem: "full", limit: "x" }, [500, later, true]],
    ["a plain error", new Error("secret"), [500, later, true]]
  ])("receives for %s what it may know", ([, error, expected]) => {
    assert.deepEqual(told((serve) => refusalOf(serve, error)), expected)
  })

  it("receives the text of a refusal as it is", () => {
    const refusal = new Refusal("too-large", "too long")
    assert.strictEqual(refusalOf({ onError: () => assert.fail() }, refusal), refusal)
  })

  const failed = (_tag: string, message = "secret"): Outcome => ({ status: "failed", error: { _tag, message } })

  it.for<readonly [Outcome, number, string | undefined, boolean]>([
    [{ status: "cancelled" }, 409, "the message was cancelled", false],
    [{ status: "late", reason: "r" }, 409, "there is no open question with this id any more", false],
    [{ status: "dead", attempts: 3, reason: "secret" }, 500, "the agent could not answer this message", true],
    [failed("HookRejected", "not on Fridays"), 400, "not on Fridays", false],
    [failed("SessionError", "the agent has a tool named x"), 400, "the agent has a tool named x", false],
    [failed("SessionError"), 500, undefined, true],
    [failed("SnapshotError"), 409, undefined, true],
    [failed("ContentFiltered"), 400, undefined, true],
    [failed("ContextOverflow"), 400, undefined, true],
    [failed("Surprise"), 500, undefined, true]
  ])("receives for a turn that ended with %o nothing from the inside", ([outcome, status, text, heard]) => {
    const [actual, message, isHeard] = told((serve) => refusalOfOutcome(serve, outcome as Unanswered))
    assert.deepEqual([actual, isHeard], [status, heard])
    assert.notInclude(message, "secret")
    if (text !== undefined) assert.strictEqual(message, text)
  })
})
