/** What a store of sessions tells when two processes write the same session. The laws of stores are in `@belay/testing`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { createAgent } from "../../src/agent/createAgent.ts"
import * as RunState from "../../src/data/RunState.ts"
import * as ArtifactStore from "../../src/port/ArtifactStore.ts"
import * as SessionStore from "../../src/port/SessionStore.ts"
import { line } from "../support/agent.ts"
import { scripted } from "../support/model.ts"

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

describe("the store in memory", () => {
  it("gets the whole conversation again if it was removed while the session is open", async () => {
    const store = SessionStore.inMemory()
    await using agent = createAgent({ provider: scripted([]).provider, store })
    const session = await agent.session({ id: "s" })
    await session.run("one")
    assert.isTrue(await Effect.runPromise(store.remove("s")))
    await session.run("two")
    const state = await Effect.runPromise(store.load("s"))
    assert.strictEqual(line(state!.messages), "user: one | assistant: the end | user: two | assistant: the end")
  })

  it.effect("has the time of the same clock as an inbox in memory, which may have been wrong at the start", () =>
    Effect.gen(function*() {
      const store = SessionStore.inMemory()
      yield* Effect.promise(async () => {
        await using agent = createAgent({ provider: scripted([]).provider, store })
        await (await agent.session({ id: "s" })).run("one")
      })
      yield* TestClock.setTime(5_000)
      const whole = (yield* store.load("s"))!
      const { messages, ...state } = { ...whole, revision: whole.revision + 1 }
      const { revision, sessionId } = state
      const snapshot = () => ({ ...state, messages })
      yield* store.commit({ sessionId, revision, from: messages.length, messages: [], records: [], state, snapshot })
      yield* store.fork("s", "copy")
      // The second change in the same millisecond is a little later.
      assert.deepStrictEqual((yield* store.list()).map(({ id, updatedAt }) => [id, updatedAt]), [
        ["copy", 5_000.001],
        ["s", 5_000]
      ])
    }))
})

describe("the type of an artifact", () => {
  it("is plain text, or what was said when it was written last", async () => {
    const { append, write } = ArtifactStore.inMemory()
    const typeAfter = async (effect: ReturnType<typeof write>) => (await Effect.runPromise(effect)).mimeType
    assert.strictEqual(await typeAfter(write("s", "a", "x", { by: "h" })), "text/plain")
    assert.strictEqual(await typeAfter(write("s", "a", "x", { by: "h", mimeType: "text/csv" })), "text/csv")
    assert.strictEqual(await typeAfter(append("s", "a", "y", { by: "h" })), "text/csv")
    assert.strictEqual(await typeAfter(append("s", "a", "y", { by: "h", mimeType: "text/html" })), "text/html")
  })
})

describe("the state of a commit", () => {
  it("is refused with a typed error if what was stored of its files was changed", async () => {
    const store = SessionStore.inMemory()
    const file = { type: "file" as const, mediaType: "image/png", url: `data:image/png;base64,${"A".repeat(70_000)}` }
    await using agent = createAgent({ provider: scripted([]).provider, store })
    const session = await agent.session({ id: "s" })
    await session.run({ message: "look", attachments: [file] })
    const state = (await Effect.runPromise(store.load("s")))!
    const { messages, ...rest } = state
    const stored = { ...SessionStore.stateToStore({ state: rest, snapshot: () => state }), messages }
    assert.notProperty(Object(stored).input, "attachments")
    assert.deepStrictEqual(await Effect.runPromise(RunState.decode(SessionStore.stateFromStore(stored))), state)

    const wrong = [null, 1, "x", [], {}, { message: 9, parts: [0] }, { message: 0 }, { message: 0, parts: [7] }]
    const changed = [
      null,
      1,
      ...wrong.map((inputFiles) => ({ ...stored, inputFiles })),
      ...[null, {}, [null], [{ content: null }]].map((messages) => ({ ...stored, messages })),
      { ...stored, input: null }
    ]
    for (const one of changed) {
      const error = await Effect.runPromise(Effect.flip(RunState.decode(SessionStore.stateFromStore(one))))
      assert.strictEqual(error._tag, "SnapshotError", JSON.stringify(one).slice(0, 200))
    }
  })
})
