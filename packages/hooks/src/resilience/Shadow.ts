/**
 * Tries a hook out: it sees everything and decides, nothing of it counts, and every difference to what happened is
 * told.
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

/** What a hook decided, or the chain. @category models @since 0.1.0 */
export interface Decided {
  readonly action: HookAction["_tag"]
  readonly reason?: string
  /** Of the chain: the hook that decided. */
  readonly by?: string
}

/**
 * How what the hook would have done differs from what happened. `stricter`: it would have stopped what went on, or
 * stopped it otherwise (refused, asked,
 * answered, aborted); `laxer`: it would have let go on what was stopped; `changed`: it would have changed the value;
 * `said`: it would have told the
 * model or the user something.
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
  /** What it was about: the tool's name at the tool points. */
  readonly subject?: string
  readonly would: Decided
  readonly did: Decided
  /** Of `changed`: the paths that differ, as `path: before -> after`. */
  readonly changes?: ReadonlyArray<string>
  /** What it would have said to the model (`inject`, `followUp`) or the user (`notifyUser`). */
  readonly said?: ReadonlyArray<
    { readonly how: "inject" | "followUp" | "notifyUser" | "rotate"; readonly text: string }
  >
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Hears every difference. What it throws is ignored. */
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
 * How often the hook was asked at each point, agreed with what happened, differed, or failed.
 *
 * @category models
 * @since 0.1.0
 */
export type Report = ReadonlyArray<Schema.Schema.Type<typeof PointCounts>>

/**
 * Wraps any hook. It looks on as an observer, so that it is always asked, about the value that counts in the end; its
 * answers are recorded.
 * Its injections, follow-ups and notices are held back, and what it writes to the state only it reads. Its wrappers
 * (`wrapLlmCall`, `wrapToolCall`)
 * never run: an act cannot be surrounded without doing it. The name is that of the hook with `-shadow` behind it.
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
  const judged = (
    point: HookPointName,
    event: unknown,
    answer: unknown,
    said: NonNullable<Diff["said"]>,
    ctx: HookContext,
    looksOn: boolean
  ): void => {
    // What only looks on decides nothing.
    const action = looksOn ? undefined : answer
    // Core reports an answer that may not be given.
    if (!isLegal(point, action)) return count(counts, point, ["failed"], ctx)
    const found = differences(point, event, action, said, ctx).filter(({ kind }) => !looksOn || kind === "said")
    count(counts, point, found.length === 0 ? ["agreed"] : found.map(({ kind }) => kind), ctx)
    for (const difference of found) {
      Result.try(() => options.onDiff?.({ ...difference, hook: hook.name, point, ...where(event, ctx) }))
    }
  }
  const shadow: Record<string, unknown> = {
    name,
    kind: "observer",
    mode: "shadow",
    ...Object.fromEntries(kept.flatMap((key) => hook[key] === undefined ? [] : [[key, hook[key]]]))
  }
  for (const point of names) {
    const method: unknown = hook[point]
    if (typeof method !== "function") continue
    const looksOn = hook.kind === "observer" || hook.observes?.includes(point) === true
    shadow[point] = (event: unknown, ctx: HookContext) => {
      const said: Array<NonNullable<Diff["said"]>[number]> = []
      const failed = () => count(counts, point, ["failed"], ctx)
      const asked = Result.try((): unknown => method.call(hook, event, apart(ctx, name, hook.name, said, looksOn)))
      if (Result.isFailure(asked)) {
        failed()
        return Effect.fail(asked.failure)
      }
      const answer = asked.success
      if (!isPending(answer)) {
        judged(point, event, answer, said, ctx, looksOn)
        return answer
      }
      return settled(answer).pipe(
        Effect.tap((settledAnswer) => Effect.sync(() => judged(point, event, settledAnswer, said, ctx, looksOn))),
        Effect.tapCause(() => Effect.sync(failed))
      )
    }
  }
  // A method at every point where the hook has one, and its own requirements: `R` is the hook's.
  return HookDefaults.apply(options, shadow as unknown as AgentHook<R>)
}

/** Reads from a session's state what the shadow of this name has counted. @category reading @since 0.1.0 */
export const report = (state: Pick<HookState.HookState, "get">, name: string): Report => state.get(keyOf(name))

/** Renders a report as a table for a terminal. @category rendering @since 0.1.0 */
export const render = (counted: Report): string =>
  textTable(
    ["point", ...columns],
    counted.map((row) => [row.point, ...columns.map((column) => String(row[column]))])
  )

const columns = ["calls", "agreed", "stricter", "laxer", "changed", "said", "failed"] as const

/** What of the hook's place stays. */
const kept = ["priority", "tier", "timeout", "tools"] as const

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

/** The context, but nothing that is said or written through it reaches anybody else. */
const apart = (
  ctx: HookContext,
  name: string,
  hook: string,
  said: Array<NonNullable<Diff["said"]>[number]>,
  looksOn: boolean
): HookContext => {
  type State = Pick<HookState.HookState, "get" | "set" | "update">
  /**
   * What the hook has written itself goes before what others wrote; entries named after it are its own, even where it
   * is in force too.
   */
  const own = <A>(key: HookState.StateKey<A>, others: State): HookState.StateKey<A> => ({
    name: `${name}/${key.name}`,
    initial: key.name.startsWith(`${hook}/`) ? key.initial : others.get(key),
    is: key.is
  })
  const view = (others: () => State): State => ({
    get: (key) => others().get(own(key, others())),
    set: (key, value) => others().set(own(key, others()), value),
    update: (key, f) => others().update(own(key, others()), f)
  })
  const state: HookContext["state"] = {
    ...view(() => ctx.state),
    durable: {
      conversation: view(() => ctx.state.durable.conversation),
      turn: view(() => ctx.state.durable.turn),
      call: (id) => view(() => ctx.state.durable.call(id))
    }
  }
  /** Its texts are kept apart; it reads what others wrote. */
  const artifacts = (): HookContext["artifacts"] => {
    const { artifacts: all } = ctx
    const mine = (key: string) => `${name}/${key}`
    return {
      ...all,
      write: (key, ...rest) => all.write(mine(key), ...rest),
      append: (key, ...rest) => all.append(mine(key), ...rest),
      remove: (key) => all.remove(mine(key))
    }
  }
  return Object.create(ctx, {
    outcome: { value: looksOn ? ctx.outcome : undefined },
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

const settled = (answer: object): Effect.Effect<unknown, unknown> =>
  !Effect.isEffect(answer) && Symbol.iterator in answer
    ? Effect.gen(() => answer as Generator<never, unknown, never>)
    : eventual(() => answer as PromiseLike<unknown>)

const isLegal = (point: HookPointName, answer: unknown): boolean =>
  answer === undefined ||
  (typeof answer === "object" && answer !== null && "_tag" in answer &&
    (answer._tag === "Continue" || (points[point] as Row).legal.some((tag) => tag === answer._tag)))

type Found = Pick<Diff, "kind" | "would" | "did" | "changes" | "said">

/**
 * How far an operation got: a refusal and an abort stop it, a question does for now, an answer in its place does too.
 */
const stops: ReadonlySet<string> = new Set(["Reject", "Abort", "Ask", "Respond"])

const differences = (
  point: HookPointName,
  event: unknown,
  answer: unknown,
  said: NonNullable<Diff["said"]>,
  { outcome }: HookContext
): ReadonlyArray<Found> => {
  const action = (answer ?? { _tag: "Continue" }) as HookAction
  const would: Decided = { action: action._tag, ...("reason" in action ? { reason: action.reason } : {}) }
  const did: Decided = {
    action: outcome?.action ?? "Continue",
    ...(outcome?.reason === undefined ? {} : { reason: outcome.reason }),
    ...(outcome?.decidedBy === undefined ? {} : { by: outcome.decidedBy })
  }
  const found: Array<Found> = said.length === 0 ? [] : [{ kind: "said", would, did, said }]
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

const where = (event: unknown, { sessionId, stepNumber, turnNumber }: HookContext) => {
  const record = Object(event) as { readonly name?: unknown; readonly call?: { readonly name?: unknown } }
  const subject = record.call?.name ?? record.name
  return { ...(typeof subject === "string" ? { subject } : {}), sessionId, turnNumber, stepNumber }
}
