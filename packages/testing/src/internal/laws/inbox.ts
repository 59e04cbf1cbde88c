/** The laws of inboxes. */
import type { Due, Inbox, NewEntry } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { compare, dueIds, entry, keysOf, run } from "./inboxEntries.ts"
import { type Law, same } from "./law.ts"

interface Subject {
  readonly inbox: Inbox
  readonly reopen?: () => Promise<Inbox> | Inbox
  readonly dispose?: () => Promise<void> | void
}

/** One law: its name, and what it checks. */
type InboxLaw = readonly [name: string, prove: (inbox: Inbox, subject: Subject) => Promise<void>]

const laws: ReadonlyArray<InboxLaw> = [
  ["an entry is returned as it was added, and waits", async (inbox) => {
    const given = entry("k", { tenant: "t", body: { message: "a\0\ud800 👋", list: [1, null, { deep: true }] } })
    const added = await run(inbox.add(given))
    same(added.type, "added", "what add returns")
    const found = await run(inbox.get("s", "k"))
    const { attempts, seq: _seq, status, ...rest } = found!
    same([attempts, status], [0, "waiting"], "a new entry")
    same(rest, given, "the entry")
    same(await run(inbox.open("s")), [found], "open")
    same([await run(inbox.get("s", "other")), await run(inbox.get("other", "k"))], [undefined, undefined], "missing")
  }],
  ["a key is added once in its session, also if it is finished or added by another process", async (inbox, subject) => {
    const other = await subject.reopen?.() ?? inbox
    await run(inbox.add(entry("k")))
    const again = await run(other.add(entry("k", { body: "other", kind: "steer" })))
    same(again.type, "known", "the second add")
    same(again.type === "known" ? again.entry.body : undefined, { message: "k" }, "its entry")
    same((await run(inbox.add(entry("k", { sessionId: "s2" })))).type, "added", "the same key in another session")
    await run(inbox.report("s", "k", "done", "over"))
    const last = await run(other.add(entry("k")))
    same(last.type === "known" ? last.entry.status : last.type, "done", "the key of a finished entry")
  }],
  ["of many adds of one key at once, exactly one is added", async (inbox, subject) => {
    const other = await subject.reopen?.() ?? inbox
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) => run((index % 2 ? inbox : other).add(entry("k", { body: index }))))
    )
    same(all.filter(({ type }) => type === "added").length, 1, "how many were added")
    same(await keysOf(inbox), ["k"], "open")
  }],
  ["unfinished entries are in the order in which they were added, whenever they are due", async (inbox) => {
    for (const [index, at] of [5, 1, 9, 3].entries()) await run(inbox.add(entry(`k${index}`, { at })))
    await run(inbox.report("s", "k1", "done", null))
    await run(inbox.report("s", "k2", "suspended", null))
    await run(inbox.begin("s", "k3"))
    same(await keysOf(inbox), ["k0", "k2", "k3"], "open")
  }],
  ["begin counts attempts of an unfinished entry, and does nothing to another one", async (inbox, subject) => {
    const other = await subject.reopen?.() ?? inbox
    await run(inbox.add(entry("k")))
    same((await run(inbox.begin("s", "k")))?.attempts, 1, "the first attempt")
    const second = await run(other.begin("s", "k"))
    same([second?.attempts, second?.status], [2, "begun"], "the second attempt")
    same(await run(inbox.begin("s", "missing")), undefined, "a missing entry")
    await run(inbox.report("s", "k", "dead", "poison"))
    same(await run(inbox.begin("s", "k")), undefined, "a finished entry")
    same((await run(inbox.get("s", "k")))?.attempts, 2, "attempts of the finished entry")
  }],
  ["a finished entry does not change any more", async (inbox, subject) => {
    const other = await subject.reopen?.() ?? inbox
    for (const status of ["done", "dead"] as const) {
      await run(inbox.add(entry(status)))
      await run(inbox.report("s", status, "suspended", { pending: [1] }))
      same((await run(other.get("s", status)))?.outcome, { pending: [1] }, "the outcome of a suspended entry")
      await run(other.report("s", status, status, { text: "first" }))
      await run(inbox.report("s", status, "begun", { text: "second" }))
      const found = await run(inbox.get("s", status))
      same([found?.status, found?.outcome], [status, { text: "first" }], "the finished entry")
    }
    await run(inbox.report("s", "missing", "done", 1))
    same(await run(inbox.get("s", "missing")), undefined, "a report about nobody")
  }],
  ["sessions are due by their first entry that is neither finished nor suspended", async (inbox) => {
    await run(inbox.add(entry("a", { sessionId: "late", at: 30 })))
    await run(inbox.add(entry("b", { sessionId: "late", at: 20 })))
    await run(inbox.add(entry("c", { sessionId: "early", at: 10 })))
    await run(inbox.add(entry("d", { sessionId: "done", at: 1 })))
    await run(inbox.report("done", "d", "done", null))
    await run(inbox.add(entry("e", { sessionId: "asked", at: 1 })))
    await run(inbox.report("asked", "e", "suspended", null))
    await run(inbox.add(entry("f", { sessionId: "running", at: 15 })))
    await run(inbox.begin("running", "f"))
    same(await run(inbox.due({ until: 25, limit: 9 })), [
      { sessionId: "early", at: 10 },
      { sessionId: "running", at: 15 },
      { sessionId: "late", at: 20 }
    ], "due")
    same(await dueIds(inbox, 14), ["early"], "due earlier")
    same(await dueIds(inbox, 9), [], "due before all")
  }],
  ["messages behind a suspended one are not due, but decisions and cancellations are", async (inbox) => {
    for (const sessionId of ["s1", "s2", "s3"]) {
      await run(inbox.add(entry("asks", { sessionId })))
      await run(inbox.report(sessionId, "asks", "suspended", null))
      await run(inbox.add(entry("next", { sessionId })))
      await run(inbox.add(entry("word", { sessionId, kind: "steer" })))
    }
    same(await dueIds(inbox), [], "while all wait for people")
    await run(inbox.add(entry("yes", { sessionId: "s2", kind: "decide" })))
    await run(inbox.add(entry("stop", { sessionId: "s3", kind: "cancel", body: "asks" })))
    same(await dueIds(inbox), ["s2", "s3"], "with a decision and a cancellation")
    await run(inbox.report("s1", "asks", "done", null))
    same(await dueIds(inbox), ["s1", "s2", "s3"], "after the first is done")
  }],
  ["pages of due sessions miss none and repeat none", async (inbox) => {
    const expected: Array<Due> = []
    for (let index = 0; index < 25; index++) {
      const one = { sessionId: `s${String(index).padStart(2, "0")}`, at: 100 + Math.floor(index / 7) }
      expected.push(one)
      await run(inbox.add(entry("k", one)))
    }
    const seen: Array<Due> = []
    let after: Due | undefined
    for (let page = 0; page < 20; page++) {
      const some = await run(inbox.due({ until: 1_000, limit: 4, ...(after === undefined ? {} : { after }) }))
      seen.push(...some)
      after = some.at(-1)
      if (after === undefined) break
    }
    same(seen, expected, "all pages")
  }],
  ["sessions are due in turn of their tenants if that is asked for", async (inbox) => {
    const add = (sessionId: string, at: number, tenant?: string) =>
      run(inbox.add(entry("k", { sessionId, at, ...(tenant === undefined ? {} : { tenant }) })))
    for (let n = 1; n <= 5; n++) await add(`a${n}`, n, "a")
    await add("b1", 10, "b")
    await add("b2", 11, "b")
    await add("none", 12)
    await add("later", 60, "c")
    const due = async (limit: number) =>
      (await run(inbox.due({ until: 50, limit, fair: true }))).map(({ sessionId }) => sessionId)
    same(await due(4), ["a1", "b1", "none", "a2"], "the first four")
    same(await due(100), ["a1", "b1", "none", "a2", "b2", "a3", "a4", "a5"], "all")
  }],
  ["no more messages wait than the capacity allows, and a known key is known all the same", async (inbox, subject) => {
    const other = await subject.reopen?.() ?? inbox
    const typeOf = async (key: string, more: Partial<NewEntry>, capacity: object) =>
      run(
        Effect.map(other.add(entry(key, more), capacity), (added) => added.type === "full" ? added.limit : added.type)
      )
    await run(inbox.add(entry("1", { tenant: "a" })))
    await run(inbox.add(entry("2", { sessionId: "s2", tenant: "a" })))
    await run(inbox.add(entry("3", { sessionId: "s3" })))
    await run(inbox.add(entry("yes", { kind: "decide" })))
    same(await typeOf("4", {}, { inAll: 3 }), "inAll", "the fourth of 3")
    same(await typeOf("4", { tenant: "a" }, { perTenant: 2 }), "perTenant", "the third of a tenant")
    same(await typeOf("4", {}, { perSession: 1 }), "perSession", "the second of a session")
    same(await typeOf("1", {}, { inAll: 1 }), "known", "a known key")
    same(await run(inbox.get("s", "4")), undefined, "what was not added")
    same(await typeOf("4", { tenant: "b" }, { inAll: 4, perTenant: 2, perSession: 2 }), "added", "within all limits")
    await run(inbox.report("s2", "2", "done", null))
    same(await typeOf("5", { sessionId: "s5", tenant: "a" }, { perTenant: 2 }), "added", "after one was done")
  }],
  ["prune removes what was finished before, and nothing else", async (inbox) => {
    for (const key of ["old", "open", "dead"]) await run(inbox.add(entry(key)))
    await run(inbox.report("s", "old", "done", null))
    await run(inbox.report("s", "dead", "dead", null))
    same(await run(inbox.prune(0)), 0, "prune of the time before all")
    same(await run(inbox.prune(Number.MAX_SAFE_INTEGER)), 2, "prune of all")
    same(await run(inbox.get("s", "old")), undefined, "what was pruned")
    same(await keysOf(inbox), ["open"], "what is open")
    await run(inbox.add(entry("new")))
    same(await keysOf(inbox), ["open", "new"], "the order afterwards")
  }],
  ["a dead entry is listed, and waits again when it is revived", async (inbox) => {
    const { care } = inbox
    if (care === undefined) return
    for (const key of ["a", "b", "c"]) {
      await run(inbox.add(entry(key)))
      await run(inbox.begin("s", key))
      await run(inbox.report("s", key, key === "b" ? "done" : "dead", { why: key }))
    }
    const dead = await run(care.list({ status: "dead", limit: 10 }))
    same(dead.map(({ attempts, key, outcome }) => [key, attempts, outcome]), [
      ["a", 1, { why: "a" }],
      ["c", 1, { why: "c" }]
    ], "the dead")
    same((await run(care.list({ status: "dead", limit: 1 }))).map(({ key }) => key), ["a"], "the first page")
    const { seq } = dead[0]!
    same((await run(care.list({ status: "dead", limit: 9, after: seq }))).map(({ key }) => key), ["c"], "the second")
    same([await run(care.revive("s", "a")), await run(care.revive("s", "a"))], [true, false], "revive, twice")
    same([await run(care.revive("s", "b")), await run(care.revive("s", "x"))], [false, false], "revive of others")
    const { attempts, outcome, status } = (await run(inbox.get("s", "a")))!
    same([attempts, outcome, status], [0, undefined, "waiting"], "the revived entry")
    same(await dueIds(inbox), ["s"], "what is due")
    same([await run(care.drop("s", "c")), await run(care.drop("s", "b"))], [true, false], "drop")
    same(await run(inbox.get("s", "c")), undefined, "the dropped entry")
    same((await run(inbox.add(entry("c")))).type, "added", "its key again")
    same(await run(inbox.prune(Number.MAX_SAFE_INTEGER)), 1, "prune")
    same(await keysOf(inbox), ["a", "c"], "what is open in the end")
  }],
  ["messages that are not finished are counted by status", async (inbox) => {
    const { care } = inbox
    if (care === undefined) return
    same(await run(care.counts), { waiting: { count: 0 }, begun: { count: 0 }, suspended: { count: 0 } }, "at first")
    const statuses = ["waiting", "waiting", "begun", "suspended", "done", "dead"] as const
    for (const [n, status] of statuses.entries()) {
      await run(inbox.add(entry(`k${n}`, { at: 100 - n, sessionId: `s${n}` })))
      if (status !== "waiting") await run(inbox.report(`s${n}`, `k${n}`, status, null))
    }
    await run(inbox.add(entry("decision", { kind: "decide" })))
    same(await run(care.counts), {
      waiting: { count: 2, oldest: 99 },
      begun: { count: 1, oldest: 98 },
      suspended: { count: 1, oldest: 97 }
    }, "the counts")
  }],
  ["the sessions are claimed by one process at a time", async (inbox, { reopen }) => {
    const { claim } = await reopen?.() ?? {}
    if (inbox.claim === undefined || claim === undefined) return
    const holding = async (one: typeof claim, act: () => Promise<unknown>) =>
      run(Effect.scoped(Effect.tap(one, () => Effect.promise(act))))
    same(
      await holding(inbox.claim, async () => {
        same(await run(Effect.scoped(claim)), false, "a claim while another process has the sessions")
        same(await run(Effect.scoped(claim)), false, "a second claim while another process has the sessions")
      }),
      true,
      "the first claim"
    )
    same(await run(Effect.scoped(claim)), true, "a claim after the first process has given the sessions back")
    same(await run(Effect.scoped(inbox.claim)), true, "a claim of the first process after that")
  }],
  ["a session that is pinned to a release is due for that release alone, until it is pinned to another or none", async (
    inbox,
    { reopen }
  ) => {
    if (inbox.pin === undefined) return
    for (const sessionId of ["a", "b"]) await run(inbox.add(entry("k", { sessionId })))
    const dueFor = async (release?: string) => {
      const options = { until: 2_000, limit: 9, ...(release === undefined ? {} : { release }) }
      return (await run(inbox.due(options))).map(({ sessionId }) => sessionId)
    }
    const releases = async (one: Inbox) => (await run(one.open("a"))).map(({ release }) => release)
    same(await releases(inbox), [undefined], "a session that is not pinned")
    await run(inbox.pin("a", "v1 \u{1f44b}"))
    same([await dueFor("v1 \u{1f44b}"), await dueFor("v2"), await dueFor()], [["a", "b"], ["b"], ["b"]], "due")
    same(await releases(await reopen?.() ?? inbox), ["v1 \u{1f44b}"], "the entries of a pinned session")
    const listed = inbox.care === undefined ? [] : await run(inbox.care.list({ status: "waiting", limit: 9 }))
    if (listed.length > 0) same(listed.map(({ release }) => release), ["v1 \u{1f44b}", undefined], "the list")
    await run(inbox.pin("a", "v2"))
    same([await dueFor("v1 \u{1f44b}"), await dueFor("v2")], [["b"], ["a", "b"]], "due after it was moved")
    await run(inbox.pin("a", undefined))
    same([await dueFor("v1"), await dueFor()], [["a", "b"], ["a", "b"]], "due after it was unpinned")
  }],
  ["a tenant has at most as many sessions with unfinished messages as it may, and more messages in those", async (
    inbox
  ) => {
    const capacity = { sessionsPerTenant: 2 }
    const add = async (sessionId: string, key: string, tenant?: string) => {
      const more = tenant === undefined ? { sessionId } : { sessionId, tenant }
      const added = await run(inbox.add(entry(key, more), capacity))
      return added.type === "full" ? added.limit : added.type
    }
    same([await add("a", "1", "t"), await add("b", "1", "t")], ["added", "added"], "two sessions")
    same(await add("c", "1", "t"), "sessionsPerTenant", "a third one")
    same(
      [await add("a", "2", "t"), await add("c", "1", "u"), await add("d", "1")],
      ["added", "added", "added"],
      "others"
    )
    for (const key of ["1", "2"]) await run(inbox.report("a", key, "done", null))
    same(await add("e", "1", "t"), "added", "after one has finished")
  }],
  ["another process finds all of it", async (inbox, { reopen }) => {
    if (reopen === undefined) return
    await run(inbox.add(entry("k", { tenant: "t" })))
    await run(inbox.begin("s", "k"))
    await run(inbox.report("s", "k", "suspended", { pending: ["q"] }))
    const other = await reopen()
    same(await run(other.get("s", "k")), await run(inbox.get("s", "k")), "the entry elsewhere")
    same((await run(other.get("s", "k")))?.outcome, { pending: ["q"] }, "its outcome elsewhere")
  }],
  ["any sequence of operations has the same answers as in memory", async (inbox) => {
    for (const seed of [1, 2, 3]) await compare(inbox, `r${seed}-`, seed)
  }]
]

/** Returns the laws for inboxes that `make` creates. */
export const inboxLaws = (make: () => Promise<Subject>): ReadonlyArray<Law> =>
  laws.map(([name, prove]) => ({
    name: `inbox: ${name}`,
    run: async () => {
      const subject = await make()
      try {
        await prove(subject.inbox, subject)
      } finally {
        await subject.dispose?.()
      }
    }
  }))
