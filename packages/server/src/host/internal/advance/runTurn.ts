/** Runs a turn. Meanwhile it delivers messages to it, and cancels it if somebody asks for that. */
import type { AgentSession } from "@belay/core/createAgent"
import type { Entry } from "@belay/core/Inbox"
import type { Message } from "@belay/core/Message"
import type { RunResult } from "@belay/core/RunResult"
import type { SteerOutcome } from "@belay/core/Session"
import type { TurnInput } from "@belay/core/Turn"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Outcome from "../../Outcome.ts"
import { call, isElsewhere, isWaiting, report, type RunningTurn, type Site } from "../site/site.ts"

/** How a turn ended. */
export type TurnExit =
  | { readonly type: "ended"; readonly result: RunResult }
  | { readonly type: "cancelled" }
  | { readonly type: "failed"; readonly error: unknown }

/** How long a turn has to stop after the engine gave up its call of `advance`, in milliseconds. */
const handOverMs = 5_000

/** How long a turn has to stop after its session was moved to another release, in milliseconds. */
const movedMs = 10_000

/** How long a turn runs before its first look into the inbox, in milliseconds. */
const firstLookMs = 15

/** Where a turn runs. */
export interface Place {
  readonly site: Site
  readonly session: AgentSession
  /** The id with which the host knows the session. After a rotation, the session has another one. */
  readonly sessionId: string
}

type Steers = Map<string, Fiber.Fiber<boolean, unknown>>

/**
 * Runs a turn of a session. `entry` is the message whose turn it is, and `begins` whether the turn is a new one. Fails
 * if the outcome of a delivered message could not be stored.
 */
export const runTurn = (
  place: Place,
  entry: Entry | undefined,
  begins: boolean,
  act: (signal: AbortSignal) => Promise<RunResult>
): Effect.Effect<TurnExit, unknown> =>
  Effect.suspend(() => {
    const { session, sessionId, site: { feed, running } } = place
    const abort = new AbortController()
    // The error of the turn is this object, to which the agent adds what was said and spent.
    const cancelled = { name: "Cancelled", message: "the message was cancelled" }
    const steers: Steers = new Map()
    const self: RunningTurn = { session, look: () => {} }
    running.set(sessionId, self)
    const turn = Effect.callback<TurnExit>((resume) => {
      act(abort.signal).then(
        (result) => resume(Effect.succeed({ type: "ended", result })),
        (error: unknown) =>
          resume(Effect.succeed(error === cancelled ? { type: "cancelled" } : { type: "failed", error }))
      )
      // Whoever interrupts this lets another process continue the turn.
      return Effect.ignore(call(() => session.park({ withinMs: handOverMs })))
    })
    const listening = feed.attach(session, { sessionId, key: entry?.key, begins, stored: 0 })
    return Effect.gen(function*() {
      const stopListening = yield* listening
      const watcher = yield* Effect.forkChild(watch(place, entry, self, steers, () => abort.abort(cancelled)))
      const exit = yield* turn.pipe(
        Effect.ensuring(Effect.sync(stopListening)),
        Effect.ensuring(Fiber.interrupt(watcher))
      )
      for (const fiber of steers.values()) yield* Fiber.join(fiber)
      return exit
    }).pipe(Effect.ensuring(Effect.sync(() => void running.delete(sessionId))))
  })

/** Looks into the inbox again and again. If that fails, it tries again. */
const watch = (
  { session, sessionId, site }: Place,
  entry: Entry | undefined,
  self: RunningTurn,
  steers: Steers,
  cancel: () => void
): Effect.Effect<never> => {
  let isAsked = false
  let resume = (): void => {}
  // During a look, it asks for another one: the first may have read the inbox before.
  self.look = () => {
    isAsked = true
    resume()
  }
  const asked = Effect.callback<void>((done) => {
    resume = () => done(Effect.void)
    if (isAsked) resume()
    return Effect.sync(() => void (resume = () => {}))
  })
  const pause = (ms: number) =>
    Effect.andThen(Effect.raceFirst(Effect.sleep(ms), asked), Effect.sync(() => void (isAsked = false)))
  const cancelNow = Effect.fnUntraced(function*(one: Entry, entries: ReadonlyArray<Entry>) {
    if (one.body === entry?.key) return cancel()
    const target = entries.find(({ key, kind, status }) =>
      key === one.body && kind === "message" && status === "waiting"
    )
    if (target === undefined) return
    yield* report(site, target, { status: "cancelled" })
    yield* report(site, one, { status: "cancelled" })
  })
  const look = Effect.gen(function*() {
    const time = yield* site.time
    const entries = yield* site.inbox.open(sessionId)
    // The session was moved to another release, which goes on where the turn is saved next.
    if (isElsewhere(site, entries[0])) yield* call(() => session.park({ withinMs: movedMs }))
    for (const one of entries) {
      if (one.kind === "cancel") yield* cancelNow(one, entries)
      if (one.kind !== "steer" || !isWaiting(one) || one.at > time || one.key === entry?.key) continue
      const known = steers.get(one.key)
      if (known !== undefined && !isMissed(known)) continue
      steers.set(one.key, yield* Effect.forkDetach(steer(site, session, one)))
    }
  })
  return Effect.andThen(
    pause(firstLookMs),
    Effect.forever(Effect.andThen(Effect.ignore(look), pause(site.pollMs)))
  )
}

/** Whether a delivery has ended because no turn was running. */
const isMissed = (fiber: Fiber.Fiber<boolean, unknown>): boolean => {
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.isSuccess(exit) && !exit.value
}

/** Delivers a message to the running turn. Returns false if it was not delivered, so that it waits for its turn. */
const steer = (site: Site, session: AgentSession, entry: Entry): Effect.Effect<boolean, unknown> =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(call(() => session.steer(inputOf(entry))))
    if (Exit.isFailure(exit)) return false
    const outcome = outcomeOfSteer(exit.value)
    if (outcome === undefined) return false
    yield* report(site, entry, outcome)
    return true
  })

const outcomeOfSteer = (outcome: SteerOutcome): Outcome.Outcome | undefined => {
  switch (outcome.type) {
    case "delivered":
      return { status: "delivered", turnNumber: outcome.turnNumber }
    case "refused": {
      const message = `${outcome.by} rejected the message: ${outcome.reason}`
      return { status: "failed", error: { _tag: "HookRejected", message } }
    }
    case "answered":
      return { status: "completed", turnNumber: 0, text: outcome.text, usage: { inputTokens: 0, outputTokens: 0 } }
    default:
      return undefined
  }
}

/** Returns the input of a message. What was said before counts if the conversation is empty. */
export const inputOf = ({ body, key }: Entry, isEmpty = false): TurnInput => {
  const { history, ...input } = bodyOf(body)
  return history === undefined || !isEmpty
    ? { ...input, key }
    : { ...input, key, before: [...history, ...input.before ?? []] }
}

// `send` has decoded it.
const bodyOf = (body: unknown) => body as TurnInput & { readonly history?: ReadonlyArray<Message> }
