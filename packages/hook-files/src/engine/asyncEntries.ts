/**
 * Runs asynchronous entries: the agent does not wait for them, their answers are delivered later, and some of them wake
 * the agent.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { maxText } from "../internal/fields.ts"
import type { Finished } from "../process/Command.ts"
import type { Work } from "../runner/Runners.ts"
import type { Background } from "./background.ts"
import type { Answer, Dialect, Entry } from "./Dialect.ts"
import type { EntryRun, EntryStart, RunEntry } from "./runEntry.ts"

/** What asynchronous entries left for the agent after their event was over. */
export interface Later<A> {
  /** Returns the answers that arrived in this session since the last call, and removes them. */
  readonly takeAnswers: (ctx: HookContext) => ReadonlyArray<A>
  /** Returns the texts that should wake the agent and arrived since the last call, and removes them. */
  readonly takeWakes: (ctx: HookContext) => ReadonlyArray<string>
}

export interface AsyncEntries<E, I, A> {
  /**
   * Starts the asynchronous entries in the background, and returns the other entries. If the hook is asked again, the
   * asynchronous entries have already started. They cannot decide, so they do not start a second time.
   */
  readonly start: (entries: ReadonlyArray<E>, input: I, ctx: HookContext) => Effect.Effect<ReadonlyArray<E>>
  /** Runs an entry and waits for it. If its first line of output asks to continue in the background, stops waiting. */
  readonly run: (started: EntryStart<E, I>, ctx: HookContext) => Effect.Effect<EntryRun<A>>
  readonly later: Later<A>
  readonly forget: (sessionId: string) => void
}

/** The most answers, and the most texts, that are kept for one session. */
const maxKept = 100

export const make = <E extends Entry<unknown>, I, A extends Answer, V>(
  { async: rules, silent }: Dialect<E, I, A, V>,
  runEntry: RunEntry<E, I, A>,
  background: Background,
  onWake: ((sessionId: string, text: string) => void) | undefined
): AsyncEntries<E, I, A> => {
  const answers = new Map<string, ReadonlyArray<A>>()
  const wakes = new Map<string, ReadonlyArray<string>>()

  /** Runs an entry in the background and keeps its answer until `takeAnswers`. */
  const keep = (
    work: (isOpen: () => boolean) => Effect.Effect<A | undefined>,
    ctx: HookContext
  ) =>
    background.start((isOpen) =>
      Effect.map(work(isOpen), (answer) => {
        if (answer === undefined || !isOpen() || !rules!.isDelivered(answer)) return
        const { sessionId } = ctx.root
        const kept = answers.get(sessionId) ?? []
        if (kept.length < maxKept) answers.set(sessionId, [...kept, answer])
      }), ctx)

  const wake = (entry: E, sessionId: string, isOpen: () => boolean) => (finished: Finished): void => {
    const text = rules!.wakeText(finished, entry)?.slice(0, maxText).toWellFormed()
    const kept = wakes.get(sessionId) ?? []
    if (text === undefined || kept.length === maxKept || !isOpen()) return
    wakes.set(sessionId, [...kept, text])
    onWake?.(sessionId, text)
  }

  const startAsync = (started: EntryStart<E, I>, ctx: HookContext) =>
    keep((isOpen) => {
      const onFinished = wake(started.entry, ctx.root.sessionId, isOpen)
      return Effect.map(runEntry(started, ctx, { onFinished }), ({ answer }) => answer)
    }, ctx)

  /** Waits until the entry has ended, or until its first line asks to continue in the background. */
  const runDetachable = Effect.fnUntraced(function*(started: EntryStart<E, I>, ctx: HookContext) {
    const detached = yield* Deferred.make<number>()
    const onFirstLine = (line: string) => {
      const ms = rules!.detachMs(line, started.entry)
      if (ms !== undefined) Deferred.doneUnsafe(detached, Effect.succeed(ms))
    }
    const fiber = yield* Effect.forkDetach(runEntry(started, ctx, { onFirstLine }))
    const stop = Fiber.interrupt(fiber)
    const first = yield* Effect.onInterrupt(Effect.raceFirst(Fiber.join(fiber), Deferred.await(detached)), () => stop)
    if (typeof first !== "number") return first
    const rest = Effect.raceFirst(
      Effect.map(Fiber.join(fiber), ({ answer }): A | undefined => answer),
      Effect.as(Effect.sleep(first), undefined)
    )
    yield* keep(() => Effect.ensuring(rest, stop), ctx)
    return { answer: silent, durationMs: 0 }
  })

  return {
    start: Effect.fnUntraced(function*(entries, input, ctx) {
      if (rules === undefined) return entries
      for (const entry of entries) {
        if (rules.isAsync(entry) && !ctx.askedAgain) yield* startAsync({ entry, input, entries }, ctx)
      }
      return entries.filter((entry) => !rules.isAsync(entry))
    }),
    run: (started, ctx) => {
      const { status, work } = started.entry
      if (status !== undefined && ctx.events.active) {
        ctx.events.emit("hook-status", { event: started.entry.event, message: status })
      }
      return rules !== undefined && (work as Work).type === "command"
        ? runDetachable(started, ctx)
        : runEntry(started, ctx)
    },
    later: {
      takeAnswers: ({ root: { sessionId } }) => {
        const kept = answers.get(sessionId) ?? []
        answers.delete(sessionId)
        return kept
      },
      takeWakes: ({ root: { sessionId } }) => {
        const kept = wakes.get(sessionId) ?? []
        wakes.delete(sessionId)
        return kept
      }
    },
    forget: (sessionId) => {
      answers.delete(sessionId)
      wakes.delete(sessionId)
    }
  }
}
