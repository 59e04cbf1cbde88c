/** What the parts of a host share. */
import type { AgentSession } from "@belay/core/createAgent"
import type { Entry, Inbox } from "@belay/core/Inbox"
import type { SessionOptions } from "@belay/core/Session"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import type { Engine } from "../../Engine.ts"
import * as Outcome from "../../Outcome.ts"
import type { EventFeed } from "../events/eventFeed.ts"
import type { Counting } from "./counters.ts"
import type { Suspects } from "./suspects.ts"

/** The part of an agent that a host uses. */
export interface HostedAgent {
  readonly session: (options: SessionOptions) => Promise<AgentSession>
}

/** A turn that runs in this process. */
export interface RunningTurn {
  readonly session: AgentSession
  /** Looks for new entries now. */
  look: () => void
}

/** The parts of a host, and what it does at the moment. */
export interface Site {
  readonly agent: HostedAgent
  readonly sessions: SessionStore
  readonly inbox: Inbox
  readonly engine: Engine
  readonly maxAttempts: number
  /** The release of the program that runs in this process, if sessions are pinned to theirs. */
  readonly release: string | undefined
  readonly pollMs: number
  readonly feed: EventFeed
  /** The time that all processes share, in milliseconds since the epoch. */
  readonly time: Effect.Effect<number>
  readonly running: Map<string, RunningTurn>
  /** Who waits for outcomes in this process, by session. */
  readonly listeners: Map<string, Set<() => void>>
  readonly suspects: Suspects
  /** How many attempts a store has ended that was away, by session and key, as long as that is not stored. */
  readonly outages: Map<string, number>
  readonly counters: Counting
  /** Whether turns stop, because the process ends. */
  isDraining: boolean
}

/** Calls a method of the agent. Fails with what it rejects with. */
export const call = <A>(act: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: act, catch: (error) => error })

/** Stores the outcome of an entry, and tells those who wait for it in this process. */
export const report = (
  { inbox, listeners }: Site,
  { key, sessionId }: Pick<Entry, "key" | "sessionId">,
  outcome: Outcome.Outcome,
  status: Entry["status"] = outcome.status === "dead" ? "dead" : "done"
): Effect.Effect<void, unknown> =>
  Effect.andThen(
    inbox.report(sessionId, key, status, Outcome.toJson(outcome)),
    Effect.sync(() => {
      for (const listener of listeners.get(sessionId) ?? []) listener()
    })
  )

/** Whether the session of an entry is pinned to another release than that of this process. */
export const isElsewhere = ({ release }: Site, entry: Entry | undefined): boolean =>
  entry?.release !== undefined && entry.release !== release

/** Whether an entry is a message that was not begun. */
export const isWaiting = (entry: Entry): boolean => entry.status === "waiting"
