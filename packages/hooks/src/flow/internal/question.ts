/** The words of questions and refusals. */
import type { Json } from "@belay/core/Json"
import type { Problem, Source } from "./check.ts"

const maxValue = 200
/** How many values a question spells out. `details` has all. */
const maxShown = 20

const shown = (value: string | number): string => {
  const text = String(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}

/** What the reading call was about, such as the name of a file; known only in the process that made the call. */
export type AboutCall = (callId: string) => string | undefined

/** Where a value stands: `result of Read "offer.txt" (step 3)`. */
const placeOf = ({ callId, field, step, tool }: Source, about: AboutCall): string => {
  const what = about(callId)
  const call = what === undefined ? tool : `${tool} ${JSON.stringify(what)}`
  return `${field === "" ? "the result" : `\`${field}\` in the result`} of ${call} (step ${step})`
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

/** The question to the person: the call, and for each value where it comes from. */
export const questionOf = ({ about, isRepeated, isUnasked, problems, tool }: Wrong): string =>
  [
    ...(isRepeated ? [`${tool} has done the same in this turn already`] : []),
    ...(isUnasked ? [`${tool} is not among the acts that you asked for`] : []),
    ...problems.slice(0, maxShown).map((one) =>
      `${tool} wants ${shown(one.argument)} ${JSON.stringify(shown(one.value))}, ${whyOf(one, about)}`
    ),
    ...(problems.length > maxShown ? [`and ${problems.length - maxShown} more values`] : [])
  ].join("; ")

/** The parts of a question, for programs that show them. */
export const detailsOf = ({ about, isRepeated, isUnasked, problems }: Wrong): Json => ({
  dataFlow: problems.map(({ argument, class: kind, problem, source, value }) => {
    const what = source === undefined ? undefined : about(source.callId)
    return {
      argument: shown(argument),
      class: kind,
      value: shown(value),
      why: problem,
      ...(source === undefined ? {} : { source: { ...source, ...(what === undefined ? {} : { about: what }) } })
    }
  }),
  ...(isUnasked ? { isUnasked } : {}),
  ...(isRepeated ? { isRepeated } : {})
})

/** What the model reads when nobody is asked: what is wrong, and how to go on. */
export const feedbackOf = ({ about, isRepeated, isUnasked, problems, tool }: Wrong): string => {
  const why = problems.slice(0, maxShown).map(({ argument, problem, source, value }) =>
    problem === "secret"
      ? `${shown(argument)} contains a secret`
      : `${shown(argument)} ${JSON.stringify(shown(value))} ${
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
