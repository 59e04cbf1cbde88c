/**
 * Runs a hook as a shadow: it sees everything and decides, but its decisions have no effect. Every difference to what
 * happened is reported.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { eventual } from "@belay/core/Eventual"
import type { HookAction } from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, names, type Row, table as points } from "@belay/core/HookPoint"
import { diff } from "@belay/core/HookRecord"
import * as HookState from "@belay/core/HookState"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { textTable } from "../internal/textTable.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"

/** A decision of a hook or of the chain. @category models @since 0.1.0 */
export interface Decision {
  readonly action: HookAction["_tag"]
  readonly reason?: string
  /** The hook that decided. Present for decisions of the chain. */
  readonly by?: string
}

/**
 * How the decision of the hook differs from what happened.
 *
 * - `stricter`: it would have stopped something that continued, or stopped it in a stricter way.
 * - `laxer`: it would have continued something that was stopped, or stopped it in a milder way.
 * - `changed`: it would have changed the value.
 * - `said`: it would have sent a text to the model or the user.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "stricter" | "laxer" | "changed" | "said"

/** One difference. @category models @since 0.1.0 */
export interface Diff {
  readonly hook: string
  readonly point: HookPointName
  readonly kind: Kind
  /** The name of the tool, at the points of tool calls. */
  readonly subject?: string
  /** What the hook would have done. */
  readonly would: Decision
  /** What happened. */
  readonly did: Decision
  /** The differences as `path: before -> after`. Present for `changed`. */
  readonly changes?: ReadonlyArray<string>
  /** The texts for the model (`inject`, `followUp`) or the user (`notifyUser`). Present for `said`. */
  readonly said?: ReadonlyArray<
    { readonly how: "inject" | "followUp" | "notifyUser" | "rotate"; readonly text: string }
  >
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
}

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
 *   onDiff: ({ did, kind, point, subject, would }) => console.log(`${point} ${subject}: ${kind}, ${would.action} instead of ${did.action}`)
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(hook: AgentHook<R>, options: Options = {}): AgentHook<R> => {
  const name = options.name ?? `${hook.name}-shadow`
  const counts = keyOf(name)
  const compare = (
    point: HookPointName,
    event: unknown,
    answer: unknown,
    said: NonNullable<Diff["said"]>,
    ctx: HookContext,
    isObserver: boolean
  ): void => {
    // An observer decides nothing.
    const action = isObserver ? undefined : answer
    // The runtime reports an answer that is not legal at the point.
    if (!isLegal(point, action)) return count(counts, point, ["failed"], ctx)
    const found = differences(point, event, action, said, ctx).filter(({ kind }) => !isObserver || kind === "said")
    count(counts, point, found.length === 0 ? ["agreed"] : found.map(({ kind }) => kind), ctx)
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
      const said: Array<NonNullable<Diff["said"]>[number]> = []
      const countFailure = () => count(counts, point, ["failed"], ctx)
      const called = Result.try((): unknown => {
        return method.call(hook, event, isolate(ctx, name, hook.name, said, isObserver))
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
  return HookDefaults.apply(options, shadow as unknown as AgentHook<R>)
}

/** Reads the counts of the shadow with this name from a session's state. @category reading @since 0.1.0 */
export const report = (state: Pick<HookState.HookState, "get">, name: string): Report => state.get(keyOf(name))

/** Renders a report as a table for a terminal. @category rendering @since 0.1.0 */
export const render = (counts: Report): string =>
  textTable(
    ["point", ...columns],
    counts.map((row) => [row.point, ...columns.map((column) => String(row[column]))])
  )

const columns = ["calls", "agreed", "stricter", "laxer", "changed", "said", "failed"] as const

/** The options of the hook that the shadow takes over. */
const placeKeys = ["priority", "tier", "timeout", "tools"] as const

const keyOf = (name: string): HookState.StateKey<Report> =>
  HookState.key(`${name}/report`, Schema.Array(PointCounts), [])

const count = (
  key: HookState.StateKey<Report>,
  point: HookPointName,
  what: ReadonlyArray<Kind | "agreed" | "failed">,
  { state }: HookContext
): void => {
  const none = { point, calls: 0, agreed: 0, stricter: 0, laxer: 0, changed: 0, said: 0, failed: 0 }
  state.update(key, (rows) => {
    const row = { ...rows.find((one) => one.point === point) ?? none }
    row.calls++
    for (const column of what) row[column]++
    return rows.some((one) => one.point === point) ? rows.map((one) => one.point === point ? row : one) : [...rows, row]
  })
}

/** A copy of the context through which nothing reaches other hooks, the model or the user. */
const isolate = (
  ctx: HookContext,
  name: string,
  hook: string,
  said: Array<NonNullable<Diff["said"]>[number]>,
  isObserver: boolean
): HookContext => {
  type State = Pick<HookState.HookState, "get" | "set" | "update">
  /**
   * The key under which the shadow stores a value. Its initial value is the value of other hooks; keys with the name of
   * the hook start empty, even if the hook itself runs too.
   */
  const ownKey = <A>(key: HookState.StateKey<A>, others: State): HookState.StateKey<A> => ({
    name: `${name}/${key.name}`,
    initial: key.name.startsWith(`${hook}/`) ? key.initial : others.get(key),
    is: key.is
  })
  const view = (others: () => State): State => ({
    get: (key) => others().get(ownKey(key, others())),
    set: (key, value) => others().set(ownKey(key, others()), value),
    update: (key, f) => others().update(ownKey(key, others()), f)
  })
  const state: HookContext["state"] = {
    ...view(() => ctx.state),
    durable: {
      conversation: view(() => ctx.state.durable.conversation),
      turn: view(() => ctx.state.durable.turn),
      call: (id) => view(() => ctx.state.durable.call(id))
    }
  }
  /** The shadow writes its own artifacts, and reads those of others. */
  const artifacts = (): HookContext["artifacts"] => {
    const { artifacts: all } = ctx
    const ownName = (key: string) => `${name}/${key}`
    return {
      ...all,
      write: (key, ...rest) => all.write(ownName(key), ...rest),
      append: (key, ...rest) => all.append(ownName(key), ...rest),
      remove: (key) => all.remove(ownName(key))
    }
  }
  return Object.create(ctx, {
    outcome: { value: isObserver ? ctx.outcome : undefined },
    state: { value: state },
    artifacts: { get: artifacts },
    rotate: { value: () => void said.push({ how: "rotate", text: "" }) },
    inject: { value: (text: string) => void said.push({ how: "inject", text }) },
    followUp: { value: (text: string) => void said.push({ how: "followUp", text }) },
    notifyUser: { value: (text: string) => void said.push({ how: "notifyUser", text }) }
  }) as HookContext
}

const isPending = (answer: unknown): answer is object =>
  typeof answer === "object" && answer !== null &&
  (Effect.isEffect(answer) || ("then" in answer && typeof answer.then === "function") || Symbol.iterator in answer)

const toEffect = (answer: object): Effect.Effect<unknown, unknown> =>
  !Effect.isEffect(answer) && Symbol.iterator in answer
    ? Effect.gen(() => answer as Generator<never, unknown, never>)
    : eventual(() => answer as PromiseLike<unknown>)

const isLegal = (point: HookPointName, answer: unknown): boolean =>
  answer === undefined ||
  (typeof answer === "object" && answer !== null && "_tag" in answer &&
    (answer._tag === "Continue" || (points[point] as Row).legal.some((tag) => tag === answer._tag)))

type Difference = Pick<Diff, "kind" | "would" | "did" | "changes" | "said">

/** The actions that stop an operation. */
const stops: ReadonlySet<string> = new Set(["Reject", "Abort", "Ask", "Respond"])

const differences = (
  point: HookPointName,
  event: unknown,
  answer: unknown,
  said: NonNullable<Diff["said"]>,
  { outcome }: HookContext
): ReadonlyArray<Difference> => {
  // The answer is legal at the point, as was checked.
  const action = (answer ?? { _tag: "Continue" }) as HookAction
  const would: Decision = "reason" in action ? { action: action._tag, reason: action.reason } : { action: action._tag }
  const did = withoutUndefined<Decision>({
    action: outcome?.action ?? "Continue",
    reason: outcome?.reason,
    by: outcome?.decidedBy
  })
  const found: Array<Difference> = said.length === 0 ? [] : [{ kind: "said", would, did, said }]
  if (stops.has(would.action)) {
    if (would.action !== did.action) {
      found.push({
        kind: did.action === "Abort" || (did.action === "Reject" && would.action !== "Abort") ? "laxer" : "stricter",
        would,
        did
      })
    }
  } else if (stops.has(did.action)) found.push({ kind: "laxer", would, did })
  else if (action._tag === "Transform" || action._tag === "Replace") {
    const { field } = points[point] as Row
    const part = (value: unknown) =>
      field === undefined ? value : (value as { readonly [field: string]: unknown } | undefined)?.[field]
    const changes = diff(
      part(event),
      point === "preToolCall" || field === undefined ? part(action.value) : action.value
    )
    if (changes.length > 0) found.push({ kind: "changed", would, did, changes })
  }
  return found
}

const placeOf = (event: unknown, { sessionId, stepNumber, turnNumber }: HookContext) => {
  const record = Object(event) as { readonly name?: unknown; readonly call?: { readonly name?: unknown } }
  const subject = record.call?.name ?? record.name
  const place = { sessionId, turnNumber, stepNumber }
  return typeof subject === "string" ? { ...place, subject } : place
}
