/** Recognizes the kinds of answers, and describes what is wrong with the answer of an untyped hook. */
import * as Effect from "effect/Effect"
import { whyNot } from "../../data/Json.ts"
import { nearest } from "../../data/text/NamePattern.ts"
import type { HookAction } from "../HookAction.ts"
import { names, table } from "../HookPoint.ts"
import type { CompiledPoint } from "./compiledPoint.ts"

const tags: ReadonlyArray<string> = ["Continue", "Transform", "Replace", "Reject", "Respond", "Abort", "Ask"]
const known: ReadonlySet<unknown> = new Set(tags)

/** The fields of actions. */
const fields = [
  "value",
  "reason",
  "userMessage",
  "feedback",
  "retries",
  "output",
  "keepMessage",
  "details",
  "args",
  "expiresInMs",
  "approvers",
  "quorum",
  "allowed",
  "answer",
  "standing"
]

/**
 * Returns an answer that reads the same every time: an object with getters could answer Continue first and Abort later.
 * `tag` is the tag, if it was read before. What is not an action is returned as it is.
 */
export const readOnce = (answer: unknown, tag?: unknown): unknown => {
  if (typeof answer !== "object" || answer === null) return answer
  try {
    if (isSettled(answer) || Effect.isEffect(answer)) return answer
    const found = tag ?? (answer as { readonly _tag?: unknown })._tag
    if (typeof found !== "string") return answer
    const copy: Record<string, unknown> = { _tag: found }
    // A field of a question that nobody knows may be a misspelt condition.
    for (const field of found === "Ask" ? new Set([...fields, ...Object.keys(answer)]) : fields) {
      const value = (answer as Record<string, unknown>)[field]
      if (value !== undefined) copy[field] = value
    }
    return Object.freeze(copy)
  } catch (error) {
    return unreadable(error)
  }
}

/** Whether it is frozen, with plain values, as the constructors of actions make them. */
const isSettled = (answer: object): boolean => {
  if (!Object.isFrozen(answer)) return false
  const has = (key: string) => "value" in (Object.getOwnPropertyDescriptor(answer, key) ?? {})
  return has("_tag") && Object.keys(answer).every(has)
}

/** An answer that could not be read. Every reading of it throws the error. */
export const unreadable = (error: unknown): object =>
  Object.freeze({
    get _tag(): never {
      throw error
    }
  })

/** Whether it has the tag of an action. May throw, because reading a foreign object may run its code. */
export const isAction = (answer: unknown): answer is HookAction =>
  typeof answer === "object" && answer !== null && "_tag" in answer && known.has(answer._tag)

/** Whether it is asynchronous: an Effect, a promise or a generator of Effects. */
export const isPending = (answer: unknown): answer is object => {
  try {
    return typeof answer === "object" && answer !== null && !isAction(answer) &&
      (Effect.isEffect(answer) || isThenable(answer) ||
        ("next" in answer && typeof answer.next === "function" && !(Symbol.asyncIterator in answer)))
  } catch {
    return false
  }
}

/** Whether it is a platform promise. An object that throws when it is inspected is not. */
export const isPromise = (answer: unknown): answer is Promise<unknown> => {
  try {
    return answer instanceof Promise
  } catch {
    return false
  }
}

export const isThenable = (answer: object): answer is PromiseLike<unknown> =>
  !Effect.isEffect(answer) && "then" in answer && typeof answer.then === "function"

/**
 * Returns the event after a `Transform` that is legal and fits the point, or nothing for any other answer. May throw,
 * because reading a foreign object may run its code.
 */
export const plainChange = (
  { apply, legal, wrong }: CompiledPoint,
  answer: unknown,
  event: unknown
): { readonly event: unknown } | undefined => {
  if (legal.Transform !== true || typeof answer !== "object" || answer === null) return undefined
  // It is an object, so any key may be read.
  const { _tag, value } = answer as { readonly _tag?: unknown; readonly value?: unknown }
  if (_tag !== "Transform" || wrong?.(value, event) !== undefined) return undefined
  return { event: apply === undefined ? value : apply(event, value) }
}

/** Describes why an answer is illegal. Returns nothing if it is legal. */
export const violation = (point: CompiledPoint, answer: unknown, event: unknown): string | undefined => {
  if (typeof answer !== "object" || answer === null) {
    return `answered ${answer === null ? "null" : `a ${typeof answer}`}; expected nothing or an action`
  }
  if (Symbol.asyncIterator in answer) {
    return "answered an asynchronous generator; expected an async function, or a generator of Effects (function*)"
  }
  const tag = "_tag" in answer ? answer._tag : undefined
  if (typeof tag !== "string") {
    return `answered an object without _tag (keys: ${Object.keys(answer).slice(0, 5).join(", ")})${
      meantInstead(answer)
    }`
  }
  if (!tags.includes(tag)) {
    const meant = nearest(tag, tags)
    return `answered ${tag}, which is not an action${meant === undefined ? "" : `; did you mean ${meant}?`}`
  }
  if (point.legal[tag] !== true) {
    const legal = ["Continue", ...point.row.legal].join(", ")
    return `${tag} is not legal at ${point.point}, where ${legal} are${elsewhere(tag, point.point)}`
  }
  if (tag === "Transform" || tag === "Replace") {
    // Its tag is legal here. The checks examine the other fields, because the answer may be untyped.
    const wrong = point.wrong?.((answer as { readonly value?: unknown }).value, event)
    return wrong === undefined ? undefined : `${tag} at ${point.point}: ${wrong}`
  }
  if (
    (tag === "Reject" || tag === "Abort" || tag === "Ask") &&
    typeof (answer as { readonly reason?: unknown }).reason !== "string"
  ) {
    return `${tag} at ${point.point}: expected a string \`reason\``
  }
  if (tag === "Ask") {
    const wrong = wrongQuestion(point, answer)
    if (wrong !== undefined) return `Ask at ${point.point}: ${wrong}`
  }
  if (tag === "Respond") {
    const { output } = answer as { readonly output?: unknown }
    const wrong = output === undefined ? "expected an `output`" : point.row.wrongOutput?.(output as never)
    return wrong === undefined ? undefined : `Respond at ${point.point}: ${wrong}`
  }
  return undefined
}

const questionFields = [
  "_tag",
  "reason",
  "details",
  "args",
  "expiresInMs",
  "approvers",
  "quorum",
  "allowed",
  "answer",
  "standing"
]

const decisions: ReadonlyArray<unknown> = ["approve", "deny", "edit", "respond", "delegate"]

/** Without this check, a wrong condition would be left out, and then anybody could approve. */
const wrongQuestion = (point: CompiledPoint, answer: object): string | undefined => {
  // It is an object, so any key may be read.
  const { allowed, approvers, args, expiresInMs, quorum, standing } = answer as { readonly [key: string]: unknown }
  const unknown = Object.keys(answer).find((key) => !questionFields.includes(key))
  if (unknown !== undefined) {
    const meant = nearest(unknown, questionFields)
    return `there is no field \`${unknown}\`${meant === undefined ? "" : `; did you mean \`${meant}\`?`}`
  }
  if (args !== undefined) {
    if (point.point !== "preToolCall") return "`args` can be proposed at preToolCall only"
    const why = whyNot(args, "args")
    if (why !== undefined) return `expected JSON, ${why}`
  }
  if (!isTexts(allowed) || allowed?.some((one) => !decisions.includes(one)) === true) {
    return `expected \`allowed\` to be a list of ${decisions.join(", ")}`
  }
  if (!isTexts(approvers)) return "expected `approvers` to be a list of texts"
  if (standing !== undefined && standing !== "session" && standing !== "none" && !isRuleStore(standing)) {
    return "expected `standing` to be session, none or a store of rules with `load` and `add`"
  }
  if (expiresInMs !== undefined && !(typeof expiresInMs === "number" && expiresInMs > -Infinity)) {
    return "expected `expiresInMs` to be a number of milliseconds"
  }
  const isQuorum = quorum === undefined || (typeof quorum === "number" && quorum >= 1 && quorum < Infinity)
  return isQuorum ? undefined : "expected `quorum` to be a number of people, at least 1"
}

const isRuleStore = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "load" in value && "add" in value && typeof value.add === "function"

const isTexts = (value: unknown): value is ReadonlyArray<string> | undefined =>
  value === undefined || (Array.isArray(value) && value.every((item) => typeof item === "string"))

const meantInstead = (answer: object): string =>
  "proceed" in answer || "action" in answer || "decision" in answer || "block" in answer
    ? "; return HookAction.reject(reason), HookAction.transform(value) or nothing"
    : "; expected one of HookAction's constructors"

/** Points of the same family where the action would be legal. */
const elsewhere = (tag: string, point: string): string => {
  const word = point.replace(/^(on|pre|post)/, "")
  const fits = names.filter((name) =>
    name !== point && (table[name].legal as ReadonlyArray<string>).includes(tag) && name.endsWith(word)
  )
  return fits.length === 0 ? "" : `; it is at ${fits.join(", ")}`
}
