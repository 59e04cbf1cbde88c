/** Applies the verdict of Base Coat hooks at each hook point of the agent. */
import type { TokenBudget } from "@belay/core/Compaction"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import { type Message, text } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import { decodeHint, plain, sum } from "./input.ts"
import type { Events } from "./run.ts"
import type { State } from "./state.ts"
import type { Verdict } from "./verdict.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly events: Events
  readonly state: State
  /** Ends the background work of a session. */
  readonly end: (sessionId: string) => Effect.Effect<void>
}

export const make = (setup: Setup): Effects => ({
  ...sessionEffects(setup),
  ...modelEffects(setup),
  ...compactionEffects(setup),
  onBudget: (budget, ctx) => onBudget(setup, budget, ctx)
})

const warn = ({ warnings }: Verdict, ctx: HookContext): void => warnings.forEach((warning) => ctx.warn(warning))

/** Reports the warnings to the developer and adds the context to the conversation. */
export const deliver = (verdict: Verdict, ctx: HookContext): void => {
  warn(verdict, ctx)
  verdict.context.forEach((one) => ctx.inject(one))
}

const sessionEffects = ({ end, events, name, state }: Setup): Effects => ({
  onSessionStart: (start, ctx) => {
    if (ctx.agent.depth > 0) return undefined
    const { context, previous, sessionId, source, windowTokens = 0 } = start
    state.noteBudget(ctx, state.budget(ctx).usedTokens, windowTokens)
    const fields = { source, sessionId, previous, handoff: source === "rotate" ? context.map(text) : [] }
    const fired = events.fire("SessionStart", ctx, fields, (verdict) => ({ memoryHits: verdict.context.length }))
    return onVerdict(fired, (verdict) => {
      warn(verdict, ctx)
      if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked.reason)
      const added = verdict.context.map((content): Message => ({
        role: "user",
        content: content.slice(0, 10_000).toWellFormed(),
        source: name
      }))
      return added.length === 0 ? undefined : HookAction.transform({ ...start, context: [...context, ...added] })
    })
  },
  onSessionEnd: ({ reason, sessionId }, ctx) => {
    if (ctx.agent.depth > 0) return undefined
    const last = end(ctx.root.sessionId)
    if (!events.has("SessionEnd")) return last
    return Effect.gen(function*() {
      const handoff = reason === "rotate" ? yield* handoffOf(ctx) : ""
      const metrics = ({ metadata }: Verdict) => ({
        persistedFacts: sum(metadata, "persistedFacts"),
        handoffSize: handoff.length
      })
      const fired = events.fire("SessionEnd", ctx, { reason, sessionId, handoffSize: handoff.length }, metrics)
      if (fired !== undefined) warn(yield* fired, ctx)
      yield* last
    })
  }
})

/** Returns the handoff that a rotation has stored before the session ends. Empty if it could not be stored. */
const handoffOf = (ctx: HookContext): Effect.Effect<string> =>
  ctx.artifacts.read("handoff").pipe(Effect.map((text) => text ?? ""), Effect.orElseSucceed(() => ""))

const noteBudget = ({ state }: Setup, { usedTokens, windowTokens }: TokenBudget, ctx: HookContext): void =>
  state.noteBudget(ctx, usedTokens, windowTokens)

const modelEffects = (setup: Setup): Effects => ({
  postLlmCall: ({ executed, response: { usage } }, ctx) => {
    if (!executed || usage === undefined || ctx.agent.depth > 0) return
    setup.state.noteBudget(ctx, usage.inputTokens + usage.outputTokens, 0)
  },
  postStep: ({ budget }, ctx) => {
    if (ctx.agent.depth === 0) noteBudget(setup, budget, ctx)
  },
  onLlmError: ({ error: { _tag, message }, provider }, ctx) => {
    if (!setup.events.has("OnError")) return undefined
    const failure = { about: { source: "model", provider, class: _tag }, where: provider, message }
    return Effect.map(setup.events.fireError(failure, ctx), (verdict) => verdict && deliver(verdict, ctx))
  }
})

const compactionEffects = (setup: Setup): Effects => ({
  preCompaction: ({ budget, hint, messages, trigger }, ctx) => {
    noteBudget(setup, budget, ctx)
    const fields = { trigger, messages: messages.map(plain), hint: { ...hint, anchors: hint.anchors ?? [] } }
    const metrics = ({ context }: Verdict) => ({
      tokenLoad: budget.usedTokens,
      handoffSize: context.join("\n").length
    })
    return onVerdict(setup.events.fire("PreCompact", ctx, fields, metrics), (verdict) => {
      deliver(verdict, ctx)
      if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked.reason)
      if (verdict.input === undefined) return undefined
      const wanted = decodeHint(verdict.input)
      if (Option.isSome(wanted)) return HookAction.transform({ ...hint, ...wanted.value })
      ctx.warn("the changes of a hook do not count at PreCompact: expected keepRecent, instructions or anchors")
      return undefined
    })
  },
  postCompaction: ({ budget, removedCount, summary }, ctx) => {
    const before = setup.state.budget(ctx).usedTokens
    noteBudget(setup, budget, ctx)
    const metrics = ({ context, metadata }: Verdict) => ({
      retainedAnchors: sum(metadata, "retainedAnchors"),
      reinjectedAnchors: context.length,
      compressionRatio: before > 0 ? budget.usedTokens / before : 1
    })
    const fired = setup.events.fire("PostCompact", ctx, { summary, removedCount }, metrics)
    return onVerdict(fired, (verdict) => deliver(verdict, ctx))
  }
})

const onBudget = (
  { events, state }: Setup,
  { kind, level, limit, scope, used }: In<"onBudget">,
  ctx: HookContext
) => {
  const share = limit > 0 ? used / limit : 1
  if (kind === "tokens" && scope === "window" && ctx.agent.depth === 0) state.noteBudget(ctx, used, limit)
  if (level === "warn") return ctx.warn(`${Math.floor(100 * share)}% of the ${scope} budget of ${kind} is used`)
  const threshold = { kind, scope, used, limit, share }
  const rotations = state.tally(ctx).rotations
  const fired = events.fire("OnBudgetExceeded", ctx, { threshold }, () => ({ threshold: share, rotations }))
  return onVerdict(fired, (verdict) => {
    deliver(verdict, ctx)
    if (verdict.blocked === undefined) return
    ctx.warn(verdict.blocked.reason)
    if (ctx.agent.depth > 0) return
    state.updateTally(ctx, (tally) => ({ ...tally, rotations: tally.rotations + 1 }))
    ctx.rotate()
  })
}
