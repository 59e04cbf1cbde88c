/**
 * Selects the entries of an event, runs them, and merges their answers. All systems use this engine; their `Dialect`
 * holds what differs.
 */
import { assertArguments } from "@belay/core/ArgumentCheck"
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as AsyncEntries from "./asyncEntries.ts"
import * as Background from "./background.ts"
import type { Answer, Dialect, Entry } from "./Dialect.ts"
import { labelOf } from "./record.ts"
import * as RunEntry from "./runEntry.ts"
import * as Select from "./select.ts"
import type { Setup } from "./setup.ts"

/** The answers of all entries, and the input as the last entry left it. */
export interface Run<I, A> {
  readonly answers: ReadonlyArray<A>
  readonly input: I
}

/** One event that happens now. */
export interface Occurrence<I> {
  readonly event: string
  /** The values that matchers are compared with, such as the names of a tool. */
  readonly subjects: ReadonlyArray<string>
  readonly input: I
}

/** Runs the entries of one event. @category models @since 0.1.0 */
export interface Engine<E, I, A, V> extends AsyncEntries.Later<A> {
  /** Returns whether there is an entry for one of these events. */
  readonly has: (...events: ReadonlyArray<string>) => boolean
  /** Returns whether the matcher of at least one entry of the event accepts these subjects. */
  readonly matches: (event: string, subjects: ReadonlyArray<string>) => boolean
  /** Returns the entries that run now. An entry that runs once in a session counts as run. */
  readonly select: (occurrence: Occurrence<I>, ctx: HookContext) => ReadonlyArray<E>
  /** Runs entries and returns their answers. Warnings and messages in the answers are reported. */
  readonly run: (entries: ReadonlyArray<E>, input: I, ctx: HookContext) => Effect.Effect<Run<I, A>>
  /** Selects the entries, runs them, and merges their answers into a verdict. Returns undefined if no entry runs. */
  readonly fire: (occurrence: Occurrence<I>, ctx: HookContext) => Effect.Effect<V> | undefined
  /** Runs work in the background, and waits for it for at most one second. */
  readonly aside: (work: Effect.Effect<unknown>, ctx: HookContext) => Effect.Effect<void>
  /** Ends a session without waiting for its background work, which is interrupted after `drainMs`. */
  readonly end: (sessionId: string) => Effect.Effect<void>
  /** Waits until the background work of all ended sessions has ended too. */
  readonly drained: Effect.Effect<void>
}

/** Makes an engine for one dialect. @category models @since 0.1.0 */
export const make = <E extends Entry<unknown>, I, A extends Answer, V>(
  dialect: Dialect<E, I, A, V>,
  setup: Setup<E>
): Engine<E, I, A, V> => {
  const areRight = typeof dialect === "object" && dialect !== null && typeof setup === "object" && setup !== null
  assertArguments(areRight, "Engine.make", ["dialect", "setup"], [dialect, setup])
  const background = Background.make(setup.drainMs ?? 5_000)
  const eventOf = setup.eventOf ?? (({ event }) => event)
  const { candidates, has, select } = Select.make(dialect, setup.name, setup.entries, eventOf)
  const runEntry = RunEntry.make(dialect, setup, background)
  const asyncEntries = AsyncEntries.make(dialect, runEntry, background, setup.onWake)

  /** Shows the problems of an answer to the developer, and its messages to the user. */
  const report = (entry: E, input: I, { answer, durationMs }: RunEntry.EntryRun<A>, ctx: HookContext): void => {
    if (dialect.warnsItself !== true) {
      const label = dialect.label?.(entry, answer) ?? labelOf(entry)
      if (answer.problem !== undefined) ctx.warn(`${label} ${answer.problem}`)
      for (const problem of answer.problems) ctx.warn(`${label}: ${problem}`)
    }
    for (const message of answer.messages) ctx.notifyUser(message)
    dialect.report?.({ entry, input, answer, durationMs }, ctx)
  }

  const runInOrder = Effect.fnUntraced(function*(entries: ReadonlyArray<E>, first: I, ctx: HookContext) {
    const answers: Array<A> = []
    let input = first
    for (const entry of entries) {
      const ran = yield* asyncEntries.run({ entry, input, entries }, ctx)
      report(entry, input, ran, ctx)
      answers.push(ran.answer)
      input = dialect.chain?.(input, ran.answer, entry) ?? input
      if (dialect.isFinal?.(ran.answer, entry) === true) break
    }
    return { answers, input }
  })

  const runAtOnce = (entries: ReadonlyArray<E>, input: I, concurrency: number, ctx: HookContext) =>
    Effect.map(
      Effect.forEach(entries, (entry) => asyncEntries.run({ entry, input, entries }, ctx), { concurrency }),
      (all): Run<I, A> => {
        all.forEach((ran, index) => report(entries[index]!, input, ran, ctx))
        return { answers: all.map(({ answer }) => answer), input }
      }
    )

  const run: Engine<E, I, A, V>["run"] = (entries, input, ctx) => {
    const concurrency = dialect.concurrency(entries)
    return concurrency === 1 ? runInOrder(entries, input, ctx) : runAtOnce(entries, input, concurrency, ctx)
  }

  const fire: Engine<E, I, A, V>["fire"] = ({ event, input, subjects }, ctx) => {
    const selected = select(event, subjects, input, ctx)
    if (selected.length === 0) return undefined
    return Effect.gen(function*() {
      const awaited = yield* asyncEntries.start(selected, input, ctx)
      const { answers, input: last } = yield* run(awaited, input, ctx)
      const verdict = dialect.merge(answers, awaited, last)
      for (const conflict of dialect.conflicts?.(verdict) ?? []) ctx.warn(conflict)
      return verdict
    })
  }

  return {
    ...asyncEntries.later,
    has,
    matches: (event, subjects) => candidates(event, subjects).length > 0,
    select: ({ event, input, subjects }, ctx) => select(event, subjects, input, ctx),
    run,
    fire,
    aside: background.aside,
    end: (sessionId) =>
      Effect.suspend(() => {
        asyncEntries.forget(sessionId)
        return background.end(sessionId)
      }),
    drained: background.drained
  }
}
