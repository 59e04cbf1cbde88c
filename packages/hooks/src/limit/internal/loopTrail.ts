/** The recent calls and answers of an agent, as digests: which of them it repeats without a new result. */
import type { Json } from "@belay/core/Json"
import { digest } from "@belay/core/Json"
import type { Message, ToolCall, ToolMessage } from "@belay/core/Message"
import * as Schema from "effect/Schema"

/** How many calls are remembered. The calls that were not made for the longest time are dropped first. */
const maxCalls = 32

/** How many calls of one step are remembered. */
const maxOpen = 256

/**
 * The calls and answers of one agent in its current turn. A new turn starts with an empty trail, because the message of
 * the user is new.
 */
export interface Trail extends Schema.Schema.Type<typeof Trail> {}
export const Trail = Schema.Struct({
  turn: Schema.Finite,
  /** The calls of the current step: the digest of the id, the key, and whether the call was blocked. */
  open: Schema.Array(Schema.Struct({ id: Schema.String, key: Schema.String, blocked: Schema.Boolean })),
  /**
   * The calls that were made: the number of repetitions without a new result, the last result, and whether the call was
   * repeated after a new result.
   */
  calls: Schema.Array(
    Schema.Struct({ key: Schema.String, count: Schema.Finite, result: Schema.String, repeated: Schema.Boolean })
  ),
  /**
   * The calls that failed with the same error: how often, the first and the last time (milliseconds), the last step,
   * and whether something new was done since, so that another attempt makes sense.
   */
  failures: Schema.Array(Schema.Struct({
    key: Schema.String,
    error: Schema.String,
    count: Schema.Finite,
    since: Schema.Finite,
    last: Schema.Finite,
    step: Schema.Finite,
    again: Schema.Boolean
  })),
  /** The error that all calls of the last steps failed with, and the number of these steps. */
  error: Schema.Struct({ key: Schema.String, count: Schema.Finite }),
  /** The last answer without tool calls, and how often it was given in a row. */
  text: Schema.Struct({ key: Schema.String, count: Schema.Finite }),
  /** The number of compactions in a row without effect, and the tokens before the last one. */
  compactions: Schema.Struct({ count: Schema.Finite, before: Schema.Finite }),
  /** How often a person was involved. */
  escalations: Schema.Finite,
  /** Why the next model call ends the turn; empty when it does not. */
  stop: Schema.String
})

/** An empty trail. */
export const emptyTrail = (turn: number): Trail => ({
  turn,
  open: [],
  calls: [],
  failures: [],
  error: { key: "", count: 0 },
  text: { key: "", count: 0 },
  compactions: { count: 0, before: 0 },
  escalations: 0,
  stop: ""
})

// The lists of a trail are frozen. `find`, `filter` and iterators are slow for frozen lists, but reading by index is
// not.

/** The items that are not this one. The new list can be changed. */
const withoutItem = <A>(items: ReadonlyArray<A>, item: A | undefined): Array<A> => {
  const others: Array<A> = []
  for (let index = 0; index < items.length; index++) if (items[index] !== item) others.push(items[index]!)
  return others
}

const withKey = <A extends { readonly key: string }>(items: ReadonlyArray<A>, key: string): A | undefined => {
  for (let index = 0; index < items.length; index++) if (items[index]!.key === key) return items[index]
  return undefined
}

/** Adds a call of the current step. */
export const addOpenCall = (trail: Trail, id: string, key: string, blocked: boolean): Trail => {
  const known = digest(id)
  const open = withoutItem(trail.open, withId(trail.open, known))
  open.push({ id: known, key, blocked })
  return { ...trail, open: open.length > maxOpen ? open.slice(-maxOpen) : open }
}

const withId = (open: Trail["open"], id: string): Trail["open"][number] | undefined => {
  for (let index = 0; index < open.length; index++) if (open[index]!.id === id) return open[index]
  return undefined
}

/** The call of the current step with this id. */
export const openCallOf = (trail: Trail, id: string): Trail["open"][number] | undefined =>
  withId(trail.open, digest(id))

/** How often a call was made in a row without a new result. */
export const repetitionsOf = (trail: Trail, key: string): number => withKey(trail.calls, key)?.count ?? 0

/** The call that failed with this key. */
export const failureOf = (trail: Trail, key: string): Trail["failures"][number] | undefined =>
  withKey(trail.failures, key)

/** Counts a failure, at most once in a step. */
export const addFailure = (trail: Trail, key: string, error: string, step: number, now: number): Trail => {
  const known = trail.failures.find((failure) => failure.key === key)
  const others = trail.failures.filter((failure) => failure.key !== key)
  const isSameError = known !== undefined && known.error === error
  if (isSameError && known.step === step) return { ...trail, failures: [...others, known] }
  const next = isSameError
    ? { ...known, count: known.count + 1, last: now, step, again: false }
    : { key, error, count: 1, since: now, last: now, step, again: false }
  return { ...trail, failures: [...others, next].slice(-maxCalls) }
}

/** Removes the failures of a call that succeeded. */
export const clearFailures = (trail: Trail, key: string): Trail =>
  trail.failures.some((failure) => failure.key === key)
    ? { ...trail, failures: trail.failures.filter((failure) => failure.key !== key) }
    : trail

/** One call of a finished step, with digests of its result and its error. */
export interface FinishedCall {
  readonly key: string
  readonly tool: string
  readonly result: string
  readonly error: string | undefined
  readonly blocked: boolean
}

/** Counts the calls of a finished step. A call without a new result is counted up; a new result resets all counts. */
export const addStep = (trail: Trail, calls: ReadonlyArray<FinishedCall>, step: number): Trail => {
  // The same call several times in one step is one call.
  const distinct = calls.length === 1
    ? calls
    : calls.filter(({ key }, index) => calls.findIndex((other) => other.key === key) === index)
  const known = distinct.map(({ key }) => withKey(trail.calls, key))
  const isNew = ({ blocked, result }: FinishedCall, index: number) => !blocked && known[index]?.result !== result
  const hasNew = distinct.some(isNew)
  const kept = known.length === 1
    ? withoutItem(trail.calls, known[0])
    : trail.calls.filter((call) => !known.includes(call))
  const counted = distinct.map((call, index) => {
    const before = known[index]
    return before === undefined || isNew(call, index)
      ? { key: call.key, count: 1, result: call.result, repeated: false }
      : { ...before, count: hasNew ? 1 : before.count + 1, repeated: true }
  })
  const hasProgress = distinct.some((call, index) => isNew(call, index) && call.error === undefined)
  const failures = hasProgress && trail.failures.length > 0
    ? trail.failures.map((failure) => failure.step === step ? failure : { ...failure, again: true })
    : trail.failures
  // A call that was new in the step before may be the first of a cycle, so its count stays.
  const others = hasNew ? kept.map((call) => call.repeated ? { ...call, count: 0 } : call) : kept
  others.push(...counted)
  return {
    ...trail,
    open: [],
    failures,
    calls: others.length > maxCalls ? others.slice(-maxCalls) : others,
    error: errorOf(trail, distinct)
  }
}

/** Counts a call that is a step of its own. Other calls of the model may still run. */
export const addLoneCall = (trail: Trail, id: string, call: FinishedCall): Trail => ({
  ...addStep(trail, [call], nextStep(trail)),
  open: withoutItem(trail.open, withId(trail.open, digest(id)))
})

/** A step that no failure of the trail has, where nobody counts steps. */
export const nextStep = ({ failures }: Trail): number =>
  failures.reduce((least, { step }) => Math.min(least, step), 0) - 1

/** Counts steps in which all calls failed with the same error. Any other step resets the count. */
const errorOf = ({ error }: Trail, calls: ReadonlyArray<FinishedCall>): Trail["error"] => {
  const ran = calls.filter(({ blocked }) => !blocked)
  if (ran.length === 0) return error
  if (ran.some((call) => call.error === undefined)) return noError
  const keys = new Set(ran.map((call) => digest([call.tool, call.error])))
  const [key] = keys
  if (keys.size !== 1 || key === undefined) return noError
  return { key, count: error.key === key ? error.count + 1 : 1 }
}

const noError: Trail["error"] = Object.freeze({ key: "", count: 0 })

/** The calls of the last step with their results, if the history ends with results. */
export const lastStep = (messages: ReadonlyArray<Message>): ReadonlyArray<readonly [ToolCall, ToolMessage]> => {
  let at = messages.length - 1
  while (at >= 0 && messages[at]!.role === "tool") at--
  const caller = messages[at]
  if (caller?.role !== "assistant" || caller.toolCalls === undefined) return []
  // All messages behind `at` have the role tool.
  const results = messages.slice(at + 1) as ReadonlyArray<ToolMessage>
  return caller.toolCalls.flatMap((call, index) =>
    results[index] === undefined ? [] : [[call, results[index]] as const]
  )
}

/** Whether the model wrote no arguments. */
export const hasNoArguments = (args: Json): boolean =>
  args === null || args === "" || (typeof args === "object" && Object.keys(args).length === 0)
