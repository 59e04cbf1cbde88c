/** Applies the verdict of Base Coat hooks to tool calls and their results. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import { deliver, type Setup } from "./effects.ts"
import { signatureOf } from "./failures.ts"
import { changed, toolOf } from "./input.ts"
import { recurrenceOf } from "./state.ts"
import type { Verdict } from "./verdict.ts"

export const make = (setup: Setup): Effects => ({
  preToolCall: (call, ctx) => beforeTool(setup, call, ctx),
  postToolCall: (done, ctx) => {
    const { executed, result } = done
    const isWatched = setup.events.has("PostToolUse") || (!result.ok && setup.events.has("OnError"))
    return executed && isWatched ? afterTool(setup, done, ctx) : undefined
  }
})

const beforeTool = ({ events }: Setup, call: In<"preToolCall">, ctx: HookContext) => {
  const { args, id, name, tool: { destructive = false, readOnly = false } } = call
  const fields = { tool: { name, callId: id, input: args }, readOnly, destructive }
  const metrics = ({ context, policies }: Verdict) => ({
    toolCategory: readOnly ? "read" : destructive ? "destructive" : "write",
    policyChecks: policies,
    warningsInjected: context.length
  })
  return onVerdict(events.fire("PreToolUse", ctx, fields, metrics), (verdict) => {
    deliver(verdict, ctx)
    const { asks, blocked, input } = verdict
    if (blocked !== undefined) return HookAction.reject(blocked.reason)
    if (asks !== undefined) return HookAction.ask(asks, undefined, input === undefined ? {} : { args: input })
    return input === undefined ? undefined : HookAction.transform({ id, name, args: input })
  })
}

const afterTool = Effect.fnUntraced(function*(setup: Setup, done: In<"postToolCall">, ctx: HookContext) {
  const { events, state } = setup
  const { call, elapsedMs, result: first } = done
  let result = first
  const tally = ctx.askedAgain ? state.tally(ctx) : state.updateTally(ctx, (old) => ({
    ...old,
    calls: old.calls + 1,
    failures: old.failures + (first.ok ? 0 : 1)
  }))
  const tool = () => toolOf(call.name, call.id, call.args, elapsedMs, result)
  // `PostToolUse` hooks read the error after the hooks of `OnError` have changed it.
  const error = result.ok ? undefined : yield* events.fireError({
    about: { source: "tool" },
    where: call.name,
    message: result.error,
    tool: tool()
  }, ctx)
  if (error !== undefined) {
    deliver(error, ctx)
    result = changed(result, error.output)
  }
  const repeated = first.ok ? 0 : recurrenceOf(state.tally(ctx), signatureOf(call.name, first.error))
  const metrics = () => ({
    durationMs: elapsedMs,
    success: result.ok,
    successRate: (tally.calls - tally.failures) / tally.calls,
    retryCount: repeated,
    loopScore: repeated
  })
  const fired = events.fire("PostToolUse", ctx, { tool: tool() }, metrics)
  const verdict = fired === undefined ? undefined : yield* fired
  if (verdict !== undefined) {
    deliver(verdict, ctx)
    result = changed(result, verdict.output)
  }
  const reasons = [error, verdict].flatMap((one) => one?.blocked?.reason ?? [])
  if (result === first) return reasons.length === 0 ? undefined : HookAction.reject(reasons.join("\n"))
  reasons.forEach((reason) => ctx.inject(reason))
  return HookAction.transform(result)
})
