/** Counts repetitions of one agent's calls and answers, and takes the measures of the ladder. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import { digest, type Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import type { PostToolCallEvent, PreToolCallEvent } from "@belay/core/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ownedKey } from "../../internal/ownedKey.ts"
import type { DetectedLoop, Ladder, LoopKeys } from "./detectedLoop.ts"
import { defaultAdvice, describeFailure, describeLoop } from "./loopText.ts"
import * as LoopTrail from "./loopTrail.ts"

/** The options of the hook with their defaults. */
interface Settings {
  readonly name: string
  readonly advice: string | ((loop: DetectedLoop) => string) | undefined
  readonly escalate: "ask" | "notify"
  /** How often a call may fail with the same error; `Infinity` for no limit. */
  readonly failures: number
  readonly ladder: { readonly [K in keyof Ladder]-?: number | false }
  readonly loopKey: LoopKeys
  readonly maxEscalations: number
  readonly isWatched: (tool: string) => boolean
}

/** A compaction has an effect if less than this share of the tokens remains. */
const effectiveShare = 0.95

const trailKey = ownedKey(HookState.ownKey("trail", LoopTrail.Trail, LoopTrail.emptyTrail(0)))

/** A class: its methods share the settings. */
export class LoopWatch {
  private readonly settings: Settings
  /** The repetition at which the first of the measures begins that do not change what happens. */
  private readonly firstMeasure: number

  constructor(settings: Settings) {
    this.settings = settings
    this.firstMeasure = Math.min(this.startOf("observe"), this.startOf("steer"), this.startOf("escalate"))
  }

  beforeCall({ args, id, name: tool }: PreToolCallEvent, ctx: HookContext): ActionAt<"preToolCall"> | undefined {
    const key = this.keyOf(tool, args)
    if (key === undefined) return undefined
    const { escalate, failures, maxEscalations } = this.settings
    const trail = this.trailOf(ctx)
    const count = LoopTrail.repetitionsOf(trail, key) + 1
    const failed = LoopTrail.failureOf(trail, key)
    const failure = failed !== undefined && !failed.again && failed.count >= failures ? failed : undefined
    const isBlocked = count >= this.startOf("block") || failure !== undefined
    const asks = !isBlocked && escalate === "ask" && count >= this.startOf("escalate") &&
      trail.escalations < maxEscalations
    this.update(ctx, (before) => {
      const opened = LoopTrail.addOpenCall(before, id, key, isBlocked)
      // A blocked call has no result, so it counts here if each call is a step of its own.
      const after = isBlocked && isLone(ctx) ? LoopTrail.addLoneCall(opened, id, blockedCall(key, tool)) : opened
      return asks ? { ...after, escalations: after.escalations + 1 } : after
    })
    const loop: DetectedLoop = { kind: "calls", count, what: tool }
    if (count >= this.startOf("stop")) return stopTurn(loop)
    if (failure !== undefined) return HookAction.reject(describeFailure(failure))
    if (isBlocked) return HookAction.reject(`${describeLoop(loop)} It was not made again. Change strategy.`)
    return asks ? HookAction.ask(describeLoop(loop), { tool, count }) : undefined
  }

  afterCall({ call, result }: PostToolCallEvent, ctx: HookContext) {
    const { failures } = this.settings
    const lone = isLone(ctx) ? this.afterLoneCall({ call, result }, ctx) : undefined
    if (lone !== undefined) return lone
    const before = this.trailOf(ctx)
    // Most calls succeed, and nothing has failed before.
    if (failures === Infinity || (result.ok && before.failures.length === 0)) return undefined
    const key = LoopTrail.openCallOf(before, call.id)?.key ?? this.keyOf(call.name, call.args)
    if (key === undefined) return undefined
    if (result.ok) {
      this.update(ctx, (trail) => LoopTrail.clearFailures(trail, key))
      return undefined
    }
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const error = digest(result.error)
      const trail = this.update(ctx, (before) => {
        const step = isLone(ctx) ? LoopTrail.nextStep(before) : ctx.stepNumber
        return LoopTrail.addFailure(before, key, error, step, now)
      })
      const failure = LoopTrail.failureOf(trail, key)!
      return failure.count >= failures ? HookAction.reject(describeFailure(failure)) : undefined
    })
  }

  /** Some drivers do not pass on what the model is asked, so no step ends. There, each call is a step of its own. */
  private afterLoneCall(
    { call: { args, id, name: tool }, result }: Pick<PostToolCallEvent, "call" | "result">,
    ctx: HookContext
  ): HookAction.Abort | undefined {
    const key = LoopTrail.openCallOf(this.trailOf(ctx), id)?.key ?? this.keyOf(tool, args)
    if (key === undefined) return undefined
    const error = result.ok ? undefined : digest(result.error)
    const finished = { key, tool, result: error ?? digest(result.ok ? result.output : ""), error, blocked: false }
    const trail = this.update(ctx, (before) => LoopTrail.addLoneCall(before, id, finished))
    const count = LoopTrail.repetitionsOf(trail, key)
    return this.measured(trail, { kind: "calls", count, what: tool }, ctx)
  }

  afterStep(messages: ReadonlyArray<Message>, ctx: HookContext): HookAction.Abort | undefined {
    const before = this.trailOf(ctx)
    const calls = LoopTrail.lastStep(messages).flatMap((pair) => this.finishedCall(before, pair) ?? [])
    if (calls.length === 0) return undefined
    const trail = this.update(ctx, (now) => LoopTrail.addStep(now, calls, ctx.stepNumber))
    const countOf = ({ key }: LoopTrail.FinishedCall) => LoopTrail.repetitionsOf(trail, key)
    const worst = calls.reduce((most, call) => countOf(call) > countOf(most) ? call : most)
    const count = countOf(worst)
    return this.measured(trail, { kind: worst.invalid ? "invalid-arguments" : "calls", count, what: worst.tool }, ctx)
  }

  /** Takes the measures for repeated calls, or for steps that keep failing if there are more of them. */
  private measured({ error }: LoopTrail.Trail, calls: DetectedLoop, ctx: HookContext): HookAction.Abort | undefined {
    const { count, what } = calls
    const loop: DetectedLoop = count >= error.count ? calls : { kind: "errors", count: error.count, what }
    this.takeMeasures(loop, ctx)
    return loop.count >= this.startOf("stop") ? stopTurn(loop) : undefined
  }

  afterAnswer({ text, toolCalls }: LlmResponse, ctx: HookContext): HookAction.Abort | undefined {
    const answer = text.trim()
    if (toolCalls.length > 0 || answer === "") return undefined
    const key = digest(answer)
    const trail = this.update(ctx, (before) => {
      const count = before.text.key === key ? before.text.count + 1 : 1
      return { ...before, text: { key, count } }
    })
    const loop: DetectedLoop = { kind: "text", count: trail.text.count, what: "the same answer" }
    this.takeMeasures(loop, ctx)
    return loop.count >= this.startOf("stop") ? stopTurn(loop) : undefined
  }

  beforeCompaction(usedTokens: number, ctx: HookContext): HookAction.Reject | undefined {
    const { compactions: { count } } = this.update(ctx, (before) => ({
      ...before,
      compactions: { count: before.compactions.count + 1, before: usedTokens }
    }))
    const loop: DetectedLoop = { kind: "compaction", count, what: "a compaction without effect" }
    this.takeMeasures(loop, ctx)
    if (count >= this.startOf("stop")) this.update(ctx, (trail) => ({ ...trail, stop: stopTurn(loop).reason }))
    return count >= this.startOf("block") ? HookAction.reject(describeLoop(loop)) : undefined
  }

  afterCompaction(usedTokens: number, ctx: HookContext): void {
    if (usedTokens < this.trailOf(ctx).compactions.before * effectiveShare) {
      this.update(ctx, (trail) => ({ ...trail, compactions: { count: 0, before: 0 } }))
    }
  }

  /** Ends the turn if a compaction requested it, because a compaction itself cannot end a turn. */
  beforeModelCall(ctx: HookContext): HookAction.Abort | undefined {
    const { stop } = this.trailOf(ctx)
    return stop === "" ? undefined : HookAction.abort(stop)
  }

  /** The measures that do not change what happens: warning, event, advice and notification. */
  private takeMeasures(loop: DetectedLoop, ctx: HookContext): void {
    const { escalate, maxEscalations, name } = this.settings
    const { count } = loop
    // Most calls are not repeated.
    if (count < this.firstMeasure) return
    const description = describeLoop(loop)
    if (count === this.startOf("observe")) ctx.warn(description)
    if (count >= this.startOf("observe")) ctx.events.emit("loop", { kind: loop.kind, count, what: loop.what })
    if (count === this.startOf("steer")) ctx.inject(this.adviceFor(loop), { key: name, mode: "overwrite" })
    const asksInstead = escalate === "ask" && loop.kind === "calls"
    if (count < this.startOf("escalate") || asksInstead || this.trailOf(ctx).escalations >= maxEscalations) return
    this.update(ctx, (trail) => ({ ...trail, escalations: trail.escalations + 1 }))
    ctx.notifyUser(description)
  }

  /** The advice of the options. The default advice replaces a function that throws. */
  private adviceFor(loop: DetectedLoop): string {
    const { advice } = this.settings
    if (typeof advice !== "function") return advice ?? defaultAdvice(loop)
    return Result.getOrElse(Result.try(() => advice(loop)), () => defaultAdvice(loop))
  }

  /** The repetition at which a measure begins. */
  private startOf(measure: keyof Ladder): number {
    const count = this.settings.ladder[measure]
    return count === false ? Infinity : count
  }

  /** What makes calls the same; `undefined` for a call that is not watched. */
  private keyOf(tool: string, args: Json): string | undefined {
    const { isWatched, loopKey } = this.settings
    const key = Object.hasOwn(loopKey, tool) ? loopKey[tool] : undefined
    if (key === false || !isWatched(tool)) return undefined
    if (key === undefined) return digest([tool, args])
    // When the function throws, all arguments count.
    const part = typeof key === "function"
      ? Result.getOrElse(Result.try(() => key(args)), () => args)
      : fieldsOf(args, key)
    return digest([tool, part])
  }

  private finishedCall(
    trail: LoopTrail.Trail,
    [call, message]: ReturnType<typeof LoopTrail.lastStep>[number]
  ): (LoopTrail.FinishedCall & { readonly invalid: boolean }) | undefined {
    const open = LoopTrail.openCallOf(trail, call.id)
    // A call that was opened is watched, and its key may be that of changed arguments.
    const callKey = open?.key ?? this.keyOf(call.name, call.args)
    if (callKey === undefined) return undefined
    // A call that did not reach the hooks had invalid arguments, or the policy denied it.
    const invalid = open === undefined && message.isError === true &&
      (call.malformed !== undefined || LoopTrail.hasNoArguments(call.args))
    return {
      key: open?.key ?? (invalid ? digest([call.name, "invalid"]) : callKey),
      tool: call.name,
      result: invalid ? "invalid" : digest(message.content),
      error: message.isError === true ? digest(message.content) : undefined,
      blocked: open?.blocked ?? false,
      invalid
    }
  }

  private trailOf({ hook, local, turnNumber }: HookContext): LoopTrail.Trail {
    const trail = local.get(trailKey.keyOf(hook))
    return trail.turn === turnNumber ? trail : LoopTrail.emptyTrail(turnNumber)
  }

  /** Changes the trail of the context's agent, and returns it. */
  private update(ctx: HookContext, change: (trail: LoopTrail.Trail) => LoopTrail.Trail): LoopTrail.Trail {
    const changed = change(this.trailOf(ctx))
    ctx.local.set(trailKey.keyOf(ctx.hook), trailKey.made(changed))
    return changed
  }
}

/** Whether a call belongs to no step, because the driver does not pass on what the model is asked. */
const isLone = ({ stepNumber }: HookContext): boolean => stepNumber === 0

const blockedCall = (key: string, tool: string): LoopTrail.FinishedCall => ({
  key,
  tool,
  result: "",
  error: undefined,
  blocked: true
})

const stopTurn = (loop: DetectedLoop): HookAction.Abort =>
  HookAction.abort(`${describeLoop(loop)} The turn was stopped.`)

const fieldsOf = (args: Json, fields: ReadonlyArray<string>): Json => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args
  // `Array.isArray` does not narrow a readonly array.
  const object = args as { readonly [field: string]: Json }
  return fields.map((field) => Object.hasOwn(object, field) ? object[field]! : null)
}
