/** What a host takes from its callers, and what it says about the rest. */
import type * as HostError from "@belay/server/HostError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Host from "../../../src/host/HostError.ts"
import {
  checkCall,
  checkSessionId,
  checkTexts,
  isSessionId,
  readDecisions,
  readMessage,
  stored
} from "../../../src/host/internal/site/readInput.ts"

/** What an effect returns, or its error as a text. */
const told = <A>(effect: Effect.Effect<A, HostError.HostError>): unknown => {
  const text = Effect.map(
    Effect.flip(effect),
    ({ message, problem, sessionId }) => `${problem} ${sessionId}: ${message}`
  )
  return Effect.runSync(Effect.catch(text, (value) => Effect.succeed(value as never)))
}
const why = "the session id must be 1 to 128 letters, digits, \"_\", \"-\" or \".\", and begin with a letter or digit"

describe("the id of a session", () => {
  it("is a short name", () => {
    for (const right of ["a", "7", "A.b_c-9", "a".repeat(128)]) assert.isTrue(isSessionId(right), right)
    for (const wrong of ["", "_a", ".a", "a b", "a/b", "a".repeat(129), 7, undefined]) {
      assert.isFalse(isSessionId(wrong))
    }
    assert.isUndefined(told(checkSessionId("a")))
    assert.strictEqual(told(checkSessionId("a b")), `wrong-input a b: ${why}`)
    assert.strictEqual(told(checkSessionId("_".repeat(129))), `wrong-input ${"_".repeat(128)}: ${why}`)
    assert.strictEqual(told(checkSessionId(7 as never)), `wrong-input undefined: ${why}`)
  })

  it("and a key are texts", () => {
    assert.isUndefined(told(checkTexts({ "session id": "a", key: "b" })))
    assert.strictEqual(told(checkTexts({ "session id": "a", key: 1 })), "wrong-input a: the key must be a text")
    assert.strictEqual(
      told(checkTexts({ "session id": 1, key: 1 })),
      "wrong-input undefined: the session id must be a text"
    )
  })
})

describe("the options of a call", () => {
  const call = (options: object) => told(checkCall("s", "Host.send", options, { key: "text", mode: "text" } as never))

  it("are passed on if they are valid", () => {
    const options = { key: "k", mode: "steer" }
    assert.strictEqual(call(options), options)
    assert.deepEqual(call({}), {})
  })

  it("are named if they are wrong", () => {
    assert.match(String(call({ key: 1 })), /^wrong-input s: Host\.send\.key: expected /)
    assert.match(String(call({ mode: "x" })), /^wrong-input s: Host\.send\.mode: expected .*queue.*steer/)
    assert.strictEqual(
      call({ key: "cancel k" }),
      "wrong-input s: Host.send.key: a key cannot begin with \"cancel \", because cancellations have such keys"
    )
    assert.deepEqual(call({ key: "x cancel " }), { key: "x cancel " })
  })
})

describe("a message", () => {
  const read = (message: unknown, at?: number | Date, history?: ReadonlyArray<object>) =>
    told(readMessage("s", message as string, at, history as never))

  it("is a text or an input, without what only a host can say", () => {
    assert.deepEqual(read("hi"), { message: "hi" })
    assert.deepEqual(read({ message: "hi", key: "k", steer: true, part: "result" }), {
      message: "hi"
    })
    assert.deepEqual(read("hi", new Date(0)), { message: "hi" })
    const history = [{ role: "user", content: "a" }, { role: "assistant", content: "b" }]
    assert.deepEqual(read("hi", 0, history), { message: "hi", history })
    assert.deepEqual(read("hi", 0, []), { message: "hi" })
  })

  it("is named if it is wrong", () => {
    assert.strictEqual(told(readMessage("a b", "hi", undefined)), `wrong-input a b: ${why}`)
    const at = "wrong-input s: at: expected a date, or milliseconds since the epoch"
    for (const wrong of [NaN, Infinity, new Date("x")]) assert.strictEqual(read("hi", wrong), at)
    for (const wrong of [1, undefined, true]) {
      assert.strictEqual(read(wrong), "wrong-input s: the message: expected a text or { message }")
    }
    assert.match(String(read({ message: 1 })), /^wrong-input s: the message: \S/)
    assert.match(String(read(null)), /^wrong-input s: the message: \S/)
    assert.match(String(read("hi", 0, [{ role: "x" }])), /^wrong-input s: the history: \S/)
    const lost = [{ role: "tool", content: [{ type: "tool-result", callId: "c", name: "t", ok: true, output: 1 }] }]
    assert.match(String(read("hi", 0, lost)), /^wrong-input s: the history\S* /)
  })
})

describe("decisions", () => {
  const read = (decisions: unknown) => told(readDecisions("s", decisions as never))
  const expected = "expected tool call ids with decisions such as { type: \"approve\" }"

  it("are by the ids of calls", () => {
    assert.deepEqual(read({ c: { type: "approve" } }), { c: { type: "approve" } })
  })

  it("are named if they are wrong", () => {
    for (const none of [{}, undefined, null]) {
      assert.strictEqual(read(none), `wrong-input s: decisions: there are none; ${expected}`)
    }
    const wrong = { a: { type: "approve" }, b: { type: "maybe" }, c: 1 }
    assert.strictEqual(read(wrong), `wrong-input s: decisions: that of b is not a decision; ${expected}`)
    assert.strictEqual(told(readDecisions("", {})), `wrong-input : ${why}`)
  })
})

describe("a failure of a store", () => {
  it("is an error of the host with its cause, and an error of the host stays", () => {
    const away = new Error("away")
    const failed = (effect: Effect.Effect<never, unknown>) => Effect.runSync(Effect.flip(stored(effect)))
    for (const effect of [Effect.fail(away), Effect.die(away)]) {
      const { cause, message, problem } = failed(effect)
      assert.deepEqual([problem, cause], ["store", away])
      assert.strictEqual(
        message,
        "the host could not use its store or engine: away. Try again with the same key"
      )
    }
    const own = new Host.HostError({ problem: "full", message: "m" })
    assert.strictEqual(failed(Effect.fail(own)), own)
  })

  it("is not one if the call was interrupted", () => {
    const exit = Effect.runSyncExit(stored(Effect.interrupt))
    assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasFails(exit))
  })
})
