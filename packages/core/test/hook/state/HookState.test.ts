import * as SeededScheduler from "@belay/testing/SeededScheduler"
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Scheduler } from "effect/Scheduler"
import * as Schema from "effect/Schema"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookChain from "../../../src/hook/HookChain.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import * as HookState from "../../../src/hook/HookState.ts"

const count = HookState.key("count", 0)
const list = HookState.key<ReadonlyArray<string>>("list", [])

/** The message of the error with which the state refuses. */
const refused = (write: () => unknown): string => {
  const exit = Effect.runSyncExit(Effect.try({ try: write, catch: (error) => error as HookState.StateError }))
  return Exit.isSuccess(exit)
    ? "accepted"
    : String(Exit.findErrorOption(exit).pipe((found) => found._tag === "Some" ? found.value.message : "died"))
}

describe("HookState", () => {
  it("returns the initial value of a key until another is written", () => {
    const state = HookState.make()
    assert.strictEqual(state.get(count), 0)
    state.set(count, 4)
    assert.strictEqual(state.update(count, (n) => n + 1), 5)
    assert.strictEqual(state.get(count), 5)
    assert.deepEqual(state.snapshot(), { count: 5 })
  })

  it("cannot begin with what is not JSON", () => {
    for (const value of [undefined, () => {}, Symbol("s"), 1n]) {
      assert.match(refused(() => HookState.make({ count: value as never })), /^state count: expected JSON, /)
    }
  })

  // rows: A-31
  it("is separate for each session", () => {
    const [one, two] = [HookState.make(), HookState.make()]
    one.set(count, 1)
    assert.strictEqual(two.get(count), 0)
    // Not even through a first value that both would share.
    assert.throws(() => (one.get(list) as Array<string>).push("leak"), TypeError)
    assert.deepEqual(two.get(list), [])
  })

  it("freezes what it holds", () => {
    const state = HookState.make({ list: ["restored"] })
    assert.throws(() => (state.get(list) as Array<string>).push("x"), TypeError)
    state.set(list, ["set"])
    assert.throws(() => (state.get(list) as Array<string>).push("x"), TypeError)
    assert.deepEqual(state.snapshot(), { list: ["set"] })
  })

  it("refuses a value of another type, with the key's name", () => {
    const state = HookState.make()
    assert.strictEqual(
      refused(() => state.set(count, "5" as never)),
      "state count: the value does not fit the key's type"
    )
    assert.strictEqual(refused(() => state.set(list, {} as never)), "state list: the value does not fit the key's type")
    assert.strictEqual(
      refused(() => state.update(count, (async (n: number) => n + 1) as never)),
      "state count: the value does not fit the key's type"
    )
    assert.deepEqual(state.snapshot(), {})
  })

  it("checks every write against the schema of a key that has one", () => {
    const level = HookState.key("level", Schema.Literals(["low", "high"]), "low")
    const state = HookState.make()
    state.set(level, "high")
    assert.strictEqual(
      refused(() => state.set(level, "medium" as never)),
      "state level: the value does not fit the key's type"
    )
    assert.strictEqual(state.get(level), "high")
  })

  it("refuses a key of the same name with another type", () => {
    const state = HookState.make()
    state.set(count, 1)
    assert.strictEqual(
      refused(() => state.get(HookState.key("count", "text"))),
      "state count: holds a value of another type than this key's"
    )
  })

  it.each<readonly [unknown, string]>([
    [{ at: [1, Number.NaN] }, "$.at[1] is NaN"],
    [{ at: { when: new Date(0) } }, "$.at.when is a Date"],
    [[1n], "$[0] is a bigint"],
    [[undefined], "$[0] is undefined"],
    [{ f: () => {} }, "$.f is a function"],
    [new Map(), "$ is a Map"],
    [Number.NaN, "$ is NaN"],
    [Number.POSITIVE_INFINITY, "$ is Infinity"],
    [1n, "$ is a bigint"],
    [undefined, "$ is undefined"]
  ])("refuses what is not JSON (%o), with the path to it", (value, why) => {
    const anything = HookState.key<unknown>("any", Schema.Any as never, null)
    assert.strictEqual(refused(() => HookState.make().set(anything, value)), `state any: not JSON, ${why}`)
  })

  it("refuses a number that JSON cannot represent, also without a schema", () => {
    assert.strictEqual(refused(() => HookState.make().set(count, Number.NaN)), "state count: not JSON, $ is NaN")
  })

  it("refuses a value that is nested too deeply", () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    const anything = HookState.key<unknown>("any", Schema.Any as never, null)
    assert.match(
      refused(() => HookState.make().set(anything, deep)),
      /^state any: not JSON, \$(\[0\])+ is nested deeper than 64 levels$/
    )
  })

  it("holds 64 KiB of JSON a key and 1 MiB in all, and names the size of a write that is too large", () => {
    const state = HookState.make()
    const text = (name: string) => HookState.key(name, "")
    state.set(text("full"), "x".repeat(HookState.maxKey - 2))
    assert.strictEqual(
      refused(() => state.set(text("more"), "x".repeat(HookState.maxKey - 1))),
      "state more: 65537 characters, at most 65536 are allowed"
    )
    assert.strictEqual(
      refused(() => state.set(text("escaped"), "\n".repeat(40_000))),
      "state escaped: 80002 characters, at most 65536 are allowed"
    )
    for (let i = 1; i < 16; i++) state.set(text(`k${i}`), "x".repeat(HookState.maxKey - 2))
    assert.strictEqual(
      refused(() => state.set(text("last"), "")),
      "state last: the session would hold 1048578 characters, at most 1048576 are allowed"
    )
    // What is overwritten counts no more.
    state.set(text("full"), "")
    state.set(text("last"), "now it fits")
    assert.strictEqual(state.get(text("last")), "now it fits")
    // A refused write changed nothing.
    assert.strictEqual(state.get(text("more")), "")
  })

  it("keeps a value of its own for every hook", () => {
    const spent = HookState.ownKey("spent", Schema.Finite, 0)
    const state = HookState.make()
    state.write(spent("tracker"), 5, "tracker")
    state.write(spent("other"), 7, "other")
    assert.deepEqual([state.get(spent("tracker")), state.get(spent("other")), state.get(spent("third"))], [5, 7, 0])
    assert.deepEqual([...state.all(spent)], [["tracker", 5], ["other", 7]])
    assert.deepEqual(state.snapshot(), { "@tracker/spent": 5, "@other/spent": 7 })
  })

  it("lets nobody write the value of a hook except that hook", () => {
    const spent = HookState.ownKey("spent", Schema.Finite, 0)
    const state = HookState.make()
    state.write(spent("tracker"), 5, "tracker")
    const refusal = "state @tracker/spent: only tracker may write it, not "
    assert.strictEqual(refused(() => state.write(spent("tracker"), 0, "other")), `${refusal}other`)
    assert.strictEqual(refused(() => state.set(spent("tracker"), 0)), `${refusal}host`)
    // A key that a thief makes from the name, in JavaScript without types, changes nothing.
    const forged = HookState.key("@tracker/spent", 0)
    assert.strictEqual(refused(() => state.write(forged, 0, "other")), `${refusal}other`)
    assert.strictEqual(
      refused(() => state.write({ ...forged, is: () => true } as never, 0, "tracker/x")),
      `${refusal}tracker/x`
    )
    assert.strictEqual(state.get(spent("tracker")), 5)
  })

  it("does not confuse hooks whose names have slashes", () => {
    const spent = HookState.ownKey("spent", Schema.Finite, 0)
    const state = HookState.make()
    assert.strictEqual(
      refused(() => state.write(spent("team/tracker"), 0, "team")),
      "state @team/tracker/spent: only team/tracker may write it, not team"
    )
    state.write(spent("team/tracker"), 5, "team/tracker")
    assert.strictEqual(state.get(spent("team/tracker")), 5)
    assert.throws(() => HookState.ownKey("a/b", 0), "state key a/b: the name of a hook's own key has no slash")
  })

  it.effect("knows which hook writes, through every context", () =>
    Effect.gen(function*() {
      const spent = HookState.ownKey("spent", Schema.Finite, 0)
      const scope = scopeOf()
      const hook = (name: string): AgentHook => ({
        name,
        preTurn: (_input, { state }) => void state.update(spent("tracker"), (n) => n + 1)
      })
      yield* HookChain.makeUnsafe([hook("tracker"), hook("thief")]).run("preTurn", { message: "x" }, scope)
      assert.strictEqual(scope.state.get(spent("tracker")), 1)
      assert.deepEqual(scope.failures.map(({ hook, kind }) => `${hook} ${kind}`), ["thief threw"])
    }))

  // oxlint-disable-next-line typescript/no-explicit-any -- a context as a thief in JavaScript sees it
  type Loose = any
  const thefts: { readonly [how: string]: (ctx: Loose, own: HookState.StateKey<number>) => unknown } = {
    "a new value of ctx.hook": (ctx) => {
      ctx.hook = "tracker"
    },
    "a new property ctx.hook": (ctx) => Object.defineProperty(ctx, "hook", { value: "tracker" }),
    "the state that its view writes to": (ctx, own) => ctx.state.store.write(own, 0, "tracker"),
    "the context that its view has": (ctx) => {
      ctx.state.context.hook = "tracker"
    },
    "the scope of its context": (ctx, own) => ctx.scope.state.write(own, 0, "tracker"),
    "the capabilities of its context": (ctx, own) =>
      ctx.capabilities("all").durable.conversation.write(own, 0, "tracker"),
    "a context that it makes": (ctx, own) => new ctx.constructor(ctx.scope, "tracker").state.set(own, 0)
  }
  it.effect.each(Object.entries(thefts))(
    "lets no hook write as another through %s",
    ([, steal]) =>
      Effect.gen(function*() {
        const spent = HookState.ownKey("spent", Schema.Finite, 0)
        const scope = scopeOf()
        const own = spent("tracker")
        scope.state.write(own, 5, "tracker")
        const thief: AgentHook = {
          name: "thief",
          preTurn: (_input, ctx) => {
            steal(ctx, own)
            ctx.state.set(own, 0)
          }
        }
        yield* HookChain.makeUnsafe([thief]).run("preTurn", { message: "x" }, scope)
        assert.strictEqual(scope.state.get(own), 5)
        assert.deepEqual(scope.failures.map(({ hook, kind }) => `${hook} ${kind}`), ["thief threw"])
      })
  )

  it.each([0, 1, 2, 3, 4])("reads the name of a forged key once, so that it is not another after %i reads", (reads) => {
    const state = HookState.make()
    state.write(HookState.key("@tracker/spent", 0), 5, "tracker")
    let n = 0
    const forged = {
      ...HookState.key("", 0),
      get name() {
        return n++ < reads ? "@thief/spent" : "@tracker/spent"
      }
    }
    refused(() => state.write(forged, 0, "thief"))
    assert.strictEqual(state.snapshot()["@tracker/spent"], 5)
  })

  it("refuses a key whose name is not a text, because a snapshot would make it one", () => {
    const name = { toString: () => "@tracker/spent", startsWith: () => false }
    const state = HookState.make()
    const forged = { ...HookState.key("", 0), name } as never
    assert.strictEqual(
      refused(() => state.write(forged, 0, "thief")),
      "state: the name of a key must be a text, found object"
    )
    assert.deepEqual(state.snapshot(), {})
  })

  it("is the same after a snapshot went through JSON", () => {
    const state = HookState.make()
    state.set(count, 3)
    state.set(list, ["a", "b"])
    const restored = HookState.make(JSON.parse(JSON.stringify(state.snapshot())))
    assert.deepEqual(restored.snapshot(), state.snapshot())
    assert.strictEqual(restored.update(count, (n) => n + 1), 4)
    assert.strictEqual(state.get(count), 3)
  })

  it("a snapshot does not change with the state", () => {
    const state = HookState.make()
    state.set(list, ["a"])
    const before = state.snapshot()
    state.set(list, ["b"])
    assert.deepEqual(before, { list: ["a"] })
  })

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"])(
    "takes %s for a name like any other",
    (name) => {
      const key = HookState.key<{ readonly polluted?: string }>(name, {})
      const state = HookState.make()
      assert.deepEqual(state.get(key), {})
      state.set(
        key,
        JSON.parse("{\"__proto__\":{\"polluted\":\"yes\"},\"constructor\":{\"prototype\":{\"polluted\":\"yes\"}}}")
      )
      const snapshot = state.snapshot()
      assert.isTrue(Object.hasOwn(snapshot, name))
      assert.strictEqual(Object.getPrototypeOf(snapshot), Object.prototype)
      const restored = HookState.make(JSON.parse(JSON.stringify(snapshot)))
      assert.strictEqual(JSON.stringify(restored.get(key)), JSON.stringify(state.get(key)))
      assert.isUndefined((({}) as { polluted?: string }).polluted)
      assert.isUndefined(state.get(key).polluted)
    }
  )
})

describe("a thousand increments", () => {
  type Increment = (ctx: HookContext) => Effect.Effect<unknown>
  const update: Increment = (ctx) =>
    Effect.andThen(Effect.yieldNow, Effect.sync(() => ctx.state.update(count, (n) => n + 1)))
  const getThenSet: Increment = Effect.fnUntraced(function*(ctx) {
    const before = ctx.state.get(count)
    yield* Effect.yieldNow
    ctx.state.set(count, before + 1)
  })

  /** What is left of `times` calls of a hook that run beside each other, in an order chosen by the seed. */
  const left = (increment: Increment, times: number, seed: number) =>
    Effect.gen(function*() {
      const scope = scopeOf({ record: false })
      const chain = HookChain.makeUnsafe([{ name: "count", preTurn: (_input, ctx) => Effect.asVoid(increment(ctx)) }])
      yield* Effect.forEach(Array.from({ length: times }), () => chain.run("preTurn", { message: "x" }, scope), {
        concurrency: 16
      })
      return scope.state.get(count)
    }).pipe(Effect.provideService(Scheduler, SeededScheduler.make(seed)))

  const seeds = Array.from({ length: 200 }, (_, seed) => seed)

  it.live("make a thousand", () =>
    Effect.map(
      Effect.forEach([1, 2, 3, 4, 5], (seed) => left(update, 1000, seed)),
      (found) => assert.deepEqual(found, Array(5).fill(1000))
    ))

  it.live("are never lost with update, and with get and set are in most seeds", () =>
    Effect.gen(function*() {
      const atomic = yield* Effect.forEach(seeds, (seed) => left(update, 20, seed))
      assert.deepEqual(atomic.filter((found) => found !== 20), [])
      const racy = yield* Effect.forEach(seeds, (seed) => left(getThenSet, 20, seed))
      assert.isAtLeast(racy.filter((found) => found < 20).length, 100)
    }))

  it.live("run in the same order for the same seed, and in many orders for many seeds", () =>
    Effect.gen(function*() {
      const trace = (seed: number) =>
        Effect.gen(function*() {
          const order: Array<number> = []
          yield* Effect.forEach(
            [0, 1, 2, 3, 4, 5],
            (n) => Effect.andThen(Effect.yieldNow, Effect.sync(() => order.push(n))),
            {
              concurrency: 6
            }
          )
          return order.join("")
        }).pipe(Effect.provideService(Scheduler, SeededScheduler.make(seed)))
      const [once, twice] = [yield* Effect.forEach(seeds, trace), yield* Effect.forEach(seeds, trace)]
      assert.deepEqual(once, twice)
      assert.isAtLeast(new Set(once).size, 100)
    }))
})
