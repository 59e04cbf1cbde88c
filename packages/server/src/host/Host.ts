/**
 * Runs the sessions of an agent: messages, wake-ups and approvals that survive every process.
 *
 * @since 0.1.0
 */
import * as Awaitable from "@belay/core/Awaitable"
import { defined } from "@belay/core/Fields"
import type { Capacity, Inbox } from "@belay/core/Inbox"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { HostError } from "./HostError.ts"
import type { EventOptions } from "./HostEvent.ts"
import { advanceOnce } from "./internal/advance/advanceOnce.ts"
import { awaitOutcome } from "./internal/awaitOutcome.ts"
import { careOf } from "./internal/care/care.ts"
import { eraseAll, readErasing } from "./internal/care/erase.ts"
import { overviewOf } from "./internal/care/overview.ts"
import { readRetention } from "./internal/care/retention.ts"
import { readSchedules } from "./internal/care/schedules.ts"
import { makeEventFeed } from "./internal/events/eventFeed.ts"
import { readAfter, readEvents } from "./internal/events/readEvents.ts"
import { activityOf, conversationOf } from "./internal/hostReads.ts"
import type { Host, Options, SendOptions } from "./internal/hostTypes.ts"
import { optional, part, storing } from "./internal/optionChecks.ts"
import { checkRead, entriesKinds, listKinds, overviewKinds } from "./internal/readOptions.ts"
import { sharedTime } from "./internal/sharedTime.ts"
import { adding, addingCancellation } from "./internal/site/addEntry.ts"
import { newCounters } from "./internal/site/counters.ts"
import {
  checkCall,
  checkSessionId,
  checkTexts,
  readDecisions,
  readMessage,
  stored,
  wrongInput
} from "./internal/site/readInput.ts"
import type { Site } from "./internal/site/site.ts"
import { Suspects } from "./internal/site/suspects.ts"
import { startHost } from "./internal/startHost.ts"
import * as LocalEngine from "./LocalEngine.ts"
import * as Outcome from "./Outcome.ts"

export type { EventOptions, HostEvent, HostEvents } from "./HostEvent.ts"
export type { EraseReceipt, EraseTarget } from "./internal/care/erase.ts"
export type { OverviewOptions, SessionOverview, SessionState } from "./internal/care/overview.ts"
export type { Retention } from "./internal/care/retention.ts"
export type { Schedule } from "./internal/care/schedules.ts"
export type { Activity, Conversation, Host, Options, SendOptions, Status } from "./internal/hostTypes.ts"
export type { Sent } from "./internal/site/addEntry.ts"
export type { Counters } from "./internal/site/counters.ts"
export type { HostedAgent } from "./internal/site/site.ts"
export type { Running } from "./internal/startHost.ts"

/** How long an engine lets one session have its way before others get their turn, in milliseconds. */
const sliceMs = 1_000

const optionKinds: OptionKinds<Options> = {
  agent: "object",
  store: "object",
  engine: "object",
  maxAttempts: "number",
  capacity: "object",
  pollMs: "number",
  concurrency: "number",
  schedules: "list",
  release: "text",
  retention: "object"
}

const sendKinds: OptionKinds<SendOptions> = { key: "text", at: "any", mode: "text", tenant: "text", history: "any" }

const decideKinds: OptionKinds<{ readonly key?: string }> = { key: "text" }

const capacityKinds: OptionKinds<Capacity> = {
  inAll: "number",
  perTenant: "number",
  perSession: "number",
  sessionsPerTenant: "number"
}

/**
 * Makes a host. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as Host from "@belay/server/Host"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as SqliteStore from "@belay/providers/SqliteStore"
 *
 * const store = SqliteStore.make({ path: ":memory:" })
 * const provider = OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" })
 * export const host = Host.make({ agent: createAgent({ provider, store: store.sessions }), store })
 *
 * export const ask = async (user: string, question: string) => {
 *   const { key } = await host.send(user, question)
 *   return host.result(user, key)
 * }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Host => {
  Result.getOrThrow(checkKinds("host", options, optionKinds, ["agent", "store"]))
  const { agent, capacity, concurrency = 64, maxAttempts = 5, pollMs = 500, release, store } = options
  const { inbox, sessions } = store
  Result.getOrThrow(checkOptions(
    "host",
    part("agent", agent, ["session"], "an agent of createAgent"),
    storing(agent),
    part("store.sessions", sessions, ["load"], "a session store: pass the store that SqliteStore.make returns"),
    part("store.inbox", inbox, ["add", "open"], "an inbox: pass the store that SqliteStore.make returns"),
    optional("store.events", store.events, ["write", "read", "prune"], "an event log, such as EventLog.inMemory()"),
    optional("store.erasure", store.erasure, ["find", "erase"], "the erasure of a SqliteStore"),
    optional("engine", options.engine, ["wake", "start"], "what PgBossEngine.make returns"),
    pinning(release, inbox),
    whole("maxAttempts", maxAttempts, 1),
    whole("pollMs", pollMs, 1),
    whole("concurrency", concurrency, 1),
    whole("capacity.inAll", capacity?.inAll ?? 1, 1),
    whole("capacity.perTenant", capacity?.perTenant ?? 1, 1),
    whole("capacity.perSession", capacity?.perSession ?? 1, 1),
    whole("capacity.sessionsPerTenant", capacity?.sessionsPerTenant ?? 1, 1)
  ))
  Result.getOrThrow(checkKinds("host.capacity", capacity ?? {}, capacityKinds))
  const schedules = readSchedules(options.schedules ?? [])
  const retention = readRetention(options.retention ?? {}, store)
  const engine = options.engine ?? LocalEngine.make({ inbox, concurrency, pollMs, ...defined({ release }) })
  const site: Site = {
    agent,
    sessions,
    inbox,
    engine,
    maxAttempts,
    release,
    pollMs,
    time: sharedTime(inbox),
    feed: makeEventFeed(store.events),
    running: new Map(),
    listeners: new Map(),
    suspects: new Suspects(),
    outages: new Map(),
    counters: newCounters(),
    isDraining: false
  }
  const advance = advanceOnce(site)
  const add = adding(site)
  const addCancellation = addingCancellation(site)
  return {
    send: (sessionId, message, options = {}) =>
      Awaitable.make(Effect.gen(function*() {
        const { at, history, key = crypto.randomUUID(), mode, tenant } = yield* checkCall(
          sessionId,
          "send",
          options,
          sendKinds
        )
        const body = yield* readMessage(sessionId, message, at, history)
        const kind = mode === "steer" ? "steer" : "message"
        return yield* add({ sessionId, key, kind, body, at: Number(at ?? 0), ...defined({ tenant }) }, capacity)
      })),
    decide: (sessionId, decisions, options = {}) =>
      Awaitable.make(Effect.gen(function*() {
        const { key = crypto.randomUUID() } = yield* checkCall(sessionId, "decide", options, decideKinds)
        const body = yield* readDecisions(sessionId, decisions)
        return yield* add({ sessionId, key, kind: "decide", body, at: 0 })
      })),
    cancel: (sessionId, key) =>
      Awaitable.make(Effect.andThen(
        Effect.andThen(checkTexts({ "session id": sessionId, key }), checkSessionId(sessionId)),
        addCancellation(sessionId, key)
      )),
    result: (sessionId, key, options = {}) =>
      Awaitable.make(
        Effect.andThen(checkTexts({ "session id": sessionId, key }), awaitOutcome(site, sessionId, key)),
        (effect) => runWith(effect, (Object(options) as typeof options).signal)
      ),
    status: (sessionId, key) =>
      Awaitable.make(Effect.gen(function*() {
        yield* checkTexts({ "session id": sessionId, key })
        const entry = yield* stored(inbox.get(sessionId, key))
        if (entry === undefined) return undefined
        const { attempts, status } = entry
        const outcome = status === "begun" ? undefined : Outcome.fromJson(entry.outcome)
        return { status, attempts, ...defined({ outcome }) }
      })),
    conversation: (sessionId) =>
      Awaitable.make(Effect.andThen(
        checkSessionId(sessionId),
        stored(conversationOf(sessions, inbox, sessionId))
      )),
    list: (options = {}) =>
      Awaitable.make(Effect.gen(function*() {
        const { status, ...page } = yield* checkRead("list", options, listKinds)
        const all = yield* stored(sessions.list?.(page) ?? Effect.succeed([]))
        return status === undefined ? all : all.filter((one) => one.status === status)
      })),
    entries: (options) =>
      Awaitable.make(Effect.gen(function*() {
        const { limit = 100, ...page } = yield* checkRead("entries", options, entriesKinds, ["status"])
        const { list } = yield* careOf(inbox)
        return yield* stored(list({ limit, ...page }))
      })),
    overview: (options = {}) =>
      Awaitable.make(
        Effect.flatMap(checkRead("overview", options, overviewKinds), (checked) => stored(overviewOf(site, checked)))
      ),
    retry: (sessionId, key) =>
      Awaitable.make(Effect.gen(function*() {
        yield* checkTexts({ "session id": sessionId, key })
        const { revive } = yield* careOf(inbox)
        const isRevived = yield* stored(revive(sessionId, key))
        if (isRevived) yield* stored(engine.wake(sessionId))
        return isRevived
      })),
    drop: (sessionId, key) =>
      Awaitable.make(Effect.gen(function*() {
        yield* checkTexts({ "session id": sessionId, key })
        const { drop } = yield* careOf(inbox)
        return yield* stored(drop(sessionId, key))
      })),
    move: (sessionId, release) =>
      Awaitable.make(Effect.gen(function*() {
        yield* checkTexts({ "session id": sessionId, ...defined({ release }) })
        yield* checkSessionId(sessionId)
        if (release === "") return yield* Effect.fail(wrongInput(sessionId, "the release must be a name, or undefined"))
        if (inbox.pin === undefined) return yield* Effect.fail(cannotPin)
        yield* stored(Effect.andThen(inbox.pin(sessionId, release), engine.wake(sessionId)))
        site.running.get(sessionId)?.look()
      })),
    running: () => [...site.running.keys()],
    activity: () => Awaitable.make(stored(activityOf(site))),
    events: (sessionId, options = {}) =>
      readEvents(Effect.suspend(() => {
        const { after, signal } = Object(options) as EventOptions
        const number = typeof after === "string" ? readAfter(after) : undefined
        const reading = { feed: site.feed, pollMs, sessionId, after: number, signal }
        return after !== undefined && number === undefined
          ? Effect.fail(wrongInput(sessionId, "after: expected the id of an event"))
          : Effect.as(checkSessionId(sessionId), reading)
      })),
    advance: (sessionId) =>
      Awaitable.make(Effect.andThen(checkTexts({ "session id": sessionId }), stored(advance(sessionId)))),
    erase: (target, options = {}) =>
      Awaitable.make(Effect.flatMap(
        readErasing(target, options),
        (withinMs) => eraseAll(site, store.erasure, target, withinMs)
      )),
    start: () => Awaitable.make(startHost(site, (sessionId) => advance(sessionId, sliceMs), schedules, retention))
  }
}

const cannotPin = new HostError({
  problem: "store",
  message: "the inbox of this host cannot pin sessions: use that of a SqliteStore or a PostgresStore"
})

const pinning = (release: string | undefined, inbox: Inbox | undefined) =>
  [
    "release",
    release ?? "none",
    (name: string) => name !== "" && (release === undefined || inbox?.pin !== undefined),
    "a name, and an inbox that can `pin`, such as that of a SqliteStore"
  ] as const

/** Runs an Effect. If the signal aborts, the promise rejects with its reason. */
const runWith = <A, E>(effect: Effect.Effect<A, E>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return Awaitable.runPromise(effect)
  const aborted = Effect.callback<never, unknown>((resume) => {
    const abort = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })
  return Awaitable.runPromise(Effect.raceFirst(aborted, effect))
}
