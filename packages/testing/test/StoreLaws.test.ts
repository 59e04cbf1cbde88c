/** The laws hold for a store that keeps them, and name what is wrong with those that do not. */
import * as ArtifactStore from "@belay/core/ArtifactStore"
import type { Message } from "@belay/core/Message"
import { type Commit, inMemory, type SessionStore } from "@belay/core/SessionStore"
import * as StoreLaws from "@belay/testing/StoreLaws"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

type Whole = Required<SessionStore>

/** Runs every law, and lists those that are broken. */
const brokenBy = async (make: () => SessionStore, options?: StoreLaws.Options): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (const { name, run } of StoreLaws.cases(async () => ({ store: make() }), options)) {
    await run().catch(() => broken.push(name))
  }
  return broken
}

/** A store with a mistake. */
const spoilt = (spoil: (store: Whole) => Partial<Whole>) => (): SessionStore => {
  const store = inMemory()
  return { ...store, ...spoil(store) }
}

const bugs: ReadonlyArray<readonly [what: string, make: () => SessionStore, caught: string]> = [
  [
    "takes every revision",
    spoilt((store) => ({
      commit: (step) =>
        Effect.flatMap(store.load(step.sessionId), (now) => {
          const revision = (now?.revision ?? 0) + 1
          return store.commit({ ...step, revision, state: { ...step.state, revision } })
        })
    })),
    "sessions: a step that does not follow the last revision is a conflict, and nothing of it is stored"
  ],
  [
    "checks and writes in two steps",
    () => {
      const kept = new Map<string, Commit>()
      const store = inMemory()
      return {
        ...store,
        commit: (step) =>
          Effect.gen(function*() {
            const { revision } = kept.get(step.sessionId) ?? { revision: step.revision - 1 }
            yield* Effect.yieldNow
            if (revision !== step.revision - 1) return yield* store.commit(step)
            kept.set(step.sessionId, step)
          }),
        load: (id) => Effect.sync(() => structuredClone(kept.get(id)?.snapshot()))
      }
    },
    "sessions: exactly one of several parallel commits wins"
  ],
  [
    "always tells the same revision",
    spoilt(() => ({ revision: () => Effect.succeed(1) })),
    "sessions: the revision is that of the last commit, also for another process"
  ],
  [
    "forgets the number of the last event",
    spoilt((store) => ({
      commit: (step) => {
        const { lastEvent: _lastEvent, ...state } = step.state
        return store.commit({ ...step, state })
      }
    })),
    "sessions: a released session continues, and no event has the number of another"
  ],
  [
    "ignores `from`",
    spoilt((store) => {
      const logs = new Map<string, ReadonlyArray<Message>>()
      return {
        commit: (step) => {
          const messages = [...(step.from === 0 ? [] : logs.get(step.sessionId) ?? []), ...step.messages]
          return Effect.tap(
            store.commit({ ...step, from: 0, messages }),
            () => Effect.sync(() => logs.set(step.sessionId, messages))
          )
        }
      }
    }),
    "sessions: messages after `from` are dropped, all of them if it is 0"
  ],
  [
    "writes the records before it looks",
    () => {
      const noted: Array<unknown> = []
      const store = inMemory()
      return {
        ...store,
        commit: (step) => {
          noted.push(...step.records)
          return store.commit(step)
        },
        records: () => Effect.sync(() => [...noted])
      }
    },
    "sessions: a step that does not follow the last revision is a conflict, and nothing of it is stored"
  ],
  [
    "keeps what it is given, not a copy",
    () => {
      const store = inMemory()
      const given = new Map<string, Commit>()
      return {
        ...store,
        commit: (step) => Effect.tap(store.commit(step), () => Effect.sync(() => void given.set(step.sessionId, step))),
        load: (id) => Effect.sync(() => given.get(id)?.snapshot())
      }
    },
    "sessions: committed and loaded values are copies"
  ],
  [
    "fails with an error of its own instead of a conflict",
    spoilt((store) => ({ commit: (step) => Effect.mapError(store.commit(step), () => "conflict") })),
    "sessions: a step that does not follow the last revision is a conflict, and nothing of it is stored"
  ],
  [
    "lists the oldest first",
    spoilt((store) => ({ list: (options) => Effect.map(store.list(options), (all) => all.toReversed()) })),
    "sessions: the list starts with the last change, and its pages miss no session"
  ],
  [
    "shares artifacts between forks",
    spoilt((store) => ({
      artifacts: {
        ...store.artifacts,
        append: (id, ...rest) => store.artifacts.append(id === "copy" ? "session-1" : id, ...rest)
      }
    })),
    "sessions: a fork has everything of a session and is independent of it"
  ],
  [
    "forks over a session that is there",
    spoilt((store) => ({
      fork: (id, to) => id === to ? store.fork(id, to) : Effect.andThen(store.remove(to), store.fork(id, to))
    })),
    "sessions: a fork fails for an existing id and for a missing session"
  ],
  [
    "leaves artifacts behind",
    () => {
      const store = inMemory()
      const artifacts = ArtifactStore.inMemory()
      return { ...store, artifacts }
    },
    "sessions: a removed session is gone with all its data, and its id is free"
  ],
  [
    "takes ids for file names",
    spoilt((store) => {
      const file = (id: string) => id.split("/").at(-1)!.toLowerCase()
      return {
        commit: (step) => store.commit({ ...step, sessionId: file(step.sessionId) }),
        load: (id) => store.load(file(id))
      }
    }),
    "sessions: an invalid id is refused or is only an id"
  ],
  [
    "writes texts as UTF-8",
    spoilt((store) => ({
      commit: (step) =>
        store.commit({
          ...step,
          messages: JSON.parse(new TextDecoder().decode(new TextEncoder().encode(deaf(step.messages))))
        })
    })),
    "sessions: texts are returned unchanged"
  ],
  [
    "cuts long texts",
    spoilt((store) => ({
      commit: (step) =>
        store.commit({
          ...step,
          messages: step.messages.map((one) => ({ ...one, content: cut(one.content) }) as never)
        })
    })),
    "sessions: a session can be large"
  ],
  [
    "writes all of it each time",
    spoilt((store) => ({
      commit: (step) => Effect.andThen(Effect.sync(() => JSON.stringify(step.snapshot())), store.commit(step))
    })),
    "sessions: adding to a long conversation costs as much as adding to a short one"
  ],
  [
    "appends in two steps",
    spoilt((store) => ({
      artifacts: {
        ...store.artifacts,
        append: (id, key, content, about) =>
          Effect.gen(function*() {
            const before = yield* store.artifacts.read(id, key)
            yield* Effect.yieldNow
            return yield* store.artifacts.write(id, key, (before ?? "") + content, about)
          })
      }
    })),
    "artifacts: parallel appends are all stored completely"
  ],
  [
    "forgets who wrote first",
    spoilt((store) => ({
      artifacts: {
        ...store.artifacts,
        append: (id, key, content, about) =>
          Effect.gen(function*() {
            const before = yield* store.artifacts.read(id, key)
            yield* store.artifacts.remove(id, key)
            return yield* store.artifacts.write(id, key, (before ?? "") + content, about)
          })
      }
    })),
    "artifacts: the list has author, length and time of a text"
  ],
  ["has no list", spoilt(() => ({ list: undefined as never })), "sessions: the list describes each session"]
]

/** Halves of pairs as they are, not escaped. */
const deaf = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /\\u(d[89a-f]..)/g,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))
  )

const cut = (content: unknown) => typeof content === "string" ? content.slice(0, 1_000_000) : content

describe("the laws of stores", () => {
  for (const { name, run } of StoreLaws.cases(async () => ({ store: inMemory() }))) it(`in memory: ${name}`, run)

  it.each(bugs.map(([what, make, caught]) => ({ what, make, caught })))(
    "catch a store that $what",
    async ({ caught, make }) => {
      assert.include(await brokenBy(make), caught)
    },
    600_000
  )

  it("do not check what a store leaves out", async () => {
    const bare = () => {
      const { commit, load } = inMemory()
      return { commit, load }
    }
    const without = ["list", "fork", "remove", "records", "artifacts"] as const
    assert.deepStrictEqual(await brokenBy(bare, { without }), [])
    assert.include(await brokenBy(bare), "sessions: decision records are stored in order")
  })

  it("dispose the store after a law, whether it holds or not", async () => {
    let open = 0
    const make = async () => {
      open++
      return { store: { ...inMemory(), load: () => Effect.fail("broken") }, dispose: () => void open-- }
    }
    const laws = StoreLaws.cases(make)
    const ends = await Promise.allSettled(laws.map(({ run }) => run()))
    assert.isAbove(ends.filter(({ status }) => status === "rejected").length, 8)
    assert.isAbove(ends.filter(({ status }) => status === "fulfilled").length, 8)
    assert.strictEqual(open, 0)
  })

  it("say which value was expected and which was found", async () => {
    const store = { ...inMemory(), load: () => Effect.succeed(undefined) }
    const law = StoreLaws.cases(async () => ({ store })).find(({ name }) =>
      name === "sessions: a committed session can be loaded"
    )
    const error = await law?.run().catch((error: unknown) => error)
    assert.match(String(error), /load: expected \{"version":3,"sessionId":"session-1".+, found undefined/)
  })
})
