/** Snapshots, decisions and keys that somebody has changed. The long set tries every change. */
import { assert, describe, it } from "@effect/vitest"
import { key, make } from "../../support/approvals.ts"
import { changeAtRandom, changeDecisions, changeKeys, changeOnePlace } from "./hostileResumes.ts"

describe("a snapshot that was changed in one place", () => {
  it("runs nothing that nobody approved if the agent has keys", async () => {
    const { ran, tried } = await changeOnePlace(true, 11)
    assert.deepStrictEqual(ran, [])
    assert.isAbove(tried, 250)
  })

  it("runs something else without keys only if a whole question was replaced", async () => {
    const { ran } = await changeOnePlace(false, 11)
    for (const one of ran) assert.match(one, /(?:calls|calls\.\d|ask|child): (?:of another run|another valid value)$/)
  })
})

describe("a snapshot that was changed in several places", () => {
  it("runs nothing that nobody approved if the agent has keys", async () => {
    assert.deepStrictEqual(await changeAtRandom(true, 150), { tried: 150, ran: [] })
  })

  it("ends the turn or is a typed error without keys", async () => {
    assert.strictEqual((await changeAtRandom(false, 150)).tried, 150)
  })
})

describe("a decision that was changed in one place", () => {
  it("runs nothing that nobody approved, with keys and without", async () => {
    for (const isSigned of [true, false]) {
      const { ran, tried } = await changeDecisions(isSigned)
      assert.deepStrictEqual(ran, [])
      assert.isAbove(tried, 80)
    }
  })
})

describe("a key that was changed", () => {
  it("accepts no decision that it did not sign", async () => {
    for (const [what, end] of await changeKeys()) {
      // Without the option, an agent has no keys.
      assert.include(what === "keys: removed" ? ["completed"] : ["forged", "ConfigError"], end, what)
    }
  })

  it.each<[unknown, RegExp]>([
    [[], /approvals\.keys: expected at least one key/],
    [[{ id: "k1" }], /keys\[0\].*secret/],
    [[{ id: "k1", secret: undefined }], /keys\[0\].*secret/],
    [[{ id: "k1", secret: "" }], /keys\[0\]\.secret: expected .* at least 16 bytes/],
    [[{ id: "k1", secret: "fifteen bytes.." }], /at least 16 bytes/],
    [[{ id: "k1", secret: 7 }], /at least 16 bytes/],
    [[{ id: "k1", secret: Array.from({ length: 32 }, () => 1) }], /at least 16 bytes/],
    [[{ id: "k1", secret: new Uint8Array(15) }], /at least 16 bytes/],
    [[{ id: "", secret: "a-secret-for-tests-only" }], /keys\[0\]\.id: is empty/],
    [[key, key], /keys\[1\]\.id: two keys have the id "k1"/],
    [[{ ...key, expires: 1 }], /keys\[0\]\.expires/]
  ])("is an error of the configuration if it protects from nobody", (keys, message) => {
    assert.throws(() => make([], { approvals: { keys: keys as never } }), message)
  })

  it("may be bytes", () => void make([], { approvals: { keys: [{ id: "k1", secret: new Uint8Array(16) }] } }))
})
