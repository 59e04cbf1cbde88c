/** The words of questions and refusals. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Problem, Source } from "./check.ts"

const maxValue = 200
/** How many values a question spells out. `details` has all. */
const maxShown = 20

/** The last characters of a long value: the end of an address says where it leads. */
const maxEnd = 60

const shown = (value: string | number): string => {
  const text = String(value)
  return text.length > maxValue ? `${text.slice(0, maxValue - maxEnd)}…${text.slice(-maxEnd)}` : text
}

/** Writes a value so that it cannot look like another one, nor like a part of the question. */
const quoted = (value: string | number): string =>
  JSON.stringify(shown(value)).replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu,
    (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`
  )

/** Names come from what was read, too. One that is more than a name is written as a value. */
const named = (name: string): string => /^[\p{L}\p{M}\p{N}_.[\]$-]+$/u.test(name) ? shown(name) : quoted(name)

/** What the reading call was about, such as the name of a file; known only in the process that made the call. */
export type AboutCall = (callId: string) => string | undefined

/** Where a value stands: `result of Read "offer.txt" (step 3)`. */
const placeOf = ({ callId, field, step, tool }: Source, about: AboutCall): string => {
  const what = about(callId)
  const call = what === undefined ? tool : `${tool} ${quoted(what)}`
  return `${field === "" ? "the result" : `\`${named(field)}\` in the result`} of ${call}${
    step === 0 ? "" : ` (step ${step})`
  }`
}

const whyOf = ({ problem, source }: Problem, about: AboutCall): string => {
  if (problem === "secret") return "which comes from a secret source"
  if (source === undefined) return "which you did not name, and which nothing that you trust vouches for"
  return `which stands only in ${placeOf(source, about)}. You did not name it`
}

/** What is wrong with a call. */
export interface Wrong {
  readonly tool: string
  readonly problems: ReadonlyArray<Problem>
  /** Whether nobody asked for such an act. */
  readonly isUnasked: boolean
  /** Whether the same was done in this turn already. */
  readonly isRepeated: boolean
  readonly about: AboutCall
}

/** Who, where and what is run come first, so that they are not among the values that are only counted. */
const gravestFirst = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> =>
  problems.length <= maxShown
    ? problems
    : problems.toSorted((one, other) => weightOf(other) - weightOf(one))

const weightOf = ({ class: kind, problem }: Problem): number =>
  problem === "secret" ? 3 : kind === "principal" || kind === "url" || kind === "command" ? 2 : kind === "other" ? 0 : 1

/** The question to the person: the call, and for each value where it comes from. */
export const questionOf = ({ about, isRepeated, isUnasked, problems, tool }: Wrong): string =>
  [
    ...(isRepeated ? [`${tool} has done the same in this turn already`] : []),
    ...(isUnasked ? [`${tool} is not among the acts that you asked for`] : []),
    ...gravestFirst(problems).slice(0, maxShown).map((one) =>
      `${tool} wants ${named(one.argument)} ${quoted(one.value)}, ${whyOf(one, about)}`
    ),
    ...(problems.length > maxShown ? [`and ${problems.length - maxShown} more values`] : [])
  ].join("; ")

const placeIn = ({ callId, field, step, tool, turn }: Source): JsonObject => ({ tool, callId, field, turn, step })

/** The parts of a question, for programs that show them. */
export const detailsOf = ({ about, isRepeated, isUnasked, problems }: Wrong): Json => ({
  dataFlow: problems.map(({ argument, class: kind, problem, source, value }) => {
    const what = source === undefined ? undefined : about(source.callId)
    return {
      argument: shown(argument),
      class: kind,
      value: shown(value),
      why: problem,
      ...(source === undefined
        ? {}
        : { source: { ...placeIn(source), ...(what === undefined ? {} : { about: what }) } })
    }
  }),
  ...(isUnasked ? { isUnasked } : {}),
  ...(isRepeated ? { isRepeated } : {})
})

/** What the model reads when nobody is asked: what is wrong, and how to go on. */
export const feedbackOf = ({ about, isRepeated, isUnasked, problems, tool }: Wrong): string => {
  const why = gravestFirst(problems).slice(0, maxShown).map(({ argument, problem, source, value }) =>
    problem === "secret"
      ? `${named(argument)} contains a secret`
      : `${named(argument)} ${quoted(value)} ${
        source === undefined ? "has no known origin" : `stands only in ${placeOf(source, about)}`
      }, and the user did not name it`
  )
  const all = [
    ...(isRepeated ? ["it has done the same in this turn already"] : []),
    ...(isUnasked ? ["the user did not ask for such an act"] : []),
    ...why
  ].join("; ")
  return `${tool} was not run: ${all}. Go on without it, or ask the user to name it.`
}
