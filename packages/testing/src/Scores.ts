/**
 * Gives scores to answers. Scorers of autoevals and of evalite can be used as they are: both are functions that get the
 * input, the output and what was expected, and return a score from 0 to 1.
 *
 * @since 0.1.0
 */
import { assertArguments } from "@belay/core/ArgumentCheck"
import { messageOf } from "@belay/core/ErrorMessage"

/** What is scored. `RecordedTurn` of `@belay/observe` has these fields. @category models @since 0.1.0 */
export interface Case {
  readonly session: string
  readonly turn: number
  readonly input: string
  readonly output: string
}

/** What a scorer returns. @category models @since 0.1.0 */
export interface Scored {
  /** The name of the score. Default: the name of the scorer. */
  readonly name?: string
  /** From 0 to 1. Null if the scorer cannot say. */
  readonly score: number | null
  /** Why. The field `rationale` of an object is shown in reports. */
  readonly metadata?: unknown
  /** Set by some libraries instead of throwing. */
  readonly error?: unknown
}

/** What a scorer gets. `E` is what is expected of a case. @category models @since 0.1.0 */
export interface Given<C extends Case = Case, E = unknown> {
  readonly input: string
  readonly output: string
  readonly expected?: E
  readonly turn: C
}

/** Scores the answer to one case. @category models @since 0.1.0 */
export type Scorer<C extends Case = Case, E = unknown> = (
  given: Given<C, E>
) => Scored | number | null | Promise<Scored | number | null>

/** One score of one case. @category models @since 0.1.0 */
export interface Score {
  readonly session: string
  readonly turn: number
  readonly scorer: string
  /** Absent if there is none: `why` says why. It then counts for no mean. */
  readonly score?: number
  readonly why?: string
}

/** The result of scoring. @category models @since 0.1.0 */
export interface Result {
  readonly scores: ReadonlyArray<Score>
  /** For each scorer, the mean of the scores that there are. Absent if there are none. */
  readonly means: { readonly [scorer: string]: number }
  /** How many cases got no score, because a scorer failed or could not say. */
  readonly missing: number
}

/** Options of scoring. @category models @since 0.1.0 */
export interface Options<C extends Case = Case, E = unknown> {
  /** What is expected of a case. It is passed to the scorers. Default: nothing. */
  readonly expected?: (turn: C) => E
  /** How many cases are scored at the same time. Default 4. */
  readonly concurrency?: number
}

/**
 * Gives each case to each scorer. `scorers` has them by name. A scorer that fails, returns null or returns no number
 * from 0 to 1 gives no score. It does not count as 0.
 *
 * @example
 * ```ts
 * import { Recording, RecordedTurn } from "@belay/observe"
 * import { Scores } from "@belay/testing"
 *
 * const isShort: Scores.Scorer = ({ output }) => output.length < 500 ? 1 : 0
 * const usedTools: Scores.Scorer<RecordedTurn.RecordedTurn> = ({ turn }) => turn.calls.length > 0 ? 1 : 0
 *
 * export const check = async (recording: Recording.Recording) => {
 *   const { means } = await Scores.run({ isShort, usedTools }, RecordedTurn.of(recording))
 *   return means["isShort"]! >= 0.9
 * }
 * ```
 * @category testing
 * @since 0.1.0
 */
export const run = async <C extends Case, E = unknown>(
  scorers: { readonly [name: string]: Scorer<C, E> },
  cases: ReadonlyArray<C>,
  options: Options<C, E> = {}
): Promise<Result> => {
  const areRight = typeof scorers === "object" && scorers !== null && Array.isArray(cases) &&
    cases.every((one) => typeof one === "object" && one !== null) && options !== null
  assertArguments(areRight, "Scores.run", ["scorers", "cases", "options"], [scorers, cases, options])
  const { concurrency = 4, expected } = options
  const scores = (cases as ReadonlyArray<C>).map((): ReadonlyArray<Score> => [])
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < cases.length) {
      const index = next++
      const turn = cases[index]!
      const given = { input: turn.input, output: turn.output, turn }
      const all = { ...given, ...(expected === undefined ? {} : { expected: expected(turn) }) }
      const own: Array<Score> = []
      for (const [name, scorer] of Object.entries(scorers)) own.push(await scoreOf(name, scorer, all))
      scores[index] = own
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
  const flat = scores.flat()
  return { scores: flat, means: meansOf(flat), missing: flat.filter(({ score }) => score === undefined).length }
}

const scoreOf = async <C extends Case, E>(
  name: string,
  scorer: Scorer<C, E>,
  given: Given<C, E>
): Promise<Score> => {
  const { turn: { session, turn } } = given
  // `Promise.resolve().then` also catches what a scorer throws before its first await.
  const returned = await Promise.resolve().then(() => scorer(given)).catch((error: unknown) => ({ score: null, error }))
  const { error, metadata, name: own = name, score } = typeof returned === "object" && returned !== null
    ? returned as Scored
    : { score: returned }
  const at = { session, turn, scorer: own }
  if (error !== undefined && error !== null) return { ...at, why: `the scorer failed: ${messageOf(error)}` }
  if (typeof score === "number" && score >= 0 && score <= 1) {
    const { rationale } = Object(metadata) as { readonly rationale?: unknown }
    return { ...at, score, ...(typeof rationale === "string" ? { why: rationale } : {}) }
  }
  return { ...at, why: score === null ? "the scorer could not say" : `expected a number from 0 to 1, found ${score}` }
}

const meansOf = (scores: ReadonlyArray<Score>): Result["means"] => {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const { score, scorer } of scores) {
    if (score === undefined) continue
    const { count, sum } = sums.get(scorer) ?? { sum: 0, count: 0 }
    sums.set(scorer, { sum: sum + score, count: count + 1 })
  }
  return Object.fromEntries([...sums].map(([scorer, { count, sum }]) => [scorer, sum / count]))
}
