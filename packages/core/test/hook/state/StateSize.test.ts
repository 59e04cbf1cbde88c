/** A write measures only the parts in which a value differs from the one that it replaces. */
import type { Json } from "@belay/core/Json"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as HookState from "../../../src/hook/HookState.ts"

const anything = HookState.key<unknown>("any", Schema.Any as never, null)
const large = HookState.key("large", "")

/** The size of everything in a state, as the error of a write that is too large names it. */
const totalOf = (state: HookState.Store): number => {
  for (let n = 0; n < 15; n++) state.set(HookState.key(`fill${n}`, ""), "x".repeat(HookState.maxKey - 2))
  try {
    state.set(large, "x".repeat(HookState.maxKey - 2))
  } catch (error) {
    return Number(/would hold (\d+)/.exec(String(error))?.[1])
  }
  return Number.NaN
}

const isDeeplyFrozen = (value: unknown): boolean =>
  typeof value !== "object" || value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))

const { from } = Array

describe("the size of a state", () => {
  it("does not depend on the values that it had before", () => {
    let changes = 0
    for (let seed = 0; seed < 500; seed++) {
      const { below, pick } = random(seed)
      const make = (depth: number): Json => {
        if (depth === 0 || below(3) === 0) {
          return pick<Json>(["a", "longer text", 1, 12345678, -0.5, true, null, {}, []])
        }
        const items = from({ length: below(5) }, () => make(depth - 1))
        return below(2) === 0 ? items : Object.fromEntries(items.map((item) => [pick(["a", "b", "key", "0"]), item]))
      }
      /** A changed copy that shares most of its parts. */
      const change = (value: Json): Json => {
        if (typeof value !== "object" || value === null || below(4) === 0) return make(2)
        if (Array.isArray(value)) {
          const items = [...value as ReadonlyArray<Json>]
          const at = below(items.length + 1)
          if (below(3) === 0) items.splice(at, 1)
          else if (below(2) === 0) items.splice(at, 0, make(2))
          else if (at < items.length) items[at] = change(items[at]!)
          return items
        }
        const entries = Object.entries(value)
        const at = below(entries.length + 1)
        if (at === entries.length) return { ...value, [pick(["a", "b", "c"])]: make(2) }
        const [name, child] = entries[at]!
        if (below(2) === 0) return { ...value, [name]: change(child) }
        return Object.fromEntries(entries.filter((_entry, index) => index !== at))
      }
      const state = HookState.make(below(2) === 0 ? {} : { any: make(3) })
      let value = make(4)
      state.set(anything, value)
      for (let n = below(6); n > 0; n--) {
        value = change(value)
        state.set(anything, value)
        changes++
      }
      const fresh = HookState.make()
      fresh.set(anything, structuredClone(value))
      assert.strictEqual(totalOf(state), totalOf(fresh), `seed ${seed}`)
      assert.isTrue(isDeeplyFrozen(state.get(anything)), `seed ${seed}`)
    }
    assert.isAbove(changes, 500)
  })

  it("is measured again after a value that is not JSON was refused", () => {
    const state = HookState.make()
    const shared = { text: "x".repeat(100) }
    state.set(anything, { shared, more: [1, 2] })
    const wrong = { shared, more: [1, { at: new Date(0) }] }
    assert.throws(() => state.set(anything, wrong), "$.more[1].at is a Date")
    assert.isFalse(Object.isFrozen(wrong))
    state.set(anything, { shared, more: [1, 2, 3] })
    const fresh = HookState.make()
    fresh.set(anything, { shared: { text: "x".repeat(100) }, more: [1, 2, 3] })
    assert.strictEqual(totalOf(state), totalOf(fresh))
  })

  it("counts a hole of a list like any other item, because JSON has `null` in its place", () => {
    const withHole = (...more: ReadonlyArray<Json>): Json => {
      const list: Array<Json> = [1]
      list[2] = 3
      return list.concat(more)
    }
    const state = HookState.make()
    for (const value of [[1, 2, 3], withHole(), withHole(4, 5), [1, { at: 2 }, 3], withHole(), withHole(4)]) {
      state.set(anything, value)
    }
    assert.deepEqual(state.snapshot(), { any: withHole(4) })
    const fresh = HookState.make()
    fresh.set(anything, withHole(4))
    assert.strictEqual(totalOf(state), totalOf(fresh))
  })

  it("a value may use a part of the value before it in another place, but not more than 64 levels deep", () => {
    const state = HookState.make()
    let deep: Json = 1
    for (let n = 0; n < 60; n++) deep = { deep }
    state.set(anything, { part: deep })
    state.set(anything, { other: { part: deep } })
    assert.throws(
      () => state.set(anything, { a: { b: { c: { d: { e: deep } } } } }),
      "is nested deeper than 64 levels"
    )
  })

  it("of a text that grows at its end is that of the whole text, also where a character is cut in two", () => {
    const key = HookState.key("any", "")
    for (
      const [before, after] of [["ab", "ab\"c\n"], ["a\ud83d", "a\ud83d\ude00"], ["", "a"], ["a\\", "a\\\\"]] as const
    ) {
      const state = HookState.make()
      state.set(key, before)
      state.set(key, after)
      const fresh = HookState.make()
      fresh.set(key, after)
      assert.strictEqual(totalOf(state), totalOf(fresh), JSON.stringify(after))
    }
  })

  it("of a list that loses several items at its beginning is that of the rest", () => {
    const state = HookState.make()
    const items = from({ length: 20 }, (_, index) => ({ item: "x".repeat(index) }))
    state.set(anything, items)
    state.set(anything, [...items.slice(7), { item: "new" }])
    const fresh = HookState.make()
    fresh.set(anything, [...items.slice(7), { item: "new" }])
    assert.strictEqual(totalOf(state), totalOf(fresh))
  })
})
