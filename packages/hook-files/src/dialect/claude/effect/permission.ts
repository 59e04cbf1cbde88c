/**
 * Runs `PreToolUse` and `PermissionRequest` entries and obeys their answers. If the policy asks for a decision about a
 * call, they run before a person is asked. Otherwise they run when the tool is about to run. `PreToolUse` entries run
 * only once for the same arguments. They also read calls that rules of `permissions` deny, and cannot change that.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Effects } from "../../../engine/effects.ts"
import type { Verdict } from "../answer/verdict.ts"
import { ruleHooks } from "../config/permissionRules.ts"
import type { Call } from "../input/input.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly before: boolean
  readonly permission: boolean
  readonly denied: boolean
  /** Fires `Notification`, because a person is about to be asked. */
  readonly notify: (ctx: HookContext, call: ToolCall) => Effect.Effect<void> | undefined
  /** Fires an event about a tool call. Returns undefined if no entry runs. */
  readonly fire: (
    event: "PreToolUse" | "PermissionRequest" | "PermissionDenied",
    ctx: HookContext,
    call: Call,
    fields?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** Converts an input of an entry to the arguments of the tool. */
  readonly back: (call: Call, input: JsonObject, ctx: HookContext) => Json
  readonly inject: (verdict: Verdict, ctx: HookContext) => void
}

/** What the entries answered about one call. */
interface CallDecision {
  /** A digest of the arguments that the entries read. */
  readonly args: string
  readonly verdict: Verdict | undefined
  /** A digest of the arguments that were allowed. */
  readonly allowed?: string
  /** New arguments with which the tool runs. */
  readonly instead?: Json
}

type Action = HookAction.Abort | HookAction.Ask | HookAction.Reject | HookAction.Transform<ToolCall> | undefined

/** The answer of `PermissionRequest` entries. Undefined if a person must be asked. */
type RequestAnswer =
  | { readonly isAllowed: false; readonly action: HookAction.Abort | HookAction.Reject }
  | { readonly isAllowed: true; readonly instead: Json | undefined }
  | undefined

const maxKept = 1_000

export const make = (setup: Setup): Pick<Effects, "onPermission" | "preToolCall" | "onToolDenied"> => {
  const { before, denied, fire, inject, name, permission } = setup
  const kept = new Map<string, CallDecision>()
  const idOf = (ctx: HookContext, { id }: ToolCall) => `${ctx.sessionId}/${id}`
  /** The calls that `PreToolUse` entries have read. */
  const told = new Set<string>()
  const note = (id: string): void => {
    told.add(id)
    if (told.size > maxKept) told.delete(told.keys().next().value!)
  }
  const keep = (id: string, decision: CallDecision): void => {
    kept.delete(id)
    kept.set(id, decision)
    if (kept.size > maxKept) kept.delete(kept.keys().next().value!)
  }

  const onPermission: AgentHook["onPermission"] = ({ call: plainCall, reason, tool }, ctx) =>
    Effect.gen(function*() {
      const call: Call = { ...plainCall, tool }
      const id = idOf(ctx, call)
      const args = digest(call.args)
      if (kept.get(id)?.allowed === args) return HookAction.replace({ type: "allow" as const })
      note(id)
      const fired = before ? fire("PreToolUse", ctx, call) : undefined
      const verdict = fired === undefined ? undefined : yield* fired
      keep(id, { args, verdict })
      const stop = verdict === undefined ? undefined : stopAction(verdict)
      if (stop !== undefined) {
        kept.delete(id)
        return stop
      }
      if (verdict?.permission === "allow") {
        const instead = verdict.updatedInput === undefined ? undefined : setup.back(call, verdict.updatedInput, ctx)
        keep(id, { args, verdict, allowed: instead === undefined ? args : digest(instead) })
        return HookAction.replace({ type: "allow" as const })
      }
      const answer = yield* request(setup, call, ctx)
      if (answer === undefined) return withReason(reason, verdict)
      if (!answer.isAllowed) return answer.action
      const { instead } = answer
      if (instead !== undefined) keep(id, { args, verdict, allowed: digest(instead), instead })
      return HookAction.replace({ type: "allow" as const })
    })

  /** Fires `PreToolUse` for a call that no entry has read yet, because rules denied it first. They cannot decide. */
  const tell = (by: string, call: ToolCall, ctx: HookContext) => {
    const isKnown = told.delete(idOf(ctx, call))
    const fired = before && !isKnown && ruleHooks.includes(by) ? fire("PreToolUse", ctx, call) : undefined
    return fired === undefined ? Effect.void : Effect.map(fired, (verdict) => {
      inject(verdict, ctx)
      if (verdict.blocked !== undefined) ctx.inject(verdict.blocked)
    })
  }

  const preToolCall: AgentHook["preToolCall"] = (call, ctx) => {
    const id = idOf(ctx, call)
    note(id)
    const earlier = kept.get(id)
    const isSame = earlier !== undefined && earlier.args === digest(call.args)
    if (!before && !isSame) return undefined
    if (!isSame) {
      const fired = fire("PreToolUse", ctx, call)
      return fired && Effect.flatMap(fired, (verdict) => obey(setup, { verdict, call, isDecided: false }, ctx))
    }
    const { instead, verdict } = earlier
    if (instead !== undefined) return guard(setup, call, instead, ctx)
    if (earlier.allowed === undefined) kept.delete(id)
    return verdict === undefined ? undefined : obey(setup, { verdict, call, isDecided: true }, ctx)
  }

  const onToolDenied: AgentHook["onToolDenied"] = ({ by, call, reason }, ctx) => {
    kept.delete(idOf(ctx, call))
    // If this hook denied the call, its entries know that already.
    const fired = denied && by !== name ? fire("PermissionDenied", ctx, call, { reason }) : undefined
    const telling = tell(by, call, ctx)
    return fired === undefined ? telling : Effect.andThen(
      telling,
      Effect.map(fired, (verdict) => {
        inject(verdict, ctx)
        // The model must not repeat a call that a person denied.
        if (verdict.retry === true && by !== "person") {
          ctx.inject(`The call of ${call.name} that was denied may be tried again.`)
        }
      })
    )
  }

  const asks = before || permission
  return {
    onPermission: asks ? onPermission : undefined,
    preToolCall: asks ? preToolCall : undefined,
    onToolDenied: denied || before ? onToolDenied : undefined
  }
}

/** The question of the policy also says why an entry asks. */
const withReason = (reason: string, verdict: Verdict | undefined): HookAction.Ask | undefined =>
  verdict?.permission === "ask" && verdict.permissionReason !== undefined
    ? HookAction.ask(`${reason}; ${verdict.permissionReason}`)
    : undefined

/** Returns the action if the verdict blocks the call or ends the turn. */
const stopAction = ({ blocked, stop }: Verdict): HookAction.Abort | HookAction.Reject | undefined => {
  if (stop !== undefined) return HookAction.abort(stop)
  return blocked === undefined ? undefined : HookAction.reject(blocked)
}

/** Runs the `PermissionRequest` entries. If they do not decide, fires `Notification`, and a person is asked. */
const request = Effect.fnUntraced(function*(
  { back, fire, inject, notify, permission }: Setup,
  call: Call,
  ctx: HookContext
): Effect.fn.Return<RequestAnswer> {
  const fired = permission ? fire("PermissionRequest", ctx, call) : undefined
  if (fired !== undefined) {
    const answer = yield* fired
    inject(answer, ctx)
    const { blocked, interrupt, stop, updatedInput } = answer
    if (stop !== undefined) return { isAllowed: false, action: HookAction.abort(stop) }
    if (blocked !== undefined) {
      const action = interrupt === true ? HookAction.abort(blocked) : HookAction.reject(blocked)
      return { isAllowed: false, action }
    }
    if (answer.permission === "allow") {
      return { isAllowed: true, instead: updatedInput === undefined ? undefined : back(call, updatedInput, ctx) }
    }
  }
  const notified = ctx.askedAgain ? undefined : notify(ctx, call)
  if (notified !== undefined) yield* notified
  return undefined
})

/** Runs the `PreToolUse` entries again, because another entry changed the arguments. */
const guard = (setup: Setup, call: PreToolCallEvent, args: Json, ctx: HookContext): Effect.Effect<Action> =>
  Effect.gen(function*() {
    const changed = { id: call.id, name: call.name, args }
    const fired = setup.before ? setup.fire("PreToolUse", ctx, { ...changed, tool: call.tool }) : undefined
    if (fired === undefined) return HookAction.transform(changed)
    const action = yield* obey(setup, { verdict: yield* fired, call: { ...call, ...changed }, isDecided: true }, ctx)
    return action ?? HookAction.transform(changed)
  })

interface VerdictOnCall {
  readonly verdict: Verdict
  readonly call: PreToolCallEvent
  /** Whether a person or an entry has already decided about this call. */
  readonly isDecided: boolean
}

/** Returns the action that the verdict of the `PreToolUse` entries asks for. */
const obey = (setup: Setup, { call, isDecided, verdict }: VerdictOnCall, ctx: HookContext): Effect.Effect<Action> =>
  Effect.gen(function*() {
    const { permission, permissionReason, updatedInput } = verdict
    if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
    setup.inject(verdict, ctx)
    if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked)
    const args = updatedInput === undefined ? undefined : setup.back(call, updatedInput, ctx)
    const changed = { id: call.id, name: call.name, args: args ?? call.args }
    const proceed = args === undefined ? undefined : HookAction.transform(changed)
    if ((permission !== "ask" && permission !== "defer") || (isDecided && args === undefined)) return proceed
    const answer = isDecided || permission === "defer"
      ? undefined
      : yield* request(setup, { ...changed, tool: call.tool }, ctx)
    if (answer?.isAllowed === false) return answer.action
    if (answer?.instead !== undefined) return yield* guard(setup, call, answer.instead, ctx)
    if (answer !== undefined) return proceed
    // The person must see the arguments with which the tool will run.
    const reason = permissionReason ?? `a hook wants ${call.name} to be approved`
    return HookAction.ask(reason, undefined, args === undefined ? {} : { args })
  })
