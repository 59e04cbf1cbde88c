/** What entries that run in the background leave for the agent, and what they do not. */
import * as Engine from "@belay/hook-files/Engine"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { make } from "../../src/engine/asyncEntries.ts"
import { make as makeBackground } from "../../src/engine/background.ts"

const silent = { outcome: "success", messages: [], problems: [] } as const
const context = (sessionId = "s", more: object = {}) =>
  ({ root: { sessionId }, askedAgain: false, events: { active: false }, ...more }) as never

/** An entry that ends when its gate opens. */
const entry = (name: string, more: object = {}) => ({ name, event: "E", work: { type: "command" }, ...more })

/** Entries whose answers a test gives. */
const world = (rules: object | undefined = {}, drainMs = 0) => {
  const gates = new Map<string, Deferred.Deferred<object>>()
  const log: Array<string> = []
  const woken: Array<string> = []
  const gate = (name: string) => {
    const known = gates.get(name) ?? Deferred.makeUnsafe<object>()
    gates.set(name, known)
    return known
  }
  const first = new Map<string, (line: string) => void>()
  const runEntry = (
    { entry: { name } }: { readonly entry: { readonly name: string } },
    _: unknown,
    hear: { readonly onFinished?: (ended: object) => void; readonly onFirstLine?: (line: string) => void } = {}
  ) =>
    Effect.gen(function*() {
      log.push(`runs ${name}`)
      if (hear.onFirstLine !== undefined) first.set(name, hear.onFirstLine)
      const answer = yield* Deferred.await(gate(name))
      hear.onFinished?.({ stdout: name })
      return { answer: { ...silent, ...answer }, durationMs: 3 }
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => log.push(`stops ${name}`))))
  const background = makeBackground(drainMs)
  const async = rules === undefined ? undefined : {
    isAsync: ({ isAsync = false }: { readonly isAsync?: boolean }) => isAsync,
    detachMs: (line: string) => line === "" ? undefined : Number(line),
    wakeText: ({ stdout }: { readonly stdout: string }, { wakes = false }: { readonly wakes?: boolean }) =>
      wakes ? `${stdout} is done` : undefined,
    isDelivered: ({ messages }: { readonly messages: ReadonlyArray<string> }) => messages.length > 0,
    ...rules
  }
  const made = make(
    { async, silent } as never,
    runEntry as never,
    background,
    (sessionId, text) => void woken.push(`${sessionId}: ${text}`)
  )
  const end = (name: string, answer: object = {}) => Deferred.succeed(gate(name), answer)
  const start = (entries: ReadonlyArray<object>, ctx = context()) => made.start(entries as never, {} as never, ctx)
  const run = (one: object, ctx = context()) => made.run({ entry: one, input: {}, entries: [one] } as never, ctx)
  const say = (name: string, line: string) => first.get(name)!(line)
  return { background, end, log, made, run, say, start, woken }
}

/** Lets everything happen that can. */
const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow)

describe("entries in the background", () => {
  it.effect("are started and not waited for, once; the others are returned", () =>
    Effect.gen(function*() {
      const { log, start } = world()
      const [a, b] = [entry("a", { isAsync: true }), entry("b")]
      assert.deepEqual(yield* start([a, b]), [b] as never)
      yield* settle
      assert.deepEqual(log, ["runs a"])
      assert.deepEqual(yield* start([a, b], context("s", { askedAgain: true })), [b] as never)
      yield* settle
      assert.deepEqual(log, ["runs a"])
      const plain = world(undefined as never)
      const without = make({ silent } as never, (() => Effect.never) as never, plain.background, undefined)
      assert.deepEqual(yield* without.start([a, b] as never, {} as never, context()), [a, b] as never)
    }))

  it.effect("leave the answers that count, for their own session, once", () =>
    Effect.gen(function*() {
      const { end, made: { later }, start } = world()
      yield* start([entry("a", { isAsync: true }), entry("b", { isAsync: true })])
      yield* start([entry("c", { isAsync: true })], context("t"))
      yield* end("a", { messages: ["from a"] })
      yield* end("b")
      yield* end("c", { messages: ["from c"] })
      yield* settle
      assert.deepEqual(later.takeAnswers(context()).map(({ messages }) => messages), [["from a"]])
      assert.deepEqual(later.takeAnswers(context()), [])
      assert.deepEqual(later.takeAnswers(context("t")).map(({ messages }) => messages), [["from c"]])
      assert.deepEqual(later.takeAnswers(context("u")), [])
    }))

  it.effect("leave nothing for a session that has ended, and nothing for one that is forgotten", () =>
    Effect.gen(function*() {
      const { background, end, made: { forget, later }, start, woken } = world({}, 1_000)
      yield* start([entry("a", { isAsync: true, wakes: true })])
      yield* settle
      yield* background.end("s")
      yield* end("a", { messages: ["from a"] })
      yield* settle
      assert.deepEqual([later.takeAnswers(context()), later.takeWakes(context()), woken], [[], [], []])
      yield* start([entry("b", { isAsync: true, wakes: true })])
      yield* end("b", { messages: ["from b"] })
      yield* settle
      forget("s")
      assert.deepEqual([later.takeAnswers(context()), later.takeWakes(context())], [[], []])
    }))

  it.effect("wake the agent with a text, up to a hundred times", () =>
    Effect.gen(function*() {
      const { end, made: { later }, start, woken } = world()
      const names = Array.from({ length: 101 }, (_, index) => `e${index}`)
      for (const name of names) {
        yield* start([entry(name, { isAsync: true, wakes: true })])
        yield* end(name, { messages: ["m"] })
        yield* settle
      }
      yield* start([entry("quiet", { isAsync: true })])
      yield* end("quiet")
      yield* settle
      const texts = names.slice(0, 100).map((name) => `${name} is done`)
      assert.deepEqual(woken, texts.map((text) => `s: ${text}`))
      assert.deepEqual(later.takeWakes(context()), texts)
      assert.deepEqual(later.takeWakes(context()), [])
      assert.lengthOf(later.takeAnswers(context()), 100)
    }))
})

describe("an entry that asks to go on in the background", () => {
  it.effect("is not waited for any more, and its answer comes later", () =>
    Effect.gen(function*() {
      const { end, made: { later }, run, say } = world()
      const fiber = yield* Effect.forkChild(run(entry("a")))
      yield* settle
      say("a", "")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      say("a", "50")
      assert.deepEqual(yield* Fiber.join(fiber), { answer: silent, durationMs: 0 } as never)
      yield* TestClock.adjust("49 millis")
      yield* end("a", { messages: ["late"] })
      yield* settle
      assert.deepEqual(later.takeAnswers(context()).map(({ messages }) => messages), [["late"]])
    }))

  it.effect("is ended when its time is over", () =>
    Effect.gen(function*() {
      const { log, made: { later }, run, say } = world()
      const fiber = yield* Effect.forkChild(run(entry("a")))
      yield* settle
      say("a", "50")
      yield* Fiber.join(fiber)
      yield* TestClock.adjust("49 millis")
      assert.deepEqual(log, ["runs a"])
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepEqual(log, ["runs a", "stops a"])
      assert.deepEqual(later.takeAnswers(context()), [])
    }))

  it.effect("is ended with the call that waits for it, and only commands can ask", () =>
    Effect.gen(function*() {
      const { end, log, run } = world()
      const fiber = yield* Effect.forkChild(run(entry("a")))
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.deepEqual(log, ["runs a", "stops a"])
      const other = yield* Effect.forkChild(run(entry("b", { work: { type: "http" } })))
      yield* end("b", { messages: ["m"] })
      assert.deepEqual(yield* Fiber.join(other), { answer: { ...silent, messages: ["m"] }, durationMs: 3 } as never)
    }))

  it.effect("says its status to those who listen", () =>
    Effect.gen(function*() {
      const { end, run } = world()
      const said: Array<unknown> = []
      const emit = (...args: ReadonlyArray<unknown>) => said.push(args)
      yield* end("a")
      yield* run(entry("a", { status: "looks" }), context("s", { events: { active: true, emit } }))
      yield* run(entry("a", { status: "looks" }), context("s", { events: { active: false, emit } }))
      yield* run(entry("a"), context("s", { events: { active: true, emit } }))
      assert.deepEqual(said, [["hook-status", { event: "E", message: "looks" }]])
    }))
})

describe("an engine", () => {
  it("names its arguments when one of them is wrong", () => {
    const cannot = /Engine\.make: it cannot/
    for (
      const [dialect, setup] of [[null, {}], [{}, null], [1, {}], [{}, 1], [undefined, undefined], [{}, undefined]]
    ) {
      assert.throws(() => Engine.make(dialect as never, setup as never), cannot)
    }
  })
})
