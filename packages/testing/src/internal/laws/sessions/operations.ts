/** Laws about records, the list, forks, removal, and other processes. */
import { commitOf, state, suspendedState, talk } from "../fixtures.ts"
import { holds, same } from "../law.ts"
import { law, promiseFace, run, type SessionLaw } from "./face.ts"

export const operationLaws: ReadonlyArray<SessionLaw> = [
  law("decision records are stored in order", async ({ commit, records }) => {
    same(await records("session-1"), [], "records of nobody")
    const kept = [{ point: "preTurn", hooks: [] }, "two", null, 4, [5]]
    await commit(commitOf(state(), 0, kept.slice(0, 2)))
    await commit(commitOf(state({ revision: 2 }), 2))
    await commit(commitOf(state({ revision: 3 }), 2, kept.slice(2)))
    await commit(commitOf(state({ sessionId: "s2" }), 0, ["of another"]))
    same(await records("session-1"), kept, "records")
  }, "records"),
  law("the revision is that of the last commit, also for another process", async ({ commit, store }, { reopen }) => {
    const revisionOf = ({ revision }: typeof store) => async (id: string) =>
      revision === undefined ? "none" : run(revision(id))
    if (store.revision === undefined) return
    same(await revisionOf(store)("session-1"), undefined, "revision of a session that was never written")
    const other = await reopen?.() ?? store
    for (let revision = 1; revision < 4; revision++) {
      await commit(commitOf(state({ revision })))
      same(await revisionOf(store)("session-1"), revision, "revision")
      same(await revisionOf(other)("session-1"), revision, "revision elsewhere")
    }
    await commit(commitOf(state({ sessionId: "grown", revision: 7 })))
    same(await revisionOf(store)("grown"), 7, "revision of a session that starts with one")
  }),
  law("why a turn stopped and the number of its last event are kept", async ({ commit, load, store }) => {
    const stops = [
      { status: "limited", stop: { type: "limit", limit: "steps", used: 3, max: 3 } },
      { status: "open", stop: { type: "parked" } }
    ] as const
    for (const { status, stop } of stops) {
      const whole = state({ sessionId: status, phase: "model", stop, lastEvent: 42 })
      await commit(commitOf(whole))
      same(await load(status), whole, "load")
      if (store.list === undefined) continue
      const listed = (await run(store.list())).find(({ id }) => id === status)
      same(listed?.status, status, "status in the list")
    }
  }),
  law("the list describes each session", async ({ commit, list }) => {
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
  law("the list starts with the last change, and its pages miss no session", async ({ commit, list }) => {
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
    const some = async (options: Parameters<typeof list>[0]) => (await list(options)).map(({ id }) => id)
    same(await some({ ids: ["s7", "missing", "s8", "s0"] }), ["s0", "s8", "s7"], "the sessions with some ids")
    same(await some({ ids: ["s7", "s8", "s0"], limit: 1 }), ["s0"], "the first of the sessions with some ids")
    same(await some({ ids: [] }), [], "the sessions with none of the ids")
  }, "list"),
  law("a fork has everything of a session and is independent of it", async ({ commit, fork, load, records, store }) => {
    const whole = suspendedState()
    await commit(commitOf(whole, 0, ["first"]))
    const { artifacts } = store
    if (artifacts !== undefined) await run(artifacts.write("session-1", "hook:draft", "text", { by: "h" }))
    same((await fork("session-1", "copy"))._tag, "Success", "fork")
    same(await load("copy"), { ...whole, sessionId: "copy" }, "load of the fork")
    if (store.records !== undefined) same(await records("copy"), ["first"], "records of the fork")
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
  law(
    "a fork fails for an existing id and for a missing session",
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
  law(
    "a removed session is gone with all its data, and its id is free",
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
  law("another process sees a committed session and can continue it", async ({ commit, load }, { reopen }) => {
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
