/**
 * What `PreToolUse` and `PermissionRequest` entries answer about a call. They run once for the same arguments: when the
 * policy wants somebody to decide, before a person is asked, and otherwise when the tool is about to run.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Effects } from "../../engine/effects.ts"
import type { Call } from "./input.ts"
import type { Verdict } from "./verdict.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly before: boolean
  readonly permission: boolean
  readonly denied: boolean
  /** Notifies whoever wants to know that a person is about to be asked. */
  readonly notify: (ctx: HookContext, call: ToolCall) => Effect.Effect<void> | undefined
  /** Fires an event about a call; undefined where no entry runs. */
  readonly fire: (
    event: "PreToolUse" | "PermissionRequest" | "PermissionDenied",
    ctx: HookContext,
    call: Call,
    fields?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** New input, with the arguments of the tool. */
  readonly back: (call: Call, input: JsonObject, ctx: HookContext) => Json
  readonly inject: (verdict: Verdict, ctx: HookContext) => void
}

/** What entries answered about a call. */
interface Decided {
  /** A digest of the arguments that they saw. */
  readonly args: string
  readonly verdict: Verdict | undefined
  /** A digest of the arguments that were allowed. */
  readonly allowed?: string
  /** New arguments to run instead. */
  readonly instead?: Json
}

type Action = HookAction.Abort | HookAction.Ask | HookAction.Reject | HookAction.Transform<ToolCall> | undefined

/** The answer of `PermissionRequest` entries; undefined where a person has to be asked. */
type Requested =
  | { readonly isAllowed: false; readonly action: HookAction.Abort | HookAction.Reject }
  | { readonly isAllowed: true; readonly instead: Json | undefined }
  | undefined

const maxKept = 1_000

export const make = (setup: Setup): Pick<Effects, "onPermission" | "preToolCall" | "onToolDenied"> => {
  const { before, denied, fire, inject, name, permission } = setup
  const kept = new Map<string, Decided>()
  const idOf = (ctx: HookContext, { id }: ToolCall) => `${ctx.sessionId}/${id}`
  const keep = (id: string, decided: Decided): void => {
    kept.delete(id)
    kept.set(id, decided)
    if (kept.size > maxKept) kept.delete(kept.keys().next().value!)
  }

  const onPermission: AgentHook["onPermission"] = ({ call: asked, tool }, ctx) =>
    Effect.gen(function*() {
      const call: Call = { ...asked, tool }
      const id = idOf(ctx, call)
      const args = digest(call.args)
      if (kept.get(id)?.allowed === args) return HookAction.replace({ type: "allow" as const })
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
      if (answer?.isAllowed !== true) return answer?.action
      const { instead } = answer
      if (instead !== undefined) keep(id, { args, verdict, allowed: digest(instead), instead })
      return HookAction.replace({ type: "allow" as const })
    })

  const preToolCall: AgentHook["preToolCall"] = (call, ctx) => {
    const id = idOf(ctx, call)
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
    // The hook itself knows why it blocked a call.
    const fired = denied && by !== name ? fire("PermissionDenied", ctx, call, { reason }) : undefined
    return fired && Effect.map(fired, (verdict) => {
      inject(verdict, ctx)
      // A call that a person refused is not tried again.
      if (verdict.retry === true && by !== "person") {
        ctx.inject(`The call of ${call.name} that was denied may be tried again.`)
      }
    })
  }

  const asks = before || permission
  return {
    onPermission: asks ? onPermission : undefined,
    preToolCall: asks ? preToolCall : undefined,
    onToolDenied: denied ? onToolDenied : undefined
  }
}

/** What ends the call means the same wherever `PreToolUse` entries run. */
const stopAction = ({ blocked, stop }: Verdict): HookAction.Abort | HookAction.Reject | undefined => {
  if (stop !== undefined) return HookAction.abort(stop)
  return blocked === undefined ? undefined : HookAction.reject(blocked)
}

/** Runs the entries that answer for the person who would be asked, and else notifies that a person is asked now. */
const request = Effect.fnUntraced(function*(
  { back, fire, inject, notify, permission }: Setup,
  call: Call,
  ctx: HookContext
): Effect.fn.Return<Requested> {
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
  const notified = notify(ctx, call)
  if (notified !== undefined) yield* notified
  return undefined
})

/** Runs the guards on other arguments, which they have not seen yet. */
const guard = (setup: Setup, call: PreToolCallEvent, args: Json, ctx: HookContext): Effect.Effect<Action> =>
  Effect.gen(function*() {
    const changed = { id: call.id, name: call.name, args }
    const fired = setup.before ? setup.fire("PreToolUse", ctx, { ...changed, tool: call.tool }) : undefined
    if (fired === undefined) return HookAction.transform(changed)
    const action = yield* obey(setup, { verdict: yield* fired, call: { ...call, ...changed }, isDecided: true }, ctx)
    return action ?? HookAction.transform(changed)
  })

interface Obeyed {
  readonly verdict: Verdict
  readonly call: PreToolCallEvent
  /** Somebody has decided about the call since the entries answered. */
  readonly isDecided: boolean
}

/** Does what `PreToolUse` entries decided. */
const obey = (setup: Setup, { call, isDecided, verdict }: Obeyed, ctx: HookContext): Effect.Effect<Action> =>
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
    // The person approves the arguments that will run.
    const reason = permissionReason ?? `a hook wants ${call.name} to be approved`
    return HookAction.ask(reason, undefined, args === undefined ? {} : { args })
  })
