/** Where a session continues that has moved. */
import type { SessionStore } from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { loadState } from "../../../../src/host/internal/advance/recognize.ts"

/** Follows a session through these moves. Returns the ids that were loaded, at most ten. */
const follow = async (moves: { readonly [id: string]: string }, from: string): Promise<ReadonlyArray<string>> => {
  const loaded: Array<string> = []
  const load = (id: string) =>
    Effect.suspend(() => {
      loaded.push(id)
      const to = moves[id]
      return loaded.length > 10
        ? Effect.fail("it does not end")
        : Effect.succeed({ sessionId: id, ...(to === undefined ? {} : { movedTo: { from: id, to } }) })
    })
  await Effect.runPromise(loadState({ load } as unknown as SessionStore, from))
  return loaded
}

describe("a session that has moved", () => {
  it("is read where it continues, at any distance", async () => {
    assert.deepStrictEqual(await follow({ a: "b", b: "c", c: "d" }, "a"), ["a", "b", "c", "d"])
  })

  it("in a circle is read once at each place", async () => {
    assert.deepStrictEqual(await follow({ a: "a" }, "a"), ["a"])
    assert.deepStrictEqual(await follow({ a: "b", b: "a" }, "a"), ["a", "b"])
    assert.deepStrictEqual(await follow({ a: "b", b: "c", c: "a" }, "a"), ["a", "b", "c"])
    assert.deepStrictEqual(await follow({ a: "b", b: "c", c: "b" }, "a"), ["a", "b", "c"])
  })
})
