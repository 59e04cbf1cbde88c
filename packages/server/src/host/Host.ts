/**
 * Runs the sessions of an agent: messages, wake-ups and approvals that survive every process.
 *
 * @since 0.1.0
 */
import * as Awaitable from "@belay/core/Awaitable"
import type { Erasure } from "@belay/core/Erasure"
import type { EventLog } from "@belay/core/EventLog"
import { defined } from "@belay/core/Fields"
import type { Capacity, Care, Entry, Inbox } from "@belay/core/Inbox"
import type { Message } from "@belay/core/Message"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { Decisions } from "@belay/core/Session"
import type { SessionInfo, SessionStore } from "@belay/core/SessionStore"
import type { TurnInput } from "@belay/core/Turn"
import { nothing, type Waiting, waitingOf } from "@belay/core/Waiting"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Engine } from "./Engine.ts"
import { HostError } from "./HostError.ts"
import type { EventOptions, HostEvent, HostEvents } from "./HostEvent.ts"
import { adding, type Sent } from "./internal/addEntry.ts"
import { advanceOnce } from "./internal/advanceOnce.ts"
import { awaitOutcome } from "./internal/awaitOutcome.ts"
import { type Counters, newCounters } from "./internal/counters.ts"
import { eraseAll, type EraseReceipt, type EraseTarget, readErasing } from "./internal/erase.ts"
import { makeEventFeed } from "./internal/eventFeed.ts"
import { part, storing } from "./internal/optionChecks.ts"
import { readAfter, readEvents } from "./internal/readEvents.ts"
import {
  checkCall,
  checkSessionId,
  checkTexts,
  readDecisions,
  readMessage,
  stored,
  wrongInput
} from "./internal/readInput.ts"
import { loadState } from "./internal/recognize.ts"
import { sharedTime } from "./internal/sharedTime.ts"
import type { HostedAgent, Site } from "./internal/site.ts"
import { type Running, startHost } from "./internal/startHost.ts"
import { Suspects } from "./internal/suspects.ts"
import * as LocalEngine from "./LocalEngine.ts"
import * as Outcome from "./Outcome.ts"

export type { Counters, EraseReceipt, EraseTarget, EventOptions, HostedAgent, HostEvent, HostEvents, Running, Sent }

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** The agent that answers. Its `store` must be the same as `store.sessions`. */
  readonly agent: HostedAgent
  /**
   * Where sessions, inboxes and events are. A `SqliteStore` or a `PostgresStore` has all of them. Without `events`,
   * the events of a turn are only seen in the process that runs it, while it runs.
   */
  readonly store: {
    readonly sessions: SessionStore
    readonly inbox: Inbox
    readonly events?: EventLog
    /** What `erase` needs. */
    readonly erasure?: Erasure
  }
  /** Delivers wake-ups. Default: an engine for one process, which needs nothing else. */
  readonly engine?: Engine
  /** How often a message is begun before it is given up. Default 5. */
  readonly maxAttempts?: number
  /** How many unfinished messages there may be. Default: no limit. */
  readonly capacity?: Capacity
  /** How often a host looks for what other processes have written, in milliseconds. Default 500. */
  readonly pollMs?: number
  /** How many sessions the default engine advances at the same time. Default 64. */
  readonly concurrency?: number
}

/** Options of `send`. @category models @since 0.1.0 */
export interface SendOptions {
  /**
   * Identifies the message in its session. Sending it again with the same key does nothing, so a program that does not
   * know whether `send` has succeeded calls it again. Default: a random UUID.
   */
  readonly key?: string
  /** When the message is due: a date, or milliseconds since the epoch. Default: now. */
  readonly at?: number | Date
  /**
   * `queue`, the default: the message begins a turn when it is the next one. `steer`: a running turn reads it at its next
   * step boundary; if no turn runs, it begins one.
   */
  readonly mode?: "queue" | "steer"
  /** Who it counts for, where `capacity.perTenant` limits what waits. */
  readonly tenant?: string
  /** What was said before. It begins the conversation if the session is new, and does nothing otherwise. */
  readonly history?: ReadonlyArray<Message>
}

/** What is known about something that was sent. @category models @since 0.1.0 */
export interface Status {
  /**
   * `waiting`: it has not begun. `begun`: it runs, or its process has ended. `suspended`: it waits for people. `done`: it
   * has its final outcome. `dead`: it was given up.
   */
  readonly status: Entry["status"]
  readonly attempts: number
  /** Present if it is suspended, done or dead. */
  readonly outcome?: Outcome.Outcome
}

/** A conversation as it was last stored, and what was sent to it. @category models @since 0.1.0 */
export interface Conversation {
  readonly messages: ReadonlyArray<Message>
  /** The number of the last turn. */
  readonly turnNumber: number
  /** What its last turn waits for. `process` with `why: "left"` is also a turn that runs now. */
  readonly waiting: Waiting
  /** The key of the message whose turn this is, if it came through the host. */
  readonly key?: string
  /** The number (`seq`) of the last event before it was stored. Absent if nobody has listened. */
  readonly lastEvent?: number
  /** What was sent and is not finished, in the order in which it was added. */
  readonly open: ReadonlyArray<Pick<Entry, "key" | "kind" | "status">>
}

/** What a host does at the moment. @category models @since 0.1.0 */
export interface Activity {
  /** The sessions whose turns run in this process. */
  readonly running: ReadonlyArray<string>
  /**
   * How many sessions have something due, with those that run in any process. At most 10,000 are counted. If it grows,
   * there are too few processes.
   */
  readonly due: number
  /** When the first of them was due, in milliseconds since the epoch. Absent if none is due. */
  readonly oldest?: number
  /**
   * The messages that are not finished, in all processes. `suspended` wait for people. Absent if the inbox cannot count
   * them.
   */
  readonly messages?: Effect.Success<Care["counts"]>
  /** What this host has done since it was made. */
  readonly counters: Counters
}

/** A host. Each method returns a value that is both an Effect and awaitable. @category models @since 0.1.0 */
export interface Host {
  /** Adds a message to a session. It is stored when this succeeds. */
  readonly send: (
    sessionId: string,
    message: string | TurnInput,
    options?: SendOptions
  ) => Awaitable.Awaitable<Sent, HostError>
  /**
   * Answers open questions of a suspended turn, by tool call id. The outcome of its key is that of the turn, when it has
   * ended or asks again.
   */
  readonly decide: (
    sessionId: string,
    decisions: Decisions,
    options?: { readonly key?: string }
  ) => Awaitable.Awaitable<Sent, HostError>
  /**
   * Cancels a message that waits, is suspended or runs. The outcome of the returned key is `cancelled`, or `late` if
   * there was nothing to cancel any more.
   */
  readonly cancel: (sessionId: string, key: string) => Awaitable.Awaitable<Sent, HostError>
  /** Waits until a message or a decision has ended or waits for people. Fails with `unknown` for an unknown key. */
  readonly result: (
    sessionId: string,
    key: string,
    options?: { readonly signal?: AbortSignal }
  ) => Awaitable.Awaitable<Outcome.Outcome, HostError>
  /** Returns what is known now, or nothing for an unknown key. */
  readonly status: (sessionId: string, key: string) => Awaitable.Awaitable<Status | undefined, HostError>
  /** Returns the conversation of a session and what waits in it. Returns nothing for an unknown session. */
  readonly conversation: (sessionId: string) => Awaitable.Awaitable<Conversation | undefined, HostError>
  /** Lists stored sessions, most recently changed first. `status` is checked after `limit`, which is 100 by default. */
  readonly list: (
    options?: { readonly limit?: number; readonly before?: number; readonly status?: SessionInfo["status"] }
  ) => Awaitable.Awaitable<ReadonlyArray<SessionInfo>, HostError>
  /**
   * Lists what was sent by its status, in the order in which it was added. `after` is the `seq` of the last one of the
   * page before, and `limit` is 100 by default.
   */
  readonly entries: (
    options: { readonly status: Entry["status"]; readonly limit?: number; readonly after?: number }
  ) => Awaitable.Awaitable<ReadonlyArray<Entry>, HostError>
  /** Lets a dead message wait again, with no attempts. Returns false if there is no such message. */
  readonly retry: (sessionId: string, key: string) => Awaitable.Awaitable<boolean, HostError>
  /** Removes a dead message. Returns false if there is none. Nobody can undo it. */
  readonly drop: (sessionId: string, key: string) => Awaitable.Awaitable<boolean, HostError>
  /** Returns the sessions whose turns run in this process. */
  readonly running: () => ReadonlyArray<string>
  /** Returns what this process runs at the moment, and how many sessions wait for a process. For monitoring. */
  readonly activity: () => Awaitable.Awaitable<Activity, HostError>
  /**
   * Returns the events of a session and of its sub-agents, in this process or another: first those of the turn that
   * runs, or else of the last one, then what happens from now on. With `after`, they continue after that event, each
   * once and in order. What a killed process had not stored yet is lost. Ends when `signal` aborts.
   */
  readonly events: (sessionId: string, options?: EventOptions) => HostEvents
  /**
   * Does what can be done for a session now: continues an open turn, applies decisions, begins the next message, or
   * nothing. It can be called at any time and by anything; only one process at a time should call it for a session.
   */
  readonly advance: (sessionId: string) => Awaitable.Awaitable<void, HostError>
  /**
   * Erases everything that the store has about a session or a person: history, what was sent, outcomes, events, open
   * questions, decision records, artifacts, and names in accounts of budgets. Turns that run are cancelled first; it waits
   * for them for `withinMs` milliseconds, by default 10,000. Backups, recordings and audit logs are files of their own:
   * the receipt has the ids to look for there. Nobody can undo it.
   */
  readonly erase: (
    target: EraseTarget,
    options?: { readonly withinMs?: number }
  ) => Awaitable.Awaitable<EraseReceipt, HostError>
  /** Runs sessions in this process until `drain`. A process that only sends messages does not need it. */
  readonly start: () => Awaitable.Awaitable<Running, HostError>
}

/** How long an engine lets one session have its way before others get their turn, in milliseconds. */
const sliceMs = 1_000

const optionKinds: OptionKinds<Options> = {
  agent: "object",
  store: "object",
  engine: "object",
  maxAttempts: "number",
  capacity: "object",
  pollMs: "number",
  concurrency: "number"
}

const sendKinds: OptionKinds<SendOptions> = { key: "text", at: "any", mode: "text", tenant: "text", history: "any" }

const decideKinds: OptionKinds<{ readonly key?: string }> = { key: "text" }

const capacityKinds: OptionKinds<Capacity> = { inAll: "number", perTenant: "number", perSession: "number" }

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
  const { agent, capacity, concurrency = 64, maxAttempts = 5, pollMs = 500, store } = options
  const { inbox, sessions } = store
  Result.getOrThrow(checkOptions(
    "host",
    part("agent", agent, ["session"], "an agent of createAgent"),
    storing(agent),
    part("store.sessions", sessions, ["load"], "a session store: pass the store that SqliteStore.make returns"),
    part("store.inbox", inbox, ["add", "open"], "an inbox: pass the store that SqliteStore.make returns"),
    part(
      "engine",
      options.engine ?? { wake: isNaN, start: isNaN },
      ["wake", "start"],
      "what PgBossEngine.make returns"
    ),
    whole("maxAttempts", maxAttempts, 1),
    whole("pollMs", pollMs, 1),
    whole("concurrency", concurrency, 1),
    whole("capacity.inAll", capacity?.inAll ?? 1, 1),
    whole("capacity.perTenant", capacity?.perTenant ?? 1, 1),
    whole("capacity.perSession", capacity?.perSession ?? 1, 1)
  ))
  Result.getOrThrow(checkKinds("host.capacity", capacity ?? {}, capacityKinds))
  const engine = options.engine ?? LocalEngine.make({ inbox, concurrency, pollMs })
  const site: Site = {
    agent,
    sessions,
    inbox,
    engine,
    maxAttempts,
    pollMs,
    time: sharedTime(inbox),
    feed: makeEventFeed(store.events),
    running: new Map(),
    listeners: new Map(),
    suspects: new Suspects(),
    counters: newCounters(),
    isDraining: false
  }
  const advance = advanceOnce(site)
  const add = adding(site)
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
        checkTexts({ "session id": sessionId, key }),
        add({ sessionId, key: `cancel ${key}`, kind: "cancel", body: key, at: 0 })
      )),
    result: (sessionId, key, { signal } = {}) =>
      Awaitable.make(
        Effect.andThen(checkTexts({ "session id": sessionId, key }), awaitOutcome(site, sessionId, key)),
        (effect) => runWith(effect, signal)
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
    list: ({ status, ...page } = {}) =>
      Awaitable.make(Effect.map(
        stored(sessions.list?.(page) ?? Effect.succeed([])),
        (all) => status === undefined ? all : all.filter((one) => one.status === status)
      )),
    entries: ({ status, ...page }) =>
      Awaitable.make(Effect.flatMap(careOf(inbox), ({ list }) => stored(list({ limit: 100, ...page, status })))),
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
    running: () => [...site.running.keys()],
    activity: () => Awaitable.make(stored(activityOf(site))),
    events: (sessionId, { after, signal } = {}) =>
      readEvents(Effect.suspend(() => {
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
    start: () => Awaitable.make(startHost(site, (sessionId) => advance(sessionId, sliceMs)))
  }
}

const conversationOf = Effect.fnUntraced(function*(sessions: SessionStore, inbox: Inbox, sessionId: string) {
  const state = yield* loadState(sessions, sessionId)
  const open = (yield* inbox.open(sessionId)).map(({ key, kind, status }) => ({ key, kind, status }))
  if (state === undefined) return open.length === 0 ? undefined : { ...nothingSaid, open }
  const { input: { key }, lastEvent, messages, turnNumber } = state
  return { messages, turnNumber, waiting: waitingOf(state), open, ...defined({ key, lastEvent }) }
})

const nothingSaid: Omit<Conversation, "open"> = { messages: [], turnNumber: 0, waiting: nothing }

const maxDue = 10_000

const careOf = ({ care }: Inbox): Effect.Effect<Care, HostError> => {
  if (care !== undefined) return Effect.succeed(care)
  const message = "the inbox of this host has no `care`: use that of a SqliteStore or a PostgresStore"
  return Effect.fail(new HostError({ problem: "store", message }))
}

const activityOf = ({ counters, inbox, running, time }: Site): Effect.Effect<Activity, unknown> =>
  Effect.gen(function*() {
    const due = yield* inbox.due({ until: yield* time, limit: maxDue })
    return {
      running: [...running.keys()],
      due: due.length,
      ...(due[0] === undefined ? {} : { oldest: due[0].at }),
      ...(inbox.care === undefined ? {} : { messages: yield* inbox.care.counts }),
      counters: structuredClone(counters)
    }
  })

/** Runs an Effect. If the signal aborts, the promise rejects with its reason. */
const runWith = <A, E>(effect: Effect.Effect<A, E>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return Effect.runPromise(effect)
  const aborted = Effect.callback<never, unknown>((resume) => {
    const abort = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })
  return Effect.runPromise(Effect.raceFirst(aborted, effect))
}
