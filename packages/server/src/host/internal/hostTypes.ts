/** What a host takes and what it can do. */
import type * as Awaitable from "@belay/core/Awaitable"
import type { Erasure } from "@belay/core/Erasure"
import type { EventLog } from "@belay/core/EventLog"
import type { Capacity, Care, Entry, Inbox } from "@belay/core/Inbox"
import type { Message } from "@belay/core/Message"
import type { Decisions } from "@belay/core/Session"
import type { SessionInfo, SessionStore } from "@belay/core/SessionStore"
import type { TurnInput } from "@belay/core/Turn"
import type { Waiting } from "@belay/core/Waiting"
import type * as Effect from "effect/Effect"
import type { Engine } from "../Engine.ts"
import type { HostError } from "../HostError.ts"
import type { EventOptions, HostEvents } from "../HostEvent.ts"
import type * as Outcome from "../Outcome.ts"
import type { EraseReceipt, EraseTarget } from "./care/erase.ts"
import type { OverviewOptions, SessionOverview } from "./care/overview.ts"
import type { Retention } from "./care/retention.ts"
import type { Schedule } from "./care/schedules.ts"
import type { Sent } from "./site/addEntry.ts"
import type { Counters } from "./site/counters.ts"
import type { HostedAgent } from "./site/site.ts"
import type { Running } from "./startHost.ts"

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
  /**
   * Messages that are sent again and again, as long as some process with this host has called `start`. Default none.
   */
  readonly schedules?: ReadonlyArray<Schedule>
  /**
   * The name of this release of your program. Then a session belongs to the release that has begun it: processes with
   * another one leave it alone until it is moved. Default: any process advances any session that is not pinned.
   */
  readonly release?: string
  /** How long finished sessions, messages and events are kept. A process that has called `start` removes them. */
  readonly retention?: Retention
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
   * `queue`, the default: the message begins a turn when it is the next one. `steer`: a running turn reads it at its
   * next step boundary; if no turn runs, it begins one.
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
   * `waiting`: it has not begun. `begun`: it runs, or its process has ended. `suspended`: it waits for people. `done`:
   * it has its final outcome. `dead`: it was given up.
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
  /** When it was so, in milliseconds since the epoch, by the clock of the store. */
  readonly at: number
  /** The sessions whose turns run in this process. */
  readonly running: ReadonlyArray<string>
  /**
   * How many sessions have something due, with those that run in any process. At most 10,000 are counted. If it grows,
   * there are too few processes.
   */
  readonly due: number
  /** Whether this process stops, so that it begins nothing any more. */
  readonly isDraining: boolean
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
   * Answers open questions of a suspended turn, by tool call id. The outcome of its key is that of the turn, when it
   * has ended or asks again.
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
  /** Returns the sessions with something unfinished, and what each waits for: dead ones first, then the oldest. */
  readonly overview: (
    options?: OverviewOptions
  ) => Awaitable.Awaitable<ReadonlyArray<SessionOverview>, HostError>
  /** Lets a dead message wait again, with no attempts. Returns false if there is no such message. */
  readonly retry: (sessionId: string, key: string) => Awaitable.Awaitable<boolean, HostError>
  /** Removes a dead message. Returns false if there is none. Nobody can undo it. */
  readonly drop: (sessionId: string, key: string) => Awaitable.Awaitable<boolean, HostError>
  /**
   * Pins a session to another release, or to none (`undefined`). A turn that runs stops where it is saved next, and a
   * process of that release continues it. `release` in `entries` says where a session belongs.
   */
  readonly move: (sessionId: string, release: string | undefined) => Awaitable.Awaitable<void, HostError>
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
   * questions, decision records, artifacts, names in accounts of budgets, and standing approvals in which they are
   * named. Turns that run are cancelled first; it waits for them for `withinMs` milliseconds, by default 10,000.
   * Backups, recordings and audit logs are files of their own: the receipt has the ids to look for there. Nobody can
   * undo it.
   */
  readonly erase: (
    target: EraseTarget,
    options?: { readonly withinMs?: number }
  ) => Awaitable.Awaitable<EraseReceipt, HostError>
  /** Runs sessions in this process until `drain`. A process that only sends messages does not need it. */
  readonly start: () => Awaitable.Awaitable<Running, HostError>
}
