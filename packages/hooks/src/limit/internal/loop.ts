/** What an agent has done lately, as digests: which calls and answers it repeats without anything new. */
import type { Json } from "@belay/core/Json"
import { digest } from "@belay/core/Json"
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "@belay/core/Message"
import * as Schema from "effect/Schema"

/** Most calls that are remembered; the ones that were not made for longest are forgotten. */
const maxCalls = 32

/** Most calls of one step whose keys are remembered. */
const maxOpen = 256

/** What is known of one agent in its current turn. A new turn starts anew: the user's words are progress. */
export interface Trail extends Schema.Schema.Type<typeof Trail> {}
export const Trail = Schema.Struct({
  agent: Schema.String,
  turn: Schema.Finite,
  /** Calls of the step that goes on: digest of the id, key, whether it was kept from running. */
  open: Schema.Array(Schema.Struct({ id: Schema.String, key: Schema.String, blocked: Schema.Boolean })),
  /**
   * Calls that were made: how often without anything new since, with which result, and whether ever again since it was
   * new.
   */
  calls: Schema.Array(
    Schema.Struct({ key: Schema.String, count: Schema.Finite, result: Schema.String, repeated: Schema.Boolean })
  ),
  /**
   * Calls that failed alike: how often, since when and when last (milliseconds), in which step last, and whether
   * anything new was done since, after
   * which another try makes sense.
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
  /** The error that steps in a row ended with, whatever was called. */
  error: Schema.Struct({ key: Schema.String, count: Schema.Finite }),
  /** The answer without tools that was given in a row. */
  text: Schema.Struct({ key: Schema.String, count: Schema.Finite }),
  /** Compactions in a row that made nothing shorter, and what there was before the last. */
  compactions: Schema.Struct({ count: Schema.Finite, before: Schema.Finite }),
  escalations: Schema.Finite,
  /** Why the next model call ends the turn. */
  stop: Schema.String
})

export const begin = (agent: string, turn: number): Trail => ({
  agent,
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

/** Notes that a call has reached its hooks, under its key. */
export const opened = (trail: Trail, id: string, key: string, blocked: boolean): Trail => {
  const known = digest(id)
  const others = trail.open.filter((call) => call.id !== known)
  return { ...trail, open: [...others, { id: known, key, blocked }].slice(-maxOpen) }
}

export const openOf = (trail: Trail, id: string): Trail["open"][number] | undefined => {
  const known = digest(id)
  return trail.open.find((call) => call.id === known)
}

/** How often the call was made in a row without anything new. */
export const timesOf = (trail: Trail, key: string): number => trail.calls.find((call) => call.key === key)?.count ?? 0

/** Notes a failure; a step counts once. */
export const failed = (trail: Trail, key: string, error: string, step: number, now: number): Trail => {
  const known = trail.failures.find((failure) => failure.key === key)
  const others = trail.failures.filter((failure) => failure.key !== key)
  const next = known === undefined || known.error !== error
    ? { key, error, count: 1, since: now, last: now, step, again: false }
    : known.step === step
    ? known
    : { ...known, count: known.count + 1, last: now, step, again: false }
  return { ...trail, failures: [...others, next].slice(-maxCalls) }
}

/** Forgets the failures of a call that succeeded. */
export const succeeded = (trail: Trail, key: string): Trail =>
  trail.failures.some((failure) => failure.key === key)
    ? { ...trail, failures: trail.failures.filter((failure) => failure.key !== key) }
    : trail

/** One call of a finished step. */
export interface Made {
  readonly key: string
  readonly tool: string
  readonly result: string
  readonly error: string | undefined
  readonly blocked: boolean
}

/** Takes a finished step in: what brings nothing new is counted up, anything new starts every count anew. */
export const stepped = (trail: Trail, made: ReadonlyArray<Made>, step: number): Trail => {
  // The same call several times in one step is one call.
  const distinct = made.filter(({ key }, index) => made.findIndex((other) => other.key === key) === index)
  const isNew = ({ blocked, key, result }: Made) =>
    !blocked && trail.calls.find((call) => call.key === key)?.result !== result
  const fresh = distinct.some(isNew)
  const kept = trail.calls.filter(({ key }) => !distinct.some((call) => call.key === key))
    // A call that was new a moment ago may be the first of a round.
    .map((call) => fresh && call.repeated ? { ...call, count: 0 } : call)
  const taken = distinct.map((call) => {
    const known = trail.calls.find(({ key }) => key === call.key)
    return known === undefined || isNew(call)
      ? { key: call.key, count: 1, result: call.result, repeated: false }
      : { ...known, count: fresh ? 1 : known.count + 1, repeated: true }
  })
  const done = distinct.some((call) => isNew(call) && call.error === undefined)
  const failures = done
    ? trail.failures.map((failure) => failure.step === step ? failure : { ...failure, again: true })
    : trail.failures
  return { ...trail, open: [], failures, calls: [...kept, ...taken].slice(-maxCalls), error: errorOf(trail, distinct) }
}

/** A step of which every call failed alike goes on with the error; any other ends it. */
const errorOf = ({ error }: Trail, made: ReadonlyArray<Made>): Trail["error"] => {
  const ran = made.filter(({ blocked }) => !blocked)
  if (ran.length === 0) return error
  const keys = new Set(ran.map((call) => call.error === undefined ? "" : digest([call.tool, call.error])))
  const [key] = keys
  if (keys.size !== 1 || key === undefined || key === "") return { key: "", count: 0 }
  return { key, count: error.key === key ? error.count + 1 : 1 }
}

/** The calls of the last step with their results, where the history ends with them. */
export const lastStep = (messages: ReadonlyArray<Message>): ReadonlyArray<readonly [ToolCall, ToolMessage]> => {
  let at = messages.length - 1
  while (at >= 0 && messages[at]!.role === "tool") at--
  const asked = messages[at]
  if (asked?.role !== "assistant" || asked.toolCalls === undefined) return []
  const results = messages.slice(at + 1) as ReadonlyArray<ToolMessage>
  return (asked as AssistantMessage).toolCalls!.flatMap((call, index) =>
    results[index] === undefined ? [] : [[call, results[index]] as const]
  )
}

/** Whether the model wrote no arguments at all. */
export const isEmpty = (args: Json): boolean =>
  args === null || args === "" || (typeof args === "object" && Object.keys(args).length === 0)
