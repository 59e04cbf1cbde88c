/**
 * Runs a hook as a shadow: the hook receives every event and decides, but its decisions have no effect. Each decision
 * that differs from what happened is reported.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, names } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import { checkObject, checkOptions } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { textTable } from "../internal/textTable.ts"
import { isolate, type Sent } from "./internal/shadowContext.ts"
import { type Decision, type Diff, differences, isLegal, type Kind } from "./internal/shadowDiff.ts"

export type { Decision, Diff, Kind }

/** Options of `Shadow.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Called for every difference. An error that it throws is ignored. */
  readonly onDiff?: (difference: Diff) => void
}

const PointCounts = Schema.Struct({
  point: Schema.String,
  calls: Schema.Finite,
  agreed: Schema.Finite,
  stricter: Schema.Finite,
  laxer: Schema.Finite,
  changed: Schema.Finite,
  said: Schema.Finite,
  failed: Schema.Finite
})

/**
 * The counts for each point: how often the hook was called, agreed with what happened, differed, or failed.
 *
 * @category models
 * @since 0.1.0
 */
export type Report = ReadonlyArray<Schema.Schema.Type<typeof PointCounts>>

const optionKinds: HookDefaults.OwnKinds<Options> = {
  onDiff: "function"
}

/**
 * Makes a shadow of a hook. The shadow is an observer: it is always called, with the final value, and its answers are
 * recorded. Its injections, follow-ups and notifications are not delivered, and only it reads the state that it writes.
 * Its wrappers (`wrapLlmCall`, `wrapToolCall`) never run, because they would perform the operation. The default name is
 * the name of the hook followed by `-shadow`.
 *
 * @example
 * ```ts
 * import * as Shadow from "@belay/hooks/Shadow"
 * import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
 *
 * const candidate = Shadow.make(ToolCallLimit.make({ perTurn: 5 }), {
 *   onDiff: ({ did, kind, point, subject, would }) =>
 *     console.log(`${point} ${subject}: ${kind}, ${would.action} instead of ${did.action}`)
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(hook: AgentHook<R>, options: Options = {}): AgentHook<R> => {
  HookDefaults.checkKinds("shadow", options, optionKinds)
  Result.getOrThrow(checkObject("shadow.hook", hook, "a hook"))
  Result.getOrThrow(checkOptions("shadow.hook", ["name", hook.name, (one) => typeof one === "string", "a text"]))
  const name = options.name ?? `${hook.name}-shadow`
  const compare = (
    point: HookPointName,
    event: unknown,
    answer: unknown,
    said: ReadonlyArray<Sent>,
    ctx: HookContext,
    isObserver: boolean
  ): void => {
    // An observer decides nothing.
    const action = isObserver ? undefined : answer
    // The runtime reports an answer that is not legal at the point.
    if (!isLegal(point, action)) return count(point, ["failed"], ctx)
    const found = differences({ point, event, answer: action, said, outcome: ctx.outcome }).filter(({ kind }) =>
      !isObserver || kind === "said"
    )
    count(point, found.length === 0 ? ["agreed"] : found.map(({ kind }) => kind), ctx)
    for (const difference of found) {
      Result.try(() => options.onDiff?.({ ...difference, hook: hook.name, point, ...placeOf(event, ctx) }))
    }
  }
  const shadow: Record<string, unknown> = {
    name,
    kind: "observer",
    mode: "shadow",
    ...Object.fromEntries(placeKeys.flatMap((key) => hook[key] === undefined ? [] : [[key, hook[key]]]))
  }
  for (const point of names) {
    const method: unknown = hook[point]
    if (typeof method !== "function") continue
    const isObserver = hook.kind === "observer" || hook.observes?.includes(point) === true
    shadow[point] = (event: unknown, ctx: HookContext) => {
      const said: Array<Sent> = []
      const countFailure = () => count(point, ["failed"], ctx)
      const called = Result.try((): unknown => {
        return method.call(hook, event, isolate(ctx, { name, hook: hook.name, said, isObserver }))
      })
      if (Result.isFailure(called)) {
        countFailure()
        return Effect.fail(called.failure)
      }
      const answer = called.success
      if (!isPending(answer)) {
        compare(point, event, answer, said, ctx, isObserver)
        return answer
      }
      return toEffect(answer).pipe(
        Effect.tap((value) => Effect.sync(() => compare(point, event, value, said, ctx, isObserver))),
        Effect.tapCause(() => Effect.sync(countFailure))
      )
    }
  }
  // The shadow has a method at every point where the hook has one, with the same requirements.
  const identity = { kind: "shadow", options: { hook: hook.identity ?? hook, options } }
  return HookDefaults.apply(options, { ...shadow as unknown as AgentHook<R>, identity })
}

/** Reads the counts of the shadow with this name from a session's state. @category reading @since 0.1.0 */
export const report = checked(
  "Shadow.report",
  ["state", "name"],
  (state: Pick<HookState.HookState, "get">, name: string): Report => state.get(keyOf(name))
)

/** Renders a report as a table for a terminal. @category rendering @since 0.1.0 */
export const render = checked("Shadow.render", ["counts"], (counts: Report): string =>
  textTable(
    ["point", ...columns],
    counts.map((row) => [row.point, ...columns.map((column) => String(row[column]))])
  ))

const columns = ["calls", "agreed", "stricter", "laxer", "changed", "said", "failed"] as const

/** The options of the hook that the shadow takes over. */
const placeKeys = ["priority", "tier", "timeout", "tools"] as const

const keyOf: HookState.HookKey<Report> = HookState.ownKey("report", Schema.Array(PointCounts), [])

const count = (
  point: HookPointName,
  what: ReadonlyArray<Kind | "agreed" | "failed">,
  { hook, state }: HookContext
): void => {
  const none = { point, calls: 0, agreed: 0, stricter: 0, laxer: 0, changed: 0, said: 0, failed: 0 }
  state.update(keyOf(hook), (rows) => {
    const row = { ...rows.find((one) => one.point === point) ?? none }
    row.calls++
    for (const column of what) row[column]++
    return rows.some((one) => one.point === point) ? rows.map((one) => one.point === point ? row : one) : [...rows, row]
  })
}

const isPending = (answer: unknown): answer is object =>
  typeof answer === "object" && answer !== null &&
  (Effect.isEffect(answer) || ("then" in answer && typeof answer.then === "function") || Symbol.iterator in answer)

const toEffect = (answer: object): Effect.Effect<unknown, unknown> =>
  !Effect.isEffect(answer) && Symbol.iterator in answer
    ? Effect.gen(() => answer as Generator<never, unknown, never>)
    : eventual(() => answer as PromiseLike<unknown>)

/** Asks for fields with `in`: to read one that the event does not have would warn in the name of the hook. */
const placeOf = (event: unknown, { sessionId, stepNumber, turnNumber }: HookContext) => {
  const place = { sessionId, turnNumber, stepNumber }
  const record = Object(event) as object
  const called: unknown = "call" in record ? record.call : record
  const subject: unknown = "name" in Object(called) ? (called as { readonly name: unknown }).name : undefined
  return typeof subject === "string" ? { ...place, subject } : place
}
