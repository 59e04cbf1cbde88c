/** What clients receive for errors, by the kind of the error. */
import type { Outcome } from "@belay/server/Outcome"
import { assert, describe, it } from "vitest"
import {
  invalid,
  Refusal,
  refusalOf,
  refusalOfOutcome,
  statusOf,
  type Unanswered
} from "../../../src/serve/internal/refusal.ts"

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

  it("receives which field is wrong, when to try again, and not more than 500 characters of a reason", () => {
    const of = (error: object) => refusalOf({ onError: () => assert.fail() }, error)
    assert.strictEqual(of({ _tag: "HostError", problem: "full", limit: 1 }).retryAfter, 5)
    const long = `${"a".repeat(499)}bc`
    assert.strictEqual(of({ _tag: "HostError", problem: "wrong-input", message: long }).message, long.slice(0, 500))
    const named = failed("SessionError", "the agent has a tool named x") as Unanswered
    assert.strictEqual(refusalOfOutcome({ onError: () => assert.fail() }, named).field, "tools")
    assert.deepEqual([invalid("no", "f").kind, invalid("no", "f").field], ["invalid", "f"])
  })

  it("receives the status of HTTP that fits", () => {
    assert.deepEqual(statusOf, {
      invalid: 400,
      unauthorized: 401,
      forbidden: 403,
      "not-found": 404,
      method: 405,
      conflict: 409,
      "too-large": 413,
      busy: 429,
      filtered: 400,
      "too-long": 400,
      unavailable: 503,
      failed: 500
    })
  })

  const failed = (_tag: string, message = "secret"): Outcome => ({ status: "failed", error: { _tag, message } })

  it.for<readonly [Outcome, number, string, boolean]>([
    [{ status: "cancelled" }, 409, "the message was cancelled", false],
    [{ status: "late", reason: "r" }, 409, "there is no open question with this id any more", false],
    [{ status: "dead", attempts: 3, reason: "secret" }, 500, "the agent could not answer this message", true],
    [failed("HookRejected", "not on Fridays"), 400, "not on Fridays", false],
    [failed("SessionError", "the agent has a tool named x"), 400, "the agent has a tool named x", false],
    [failed("SessionError", "the message has 9 characters"), 413, "the message is too long for this server", false],
    [failed("SessionError"), 500, "the agent failed: the log of the server says why", true],
    [failed("SnapshotError"), 409, "the answer does not fit the open question", true],
    [failed("ContentFiltered"), 400, "the model refused this content", true],
    [failed("ContextOverflow"), 400, "the conversation is too long for the model", true],
    [failed("RateLimited"), 429, "the model is overloaded: try again later", true],
    [failed("Overloaded"), 429, "the model is overloaded: try again later", true],
    [failed("Surprise"), 500, "the agent failed: the log of the server says why", true]
  ])("receives for a turn that ended with %o nothing from the inside", ([outcome, status, text, heard]) => {
    const [actual, message, isHeard] = told((serve) => refusalOfOutcome(serve, outcome as Unanswered))
    assert.deepEqual([actual, message, isHeard], [status, text, heard])
  })
})
