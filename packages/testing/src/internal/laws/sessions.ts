/** The laws of session stores. */
import type { RunState } from "@belay/core/RunState"
import { type Commit, SessionConflict, type SessionInfo, type SessionStore } from "@belay/core/SessionStore"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { commitOf, state, suspendedState, talk, texts } from "./fixtures.ts"
import { broken, holds, type Law, same, short } from "./law.ts"

interface Subject {
  readonly store: SessionStore
  readonly reopen?: () => Promise<SessionStore> | SessionStore
  readonly dispose?: () => Promise<void> | void
}

/** A store under test with promises, and with all optional operations. */
interface Tried {
  readonly commit: (step: Commit) => Promise<void>
  /** Returns the failure of a commit that must fail. */
  readonly refused: (step: Commit) => Promise<unknown>
  readonly load: (id: string) => Promise<RunState | undefined>
  readonly list: (
    options?: { readonly limit?: number; readonly before?: number }
  ) => Promise<ReadonlyArray<SessionInfo>>
  readonly fork: (id: string, to: string) => Promise<Exit.Exit<void, unknown>>
  readonly remove: (id: string) => Promise<boolean>
  readonly records: (id: string) => Promise<ReadonlyArray<unknown>>
  readonly store: SessionStore
}

const run = Effect.runPromise

const promiseFace = (store: SessionStore): Tried => {
  const has = <K extends "list" | "fork" | "remove" | "records">(operation: K): NonNullable<SessionStore[K]> =>
    store[operation] ?? broken(`the store has no \`${operation}\`: give it one, or list it in \`without\``)
  return {
    store,
    commit: (step) => run(store.commit(step)),
    refused: async (step) => {
      const exit = await Effect.runPromiseExit(store.commit(step))
      return Exit.isFailure(exit) ? Cause.squash(exit.cause) : broken(`a commit of revision ${step.revision} was taken`)
    },
    load: (id) => run(store.load(id)),
    list: (options) => run(has("list")(options)),
    fork: (id, to) => Effect.runPromiseExit(has("fork")(id, to)),
    remove: (id) => run(has("remove")(id)),
    records: (id) => run(has("records")(id))
  }
}

export const sessionLaws = (make: () => Promise<Subject>, without: ReadonlySet<string>): ReadonlyArray<Law> => {
  const law = (
    name: string,
    prove: (store: Tried, subject: Subject) => Promise<void>,
    ...needs: ReadonlyArray<string>
  ): ReadonlyArray<Law> =>
    needs.some((need) => without.has(need)) ? [] : [{
      name: `sessions: ${name}`,
      run: async () => {
        const subject = await make()
        try {
          await prove(promiseFace(subject.store), subject)
        } finally {
          await subject.dispose?.()
        }
      }
    }]
  return [
    ...law(
      "there is nothing where nothing was written",
      async ({ load }) => same(await load("nobody"), undefined, "load")
    ),
    ...law("what was committed is loaded", async ({ commit, load }) => {
      const plain = state()
      const waiting = suspendedState({ sessionId: "s2" })
      await commit(commitOf(plain))
      await commit(commitOf(waiting))
      same(await load("session-1"), plain, "load")
      same(await load("s2"), waiting, "load of a state that waits")
    }),
    ...law("a step adds its messages and replaces the rest of the state", async ({ commit, load }) => {
      let whole = state({ messages: talk(2), hookState: { old: 1 } })
      await commit(commitOf(whole))
      for (let revision = 2; revision < 6; revision++) {
        whole = state({
          revision,
          messages: [...whole.messages, ...talk(3, whole.messages.length)],
          hookState: { [`k${revision}`]: revision }
        })
        await commit(commitOf(whole, whole.messages.length - 3))
      }
      same(await load("session-1"), whole, "load")
    }),
    ...law("what stood behind `from` is dropped, all of it when that is 0", async ({ commit, load }) => {
      await commit(commitOf(state({ messages: talk(10) })))
      const shorter = state({ revision: 2, messages: [...talk(4), ...talk(2, 100)] })
      await commit(commitOf(shorter, 4))
      same(await load("session-1"), shorter, "load after the tail was replaced")
      const cut = state({ revision: 3, messages: talk(2) })
      await commit(commitOf(cut, 2))
      same(await load("session-1"), cut, "load after the tail was cut off")
      const compacted = state({ revision: 4, messages: talk(1, 500) })
      await commit(commitOf(compacted, 0))
      same(await load("session-1"), compacted, "load after all was replaced")
    }),
    ...law(
      "a step that does not follow is a conflict, and nothing of it is kept",
      async ({ commit, load, refused, store }) => {
        const whole = state({ messages: talk(3) })
        await commit(commitOf(whole, 0, ["first"]))
        await commit(commitOf({ ...whole, revision: 2 }, 3, ["second"]))
        for (const revision of [1, 2, 4, 99]) {
          const error = await refused(
            commitOf(state({ revision, messages: talk(1, 900), hookState: { lost: true } }), 0, ["lost"])
          )
          if (!(error instanceof SessionConflict)) {
            broken(
              `revision ${revision} failed with ${short(error)}, not with a SessionConflict`
            )
          }
          const { expected, found, sessionId } = error as SessionConflict
          same(
            { expected, found, sessionId },
            { expected: revision - 1, found: 2, sessionId: "session-1" },
            "the conflict"
          )
          same(await load("session-1"), { ...whole, revision: 2 }, "load after the conflict")
        }
        if (store.records !== undefined) {
          same(
            await run(store.records("session-1")),
            ["first", "second"],
            "records after the conflict"
          )
        }
      }
    ),
    ...law("a new session may come with a history and a revision", async ({ commit, load }) => {
      const grown = state({ revision: 7, turnNumber: 3, messages: talk(5) })
      await commit(commitOf(grown))
      same(await load("session-1"), grown, "load")
    }),
    ...law("of many that commit at once, exactly one wins", async ({ commit, load, store }, { reopen }) => {
      const other = await reopen?.() ?? store
      for (let revision = 1; revision <= 10; revision++) {
        const steps = Array.from(
          { length: 8 },
          (_, writer) =>
            commitOf(
              state({
                revision,
                messages: [{ role: "user", content: `${revision} by ${writer}` }],
                hookState: { writer }
              })
            )
        )
        if (revision === 1) await commit(steps[0]!)
        else {
          const exits = await Promise.all(
            steps.map((step, index) => Effect.runPromiseExit((index % 2 === 0 ? store : other).commit(step)))
          )
          const winners = exits.flatMap((exit, writer) => Exit.isSuccess(exit) ? [writer] : [])
          same(winners.length, 1, "winners")
          const kept = await load("session-1")
          same(
            [kept?.revision, kept?.hookState, kept?.messages],
            [revision, { writer: winners[0] }, steps[winners[0]!]!.messages],
            "what was kept"
          )
        }
      }
    }),
    ...law("all of a step is kept, or nothing", async ({ commit, load, store }) => {
      const whole = state({ messages: talk(2) })
      await commit(commitOf(whole))
      const ring: Record<string, unknown> = {}
      ring["self"] = ring
      const step = commitOf(state({ revision: 2, messages: talk(4), hookState: { after: true } }), 2, ["good", ring])
      const exit = await Effect.runPromiseExit(store.commit(step))
      same(
        await load("session-1"),
        Exit.isSuccess(exit) ? step.snapshot() : whole,
        "load after a step that could not be written"
      )
      const next = Exit.isSuccess(exit) ? 3 : 2
      await commit(commitOf({ ...whole, revision: next }, 2))
    }),
    ...law("what was given and what is loaded are copies", async ({ commit, load }) => {
      const message = { role: "user" as const, content: [{ type: "text" as const, text: "original" }] }
      const whole = state({ messages: [message], hookState: { list: ["original"] } })
      const expected = structuredClone(whole)
      await commit(commitOf(whole))
      message.content[0]!.text = "changed"
      const list = whole.hookState["list"] as Array<string>
      list[0] = "changed"
      same(await load("session-1"), expected, "load after the given state was changed")
      const loaded = await load("session-1") as
        | { messages: Array<unknown>; hookState: Record<string, unknown> }
        | undefined
      loaded?.messages.push("changed")
      if (loaded !== undefined) loaded.hookState["more"] = 1
      same(await load("session-1"), expected, "load after the loaded state was changed")
    }),
    ...law("texts come back exactly as they were", async ({ commit, load }) => {
      const whole = state({
        messages: texts.map((content) => ({ role: "user", content })),
        hookState: { texts: [...texts] }
      })
      await commit(commitOf(whole))
      const found = await load("session-1")
      for (const [index, text] of texts.entries()) {
        holds(found?.messages[index]?.content === text, `text ${index} came back changed`)
      }
      same(found?.hookState, whole.hookState, "texts in the state")
    }),
    ...law("keys named like members of objects are only keys", async ({ commit, load }) => {
      const args = JSON.parse("{\"constructor\":1,\"toString\":{\"hasOwnProperty\":2},\"valueOf\":null}") as Record<
        string,
        never
      >
      const call = { id: "c1", name: "constructor", args }
      const whole = state({
        messages: [
          { role: "user", content: "go" },
          { role: "assistant", content: "", toolCalls: [call] },
          { role: "tool", toolCallId: "c1", toolName: "constructor", content: args }
        ],
        hookState: args
      })
      await commit(commitOf(whole))
      same(await load("session-1"), whole, "load")
      const polluting = state({
        revision: 2,
        messages: whole.messages,
        hookState: JSON.parse("{\"__proto__\":{\"polluted\":true}}") as never
      })
      await commit(commitOf(polluting, 3))
      await load("session-1")
      holds(({} as { readonly polluted?: unknown }).polluted === undefined, "no prototype was touched")
    }),
    ...law("a session may be large", async ({ commit, load }) => {
      const long = "0123456789abcdef".repeat(2 ** 17)
      const whole = state({ messages: [{ role: "user", content: long }, ...talk(5000)] })
      await commit(commitOf(whole))
      const found = await load("session-1")
      holds(found?.messages[0]?.content === long, "a message of 2 MiB came back changed")
      same(found?.messages.length, 5001, "messages")
    }),
    ...law("adding to a long conversation costs no more than adding to a short one", async ({ commit, load }) => {
      const quickest = async (sessionId: string, length: number) => {
        const messages = [...talk(length)]
        await commit(commitOf(state({ sessionId, messages })))
        let best = Infinity
        for (let revision = 2; revision < 32; revision++) {
          messages.push({ role: "user", content: "one more" })
          const step = commitOf(state({ sessionId, revision, messages }), messages.length - 1)
          const began = performance.now()
          await commit(step)
          best = Math.min(best, performance.now() - began)
        }
        same((await load(sessionId))?.messages.length, length + 30, "messages")
        return best
      }
      const short = await quickest("short", 10)
      const long = await quickest("long", 100_000)
      holds(
        long < Math.max(short, 0.2) * 20,
        `one more message took ${long.toFixed(2)} ms after 100,000, ${short.toFixed(2)} ms after 10`
      )
    }, "append-cost"),
    ...law("an id that is no session's is refused or is only an id", async ({ commit, load, store }) => {
      const mine = state({ sessionId: "s", messages: talk(1) })
      await commit(commitOf(mine))
      await commit(commitOf(state({ sessionId: "S", messages: talk(1, 50) })))
      const hostile = [
        "__proto__",
        "constructor",
        "../s",
        "s/../s",
        "s/",
        "./s",
        "s\u0000",
        "%",
        "_",
        "*",
        "",
        " s",
        "s' OR '1'='1",
        "s\n",
        "\uFF53",
        "s.json",
        "x".repeat(5000)
      ]
      for (const id of hostile) {
        const name = JSON.stringify(id.slice(0, 40))
        const theirs = state({ sessionId: id, messages: talk(1, 99) })
        const exit = await Effect.runPromiseExit(store.commit(commitOf(theirs)))
        const found = await Effect.runPromiseExit(store.load(id))
        if (Exit.isSuccess(exit)) same(Exit.isSuccess(found) ? found.value : found, theirs, `load of ${name}`)
        else holds(Exit.isFailure(found) || found.value === undefined, `${name} was refused, and is there`)
        same(await load("s"), mine, `the session s, after ${name}`)
      }
      same((await load("S"))?.messages, talk(1, 50), "the session S")
    }),
    ...law("decision records are kept in order", async ({ commit, records }) => {
      same(await records("session-1"), [], "records of nobody")
      const kept = [{ point: "preTurn", hooks: [] }, "two", null, 4, [5]]
      await commit(commitOf(state(), 0, kept.slice(0, 2)))
      await commit(commitOf(state({ revision: 2 }), 2))
      await commit(commitOf(state({ revision: 3 }), 2, kept.slice(2)))
      await commit(commitOf(state({ sessionId: "s2" }), 0, ["of another"]))
      same(await records("session-1"), kept, "records")
    }, "records"),
    ...law("the list says what is known of each session", async ({ commit, list }) => {
      await commit(commitOf(state({ sessionId: "idle", turnNumber: 4 })))
      await commit(commitOf(suspendedState({ sessionId: "waits" })))
      await commit(commitOf(suspendedState({ sessionId: "open", calls: [] })))
      const [before] = (await list()).filter(({ id }) => id === "idle")
      const facts = (await list()).map(({ id, messages, revision, status, turnNumber }) => ({
        id,
        messages,
        revision,
        status,
        turnNumber
      }))
      same(facts.toSorted((a, b) => a.id < b.id ? -1 : 1), [
        { id: "idle", messages: 2, revision: 1, status: "idle", turnNumber: 4 },
        { id: "open", messages: 1, revision: 1, status: "open", turnNumber: 1 },
        { id: "waits", messages: 1, revision: 1, status: "suspended", turnNumber: 1 }
      ], "list")
      await commit(commitOf(state({ sessionId: "idle", revision: 2, messages: talk(9) }), 0))
      const [after] = (await list()).filter(({ id }) => id === "idle")
      same([after?.revision, after?.messages, after?.createdAt], [2, 9, before?.createdAt], "what changed")
      holds((after?.updatedAt ?? 0) > (before?.updatedAt ?? 0), "a change is later than the one before")
    }, "list"),
    ...law("the list has the last changed first, in pages that miss none", async ({ commit, list }) => {
      const ids = Array.from({ length: 105 }, (_, index) => `s${index}`)
      for (const sessionId of ids) await commit(commitOf(state({ sessionId })))
      await commit(commitOf(state({ sessionId: "s0", revision: 2 }), 2))
      const expected = ["s0", ...ids.slice(1).reverse()]
      same((await list()).map(({ id }) => id), expected.slice(0, 100), "the first 100")
      const seen: Array<string> = []
      let before: number | undefined
      for (let page = 0; page < 20; page++) {
        const some = await list({ limit: 10, ...(before === undefined ? {} : { before }) })
        seen.push(...some.map(({ id }) => id))
        before = some.at(-1)?.updatedAt
        if (before === undefined) break
      }
      same(seen, expected, "all pages")
      same(await list({ limit: 0 }), [], "a page of none")
    }, "list"),
    ...law("a fork has all of a session, and goes its own way", async ({ commit, fork, load, records, store }) => {
      const whole = suspendedState()
      await commit(commitOf(whole, 0, ["first"]))
      const { artifacts } = store
      if (artifacts !== undefined) await run(artifacts.write("session-1", "hook:draft", "text", { by: "h" }))
      same((await fork("session-1", "copy"))._tag, "Success", "fork")
      same(await load("copy"), { ...whole, sessionId: "copy" }, "load of the fork")
      if (!without.has("records")) same(await records("copy"), ["first"], "records of the fork")
      if (artifacts !== undefined) same(await run(artifacts.read("copy", "hook:draft")), "text", "artifact of the fork")
      await commit(commitOf({ ...whole, sessionId: "copy", revision: 2, messages: [...whole.messages, ...talk(1)] }, 1))
      if (artifacts !== undefined) await run(artifacts.append("copy", "hook:draft", "!", { by: "h" }))
      same(await load("session-1"), whole, "the first, after the fork went on")
      await commit(commitOf({ ...whole, revision: 2, messages: [...whole.messages, ...talk(2, 70)] }, 1))
      same(
        (await load("copy"))?.messages.length,
        whole.messages.length + 1,
        "messages of the fork, after the first went on"
      )
      if (artifacts !== undefined) {
        same(await run(artifacts.read("session-1", "hook:draft")), "text", "artifact of the first")
      }
    }, "fork"),
    ...law(
      "a fork takes no id that is taken, and copies no session that is not there",
      async ({ commit, fork, load }) => {
        await commit(commitOf(state()))
        await commit(commitOf(state({ sessionId: "taken", messages: talk(3) })))
        same((await fork("session-1", "taken"))._tag, "Failure", "fork to an id that is taken")
        same((await fork("session-1", "session-1"))._tag, "Failure", "fork to its own id")
        same((await fork("nobody", "new"))._tag, "Failure", "fork of nobody")
        same(await load("taken"), state({ sessionId: "taken", messages: talk(3) }), "the session whose id it is")
        same(await load("new"), undefined, "the id that is free")
      },
      "fork"
    ),
    ...law(
      "a removed session is gone with all that was its, and its id is free",
      async ({ commit, load, remove, store }) => {
        await commit(commitOf(state(), 0, ["first"]))
        await commit(commitOf(state({ sessionId: "other" })))
        const { artifacts } = store
        if (artifacts !== undefined) {
          for (const id of ["session-1", "other"]) await run(artifacts.write(id, "k", "text", { by: "h" }))
        }
        same(
          [await remove("session-1"), await remove("session-1"), await remove("nobody")],
          [true, false, false],
          "remove"
        )
        same(await load("session-1"), undefined, "load")
        if (store.records !== undefined) same(await run(store.records("session-1")), [], "records")
        if (store.list !== undefined) same((await run(store.list())).map(({ id }) => id), ["other"], "list")
        if (artifacts !== undefined) {
          same(
            [await run(artifacts.list("session-1")), await run(artifacts.read("other", "k"))],
            [[], "text"],
            "artifacts"
          )
        }
        await commit(commitOf(state({ messages: talk(1) }), 0, ["anew"]))
        same(await load("session-1"), state({ messages: talk(1) }), "load of the new one")
        if (store.records !== undefined) same(await run(store.records("session-1")), ["anew"], "records of the new one")
      },
      "remove"
    ),
    ...law("another process sees what was committed, and goes on with it", async ({ commit, load }, { reopen }) => {
      if (reopen === undefined) return
      const whole = suspendedState()
      await commit(commitOf(whole))
      const other = promiseFace(await reopen())
      same(await other.load("session-1"), whole, "load elsewhere")
      const next = { ...whole, revision: 2, messages: [...whole.messages, ...talk(1)] }
      await other.commit(commitOf(next, 1))
      same(await load("session-1"), next, "load after the other wrote")
    })
  ]
}
