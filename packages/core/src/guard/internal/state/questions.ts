/**
 * The questions about one call, of the policy and of hooks, as one question. Its terms are the strictest: only people
 * whom every question accepts, the largest quorum, the earliest expiry, the narrowest place to remember an approval.
 */
import { defined } from "../../../data/option/Fields.ts"
import type { Decision, PendingAsk } from "../../../data/RunState.ts"
import type { Ask, AskOptions } from "../../../hook/HookAction.ts"
import type { HookQuestion } from "../../../hook/HookChain.ts"
import { whyNotCounted } from "./decision.ts"
import { isSettled, type ToolCallState } from "./toolCallState.ts"

/** Questions about one call, and the first of them. */
export type Questions = readonly [HookQuestion, ...ReadonlyArray<HookQuestion>]

/** The terms of a question, as far as they say who may answer it, and how. */
type Terms = Partial<Pick<PendingAsk, "allowed" | "approvers" | "quorum">>

/** Returns the terms of a question. An untyped hook may have invalid ones. */
const termsOf = ({ allowed, approvers, quorum }: Pick<Ask, "allowed" | "approvers" | "quorum">): Terms =>
  defined({
    allowed: Array.isArray(allowed) ? allowed : undefined,
    approvers: Array.isArray(approvers) ? [...new Set(approvers.map((name) => name.trim()))] : undefined,
    quorum: typeof quorum === "number" && quorum > 1 ? Math.ceil(quorum) : undefined
  })

/** Returns the terms that satisfy all questions, or a text that names questions which nobody can answer together. */
export const strictest = (tool: string, questions: Questions): Terms | string => {
  const all = questions.map(({ ask, by }) => ({ by, terms: termsOf(ask) }))
  const allowed = intersection(all.flatMap(({ terms }) => terms.allowed === undefined ? [] : [terms.allowed]))
  const approvers = intersection(all.flatMap(({ terms }) => terms.approvers === undefined ? [] : [terms.approvers]))
  const quorum = Math.max(...all.map(({ terms }) => terms.quorum ?? 1))
  const rules = all.flatMap(({ by, terms }) => rulesOf(by, terms)).join("; ")
  if (approvers !== undefined && approvers.length < quorum) {
    return `nobody can approve ${tool}, because too few people may decide: ${rules}`
  }
  if (allowed !== undefined && allowed.length === 0) {
    return `nobody can decide about ${tool}, because no kind of answer is accepted: ${rules}`
  }
  return defined({ allowed, approvers, quorum: quorum > 1 ? quorum : undefined })
}

const rulesOf = (by: string, { allowed, approvers, quorum }: Terms): ReadonlyArray<string> => {
  const rules = [
    ...(approvers === undefined ? [] : [`accepts ${approvers.join(", ") || "nobody"}`]),
    ...(quorum === undefined ? [] : [`needs ${quorum} people`]),
    ...(allowed === undefined ? [] : [`takes the answers ${allowed.join(", ") || "none"}`])
  ]
  return rules.length === 0 ? [] : [`${by} ${rules.join(" and ")}`]
}

const intersection = <A>(lists: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> | undefined =>
  lists.length === 0 ? undefined : lists.reduce((one, two) => one.filter((item) => two.includes(item)))

/** Returns the earliest expiry, in milliseconds from now. */
export const earliest = (questions: Questions): number =>
  Math.min(...questions.map(({ ask: { expiresInMs = Infinity } }) => expiresInMs))

/** Where approvals are remembered for each asker: nowhere if one of them wants that, or only in the session. */
export const narrowest = (questions: Questions, floor?: PendingAsk["standing"]): Questions => {
  const all = [floor, ...questions.map(({ ask: { standing } }) => standing)]
  const standing = all.includes("none") ? "none" : all.includes("session") ? "session" : undefined
  if (standing === undefined) return questions
  const [first, ...rest] = questions
  const narrowed = (one: HookQuestion): HookQuestion => ({ ...one, ask: { ...one.ask, standing } })
  return [narrowed(first), ...rest.map(narrowed)]
}

/** Returns the function of the first asker that has one, and the name of that asker. */
export const answerOf = (
  questions: Questions
):
  | { readonly by: string; readonly answer: (ask: PendingAsk, options: AskOptions) => ReturnType<Answer> }
  | undefined =>
{
  for (const { ask: { answer }, by } of questions) if (answer !== undefined) return { by, answer }
  return undefined
}

type Answer = NonNullable<Ask["answer"]>

/** Returns the questions as stored ones, from the question that was put for all of them. */
export const questionsOf = ({ by, reason, reasons, standing }: PendingAsk): Questions => {
  const ask = (text: string): Ask => ({ _tag: "Ask", reason: text, ...(standing === undefined ? {} : { standing }) })
  const [first, ...rest] = (reasons ?? [{ by, reason }]).map((one) => ({ by: one.by, ask: ask(one.reason) }))
  return [first!, ...rest]
}

/** Returns the questions that nobody has answered for exactly these arguments. */
export const unanswered = (
  state: ToolCallState,
  questions: ReadonlyArray<HookQuestion>,
  text: string
): ReadonlyArray<HookQuestion> =>
  questions.filter(({ ask, by }) =>
    !isSettled(state, by, () => text) && !isEdited(state, by, text, ask, state.decision)
  )

/** Whether a person who may decide about this question has written these arguments. */
const isEdited = (
  { ask: earlier, settled = [] }: ToolCallState,
  by: string,
  text: string,
  ask: Ask,
  decision: Decision | undefined
): boolean =>
  earlier !== undefined && decision?.type === "edit" &&
  settled.some((one) => one.edited === true && one.hook === by && one.fingerprint === text) &&
  whyNotCounted({ ...termsOf(ask), tool: earlier.tool }, decision) === undefined
