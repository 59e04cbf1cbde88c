/** Runs one entry and decodes its answer. An entry that may not run is refused. */
import * as Deadline from "@belay/core/Deadline"
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Finished } from "../process/Command.ts"
import type { Work } from "../runner/Runners.ts"
import type { Background } from "./background.ts"
import type { Answer, Dialect, Ending, Entry } from "./Dialect.ts"
import { recordRun } from "./record.ts"
import { notifyRefusal, refusalOf } from "./refusal.ts"
import type { Setup } from "./setup.ts"

/** One entry that is about to run. */
export interface EntryStart<E, I> {
  readonly entry: E
  readonly input: I
  /** All entries that run at this event. */
  readonly entries: ReadonlyArray<E>
}

/** Callbacks for what happens while the entry runs. */
export interface Listeners {
  readonly onFirstLine?: (line: string) => void
  readonly onFinished?: (finished: Finished) => void
}

export interface EntryRun<A> {
  readonly answer: A
  readonly durationMs: number
}

export type RunEntry<E, I, A> = (
  started: EntryStart<E, I>,
  ctx: HookContext,
  listeners?: Listeners
) => Effect.Effect<EntryRun<A>>

export const make = <E extends Entry<unknown>, I, A extends Answer, V>(
  dialect: Dialect<E, I, A, V>,
  { blockOnError = false, maxOutput, onFailed, refuse, runners }: Setup<E>,
  background: Background
): RunEntry<E, I, A> => {
  /** Makes an entry that broke block, if the host wants that and the entry can block. */
  const strict = (answer: A, entry: E): A => {
    const isBroken = answer.outcome === "nonBlockingError" || answer.outcome === "cancelled"
    if (!blockOnError || !isBroken || dialect.guards?.(entry, answer) !== true) return answer
    const reason = `a hook broke: it ${answer.problem ?? "did not answer within the model calls that it may make"}`
    return { ...answer, outcome: "blocking", ...dialect.deny?.(reason, entry) }
  }

  /**
   * Returns the answer of an entry that may not run. If the entry could have blocked a call, a person decides about the
   * call.
   */
  const notRun = (entry: E, reason: string): A => {
    const answer: A = { ...dialect.silent, outcome: "nonBlockingError", problem: `was not run: ${reason}` }
    return blockOnError ? strict(answer, entry) : { ...answer, ...dialect.ask?.(reason, entry) }
  }

  const reportFailure = ({ outcome, problem }: A, entry: E, ctx: HookContext): void => {
    const isFailure = outcome === "nonBlockingError" || outcome === "cancelled"
    if (isFailure && problem !== undefined) onFailed?.({ entry, outcome, problem }, ctx)
  }

  const requestWork = (
    { entries, entry, input }: EntryStart<E, I>,
    now: number,
    listeners: Listeners,
    ctx: HookContext
  ) => {
    // The dialect evaluates all work that is not a `Work`, so only a `Work` gets here.
    const { work = entry.work as Work, ...request } = dialect.request(entry, input, ctx, { entries, now })
    const task = {
      ...request,
      ...(ctx.askedAgain ? { env: { ...request.env, BELAY_ASKED_AGAIN: "1" } } : {}),
      ...defined({ trusted: entry.trusted, maxOutput, onFirstLine: listeners.onFirstLine }),
      work,
      onLinger: (left: Parameters<Background["keep"]>[0]) => background.keep(left, ctx)
    }
    return Effect.map(runners(task, ctx), (finished): Ending => ({ type: "finished", finished }))
  }

  return (started, ctx, listeners = {}) =>
    Effect.gen(function*() {
      const { entry, input } = started
      // Code comes from the host, so it may run without a decision about trust.
      const evaluated = dialect.evaluate?.(entry, input, ctx)
      const reason = evaluated === undefined ? yield* refusalOf(refuse, entry) : undefined
      if (reason !== undefined) {
        notifyRefusal(refuse!, entry.file, reason, ctx)
        const answer = notRun(entry, reason)
        reportFailure(answer, entry, ctx)
        return { answer, durationMs: 0 }
      }
      const begin = yield* Deadline.now
      const time = yield* Clock.currentTimeMillis
      const ending = yield* evaluated ??
        Effect.onInterrupt(
          requestWork(started, time, listeners, ctx),
          () => Effect.sync(() => recordRun(entry, "cancelled", undefined, ctx))
        )
      const answer = strict(dialect.decode(ending, entry), entry)
      reportFailure(answer, entry, ctx)
      if (ending.type === "finished") {
        recordRun(entry, answer.outcome, ending.finished, ctx)
        listeners.onFinished?.(ending.finished)
      }
      return { answer, durationMs: Math.round((yield* Deadline.now) - begin) }
    })
}
