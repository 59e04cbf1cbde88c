/**
 * Does what can be done for a session now. This is the only place where a host makes progress. It can be called at any
 * time and by anything: what it finds in the inbox and in the session store says what comes next.
 */
import type { AgentSession } from "@belay/core/createAgent"
import * as Deadline from "@belay/core/Deadline"
import { messageOf } from "@belay/core/ErrorMessage"
import { type Entry, isMessage } from "@belay/core/Inbox"
import type { RunState } from "@belay/core/RunState"
import * as Effect from "effect/Effect"
import { HostError } from "../../HostError.ts"
import * as Outcome from "../../Outcome.ts"
import { countOutcome } from "../site/counters.ts"
import { call, isElsewhere, isWaiting, report, type Site } from "../site/site.ts"
import { attempt } from "./attempt.ts"
import { hasAsked, stillAsked } from "./decisions.ts"
import { isBroken, isTemporary, isWrongDecision } from "./errors.ts"
import { giveUp, openEntries } from "./readable.ts"
import { hasMessage, isSuperseded, loadState, outcomeOf } from "./recognize.ts"
import { inputOf, type Place, runTurn } from "./runTurn.ts"

/** Whether there may be more to do. */
type Next = "again" | "stop"

/** What a step knows about its session. */
interface Step extends Place {
  readonly entries: ReadonlyArray<Entry>
  /** Absent if it was not needed, or if the session is not stored. */
  readonly state: RunState | undefined
}

type Act<A> = Effect.fn.Return<A, unknown>

/** Advances a session until nothing can be done for it here and now. */
export const advanceSession = Effect.fn("Host.advance")(function*(
  site: Site,
  sessionId: string,
  sliceMs: number
): Act<void> {
  const entries = site.isDraining ? [] : yield* openEntries(site, sessionId)
  if (entries.length === 0) return
  yield* refuseNewer(entries)
  yield* pin(site, sessionId, entries)
  const end = (yield* Deadline.now) + sliceMs
  const session = yield* openSession(site, sessionId, entries)
  if (session === undefined) return
  const steps = Effect.gen(function*() {
    while (!site.isDraining && (yield* step(site, session, sessionId)) === "again") {
      // Others have waited long enough.
      if ((yield* Deadline.now) >= end) return yield* site.engine.wake(sessionId)
    }
  })
  yield* Effect.ensuring(
    steps,
    Effect.andThen(Effect.ignore(call(() => session.release())), site.feed.flush(sessionId))
  )
  const time = yield* site.time
  const left = yield* site.inbox.open(sessionId)
  const later = left.filter((entry) => isWaiting(entry) && entry.at > time)
  if (later.length > 0) yield* site.engine.wake(sessionId, Math.min(...later.map(({ at }) => at)))
  // Somebody else continues what was parked.
  if (site.isDraining || isElsewhere(site, left[0])) yield* site.engine.wake(sessionId)
})

/** Fails if a newer release has written something that this one does not know. That release has to do it then. */
const refuseNewer = (entries: ReadonlyArray<Entry>): Effect.Effect<void, HostError> => {
  const unknown = entries.find(({ kind, status }) => !kinds.has(kind) || !statuses.has(status))
  if (unknown === undefined) return Effect.void
  const { key, kind, sessionId, status } = unknown
  const message = `session ${sessionId} has an entry of kind ${kind} and status ${status} in its inbox, which this ` +
    "release does not know: a newer one has to advance the session"
  return Effect.fail(new HostError({ problem: "newer", sessionId, key, message }))
}

/** Pins a session that begins to this release. Fails if it belongs to another one, which has to advance it then. */
const pin = (site: Site, sessionId: string, [first]: ReadonlyArray<Entry>): Effect.Effect<void, unknown> => {
  const { inbox, release } = site
  if (!isElsewhere(site, first)) {
    return release === undefined || first?.release === release
      ? Effect.void
      : inbox.pin?.(sessionId, release) ?? Effect.void
  }
  const message = `session ${sessionId} is pinned to the release ${JSON.stringify(first?.release)}, and this process ` +
    `${release === undefined ? "has none" : `is ${JSON.stringify(release)}`}: a process with that release advances ` +
    "it, or move the session"
  return Effect.fail(new HostError({ problem: "pinned", sessionId, message }))
}

/** What this process knows of the session is old, so the next call opens it again. */
const superseded = (sessionId: string): HostError => {
  const message = `session ${sessionId} was changed by another process meanwhile: it is advanced again later`
  return new HostError({ problem: "store", sessionId, message })
}

const kinds: ReadonlySet<string> = new Set<Entry["kind"]>(["message", "steer", "decide", "cancel"])
const statuses: ReadonlySet<string> = new Set<Entry["status"]>(["waiting", "begun", "suspended", "done", "dead"])

/** Opens the session. If its stored state cannot be read, nothing can ever be done in it: everything is given up. */
const openSession = (
  site: Site,
  sessionId: string,
  entries: ReadonlyArray<Entry>
): Effect.Effect<AgentSession | undefined, unknown> =>
  Effect.catch(call(() => site.agent.session({ id: sessionId })), (error) => {
    if (!isBroken(error)) return Effect.fail(error)
    const why = `its session cannot be read: ${messageOf(error)}`
    return Effect.as(Effect.forEach(entries, (entry) => giveUp(site, entry, why), { discard: true }), undefined)
  })

const step = Effect.fnUntraced(function*(site: Site, session: AgentSession, sessionId: string): Act<Next> {
  const entries = yield* openEntries(site, sessionId)
  // It was moved meanwhile.
  if (isElsewhere(site, entries[0])) return "stop"
  const isNew = session.waiting.type === "nothing" && entries.every(isWaiting)
  const state = isNew ? undefined : yield* loadState(site.sessions, sessionId)
  if (state !== undefined && isSuperseded(session.waiting, state)) return yield* superseded(sessionId)
  const at: Step = { site, session, sessionId, entries, state }
  const current = yield* currentOf(at)
  if (current === "none" && (session.waiting.type === "people" || session.waiting.type === "process")) {
    yield* call(() => session.abandon("not run: the message of this turn was cancelled or given up"))
    return "again"
  }
  if ((yield* reportDelivered(at, current)) || (yield* applyCancellations(at))) return "again"
  if (current !== "none" && session.waiting.type === "people") return yield* askPeople(at, current)
  if (current !== "none" && session.waiting.type === "process") return yield* continueTurn(at, current)
  return (yield* reportEnded(at)) ? "again" : yield* beginNext(at)
})

/**
 * Returns the entry whose turn waits. `none` if no turn waits, or if its message was cancelled or given up. `foreign`
 * if the message did not come through this inbox.
 */
const currentOf = Effect.fnUntraced(function*({ entries, session, sessionId, site, state }: Step): Act<
  Entry | "foreign" | "none"
> {
  if (session.waiting.type === "nothing" || session.waiting.type === "limit") return "none"
  const key = state?.input.key
  if (key === undefined) return "foreign"
  const open = entries.find((entry) => entry.key === key)
  return open ?? ((yield* site.inbox.get(sessionId, key)) === undefined ? "foreign" : "none")
})

const entryOf = (current: Entry | "foreign"): Entry | undefined => current === "foreign" ? undefined : current

/** A process ended after a running turn had received these messages, and before it could say so. */
const reportDelivered = Effect.fnUntraced(
  function*({ entries, site, state }: Step, current: Entry | "foreign" | "none"): Act<boolean> {
    if (state === undefined) return false
    const delivered = entries.filter((entry) =>
      entry.kind === "steer" && isWaiting(entry) && entry !== current && hasMessage(state, entry.key)
    )
    for (const entry of delivered) yield* report(site, entry, { status: "delivered" })
    return delivered.length > 0
  }
)

/**
 * Cancels entries that have no running turn, also one whose turn has ended: a cancellation that was stored before the
 * outcome counts.
 */
const applyCancellations = Effect.fnUntraced(function*({ entries, site }: Step): Act<boolean> {
  const cancellations = entries.filter(({ kind }) => kind === "cancel")
  for (const cancellation of cancellations) {
    const target = entries.find(({ key }) => key === cancellation.body)
    // Its turn is abandoned with the next step, before the cancellation is done.
    if (target !== undefined) yield* report(site, target, { status: "cancelled" })
    else yield* report(site, cancellation, yield* outcomeOfCancellation(site, cancellation))
  }
  return cancellations.length > 0
})

const outcomeOfCancellation = ({ inbox }: Site, { body, sessionId }: Entry): Effect.Effect<Outcome.Outcome, unknown> =>
  // The body of a cancellation is the key of what it cancels.
  Effect.map(inbox.get(sessionId, body as string), (target) => {
    const outcome = Outcome.fromJson(target?.outcome)
    return outcome?.status === "cancelled" ? outcome : tooLate
  })

const tooLate: Outcome.Outcome = { status: "late", reason: "there was nothing to cancel any more" }

/** Applies the next decision. Without one, the turn waits. */
const askPeople = Effect.fnUntraced(function*(at: Step, current: Entry | "foreign"): Act<Next> {
  const { entries, session, site, state } = at
  const entry = entryOf(current)
  const decision = entries.find(({ kind }) => kind === "decide")
  if (decision === undefined) {
    if (entry === undefined || state === undefined) return "stop"
    const { turnNumber, usage } = state
    const { pending } = session
    if (entry.status === "suspended" && hasAsked(entry, pending)) return "stop"
    yield* report(site, entry, { status: "suspended", turnNumber, text: "", usage, pending }, "suspended")
    return "stop"
  }
  // The same decision may have been applied by a process that ended. It does not count for a question that came later.
  const decisions = stillAsked(decision, session, state)
  if (decisions === undefined) {
    yield* report(site, decision, { status: "delivered" })
    return "again"
  }
  const asked = session.pending.map(({ callId, fingerprint }) => ({ callId, fingerprint }))
  yield* site.inbox.report(decision.sessionId, decision.key, "begun", { asked })
  if (entry?.status === "suspended") yield* site.inbox.report(entry.sessionId, entry.key, "begun", null)
  const exit = yield* runTurn(at, entry, false, (signal) => session.resume(decisions, { signal }))
  if (exit.type === "failed" && isWrongDecision(exit.error)) {
    yield* report(site, decision, Outcome.ofError(exit.error))
    return "again"
  }
  return yield* settle(at, entry, exit, decision)
})

/** Continues a turn that was parked, or that was left by a process that ended. Only the latter counts as an attempt. */
const continueTurn = Effect.fnUntraced(function*(at: Step, current: Entry | "foreign"): Act<Next> {
  const { session } = at
  const entry = entryOf(current)
  const isLeft = session.waiting.type === "process" && session.waiting.why === "left"
  if (isLeft) at.site.counters.takeovers++
  const resumed = Effect.flatMap(
    runTurn(at, entry, false, (signal) => session.resume({}, { signal })),
    (exit) => settle(at, entry, exit)
  )
  return yield* entry !== undefined && isLeft ? attempt(at, entry, resumed) : resumed
})

/** Stores how a turn ended. `applied` is the entry whose decisions the turn was resumed with. */
const settle = Effect.fnUntraced(function*(
  { entries, session, sessionId, site }: Step,
  entry: Entry | undefined,
  exit: Effect.Success<ReturnType<typeof runTurn>>,
  applied?: Entry
): Act<Next> {
  if (exit.type === "failed" && isTemporary(exit.error)) return yield* Effect.fail(exit.error)
  if (exit.type === "ended" && exit.result.status === "parked") return "stop"
  const open = yield* site.inbox.open(sessionId)
  // The turn may not have seen it, for example while the store was away.
  const isCancelled = open.some(({ body, kind }) => kind === "cancel" && entry !== undefined && body === entry.key)
  const outcome: Outcome.Outcome = exit.type === "cancelled" || isCancelled
    ? { status: "cancelled" }
    : exit.type === "failed"
    ? Outcome.ofError(exit.error)
    : Outcome.ofResult(exit.result as Exclude<typeof exit.result, { readonly status: "parked" }>)
  countOutcome(site.counters, outcome, Outcome.fromJson(entry?.outcome))
  // The decisions come first: who waits for the message waits for them too.
  for (const one of open) {
    const isApplied = one.key === applied?.key
    // Another process may have applied a decision to a later turn meanwhile.
    const isOfTurn = isApplied || entries.some(({ key, status }) => key === one.key && status === "begun")
    // The process that applied it ended before the decision was stored: it is applied again.
    const isLost = outcome.status === "suspended" && !isApplied && stillAsked(one, session) !== undefined
    if (one.kind === "decide" && one.status === "begun" && isOfTurn && !isLost) yield* report(site, one, outcome)
  }
  // A cancellation comes last, with the next step: it says why the turn ended if the process ends before that is kept.
  if (entry !== undefined) {
    yield* report(site, entry, outcome, outcome.status === "suspended" ? "suspended" : undefined)
  }
  return "again"
})

/** Reports what has ended, or can have no effect any more. */
const reportEnded = Effect.fnUntraced(function*({ entries, site, state }: Step): Act<boolean> {
  let reported = false
  for (const entry of entries) {
    const outcome = endOf(entry, state)
    if (outcome === undefined) continue
    yield* report(site, entry, outcome)
    reported = true
  }
  return reported
})

const endOf = (entry: Entry, state: RunState | undefined): Outcome.Outcome | undefined => {
  if (entry.kind === "decide") return entry.status === "begun" ? { status: "delivered" } : noQuestion
  return isMessage(entry) && !isWaiting(entry) && state !== undefined ? outcomeOf(state, entry.key) : undefined
}

const noQuestion: Outcome.Outcome = { status: "late", reason: "the session had no open question" }

/** Begins the next message that is due. */
const beginNext = Effect.fnUntraced(function*(at: Step): Act<Next> {
  const { entries, session, site } = at
  const time = yield* site.time
  const entry = entries.find((one) => isMessage(one) && (one.at <= time || !isWaiting(one)))
  if (entry === undefined) return "stop"
  const isEmpty = session.messages.length === 0
  const turn = runTurn(at, entry, true, (signal) => session.run(inputOf(entry, isEmpty), { signal }))
  return yield* attempt(at, entry, Effect.flatMap(turn, (exit) => settle(at, entry, exit)))
})
