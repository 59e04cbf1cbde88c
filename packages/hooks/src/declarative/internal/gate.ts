/**
 * What entries say before a tool runs. They are asked once about the same arguments: when the policy wants somebody to decide, before anybody
 * else is bothered, and otherwise when the tool is about to run.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Verdict } from "../Outcome.ts"

export interface Asking {
  readonly before: boolean
  readonly permission: boolean
  readonly denied: boolean
  /** Fires an event about a call; nothing where no entry fits. */
  readonly fire: (
    event: "PreToolUse" | "PermissionRequest" | "PermissionDenied",
    ctx: HookContext,
    call: ToolCall,
    tool: ToolMeta | undefined,
    more?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** New input, as the tool takes it. */
  readonly back: (call: ToolCall, input: JsonObject, tool: ToolMeta | undefined, ctx: HookContext) => Json
  readonly inject: (verdict: Verdict, ctx: HookContext) => void
}

/** What was said about a call already. */
interface Said {
  readonly about: string
  readonly verdict: Verdict | undefined
  /** Arguments that were allowed in its place. */
  readonly allowed?: string
  /** What is to run instead. */
  readonly instead?: Json
}

const maxKept = 1_000

export const make = ({ back, before, denied, fire, inject, permission }: Asking): Partial<AgentHook> => {
  const kept = new Map<string, Said>()
  const idOf = (ctx: HookContext, { id }: ToolCall) => `${ctx.sessionId}/${id}`
  const keep = (id: string, said: Said): void => {
    kept.delete(id)
    kept.set(id, said)
    if (kept.size > maxKept) kept.delete(kept.keys().next().value!)
  }

  /** What `PreToolUse` entries say means the same wherever they are asked. */
  const stopped = (verdict: Verdict) =>
    verdict.stop !== undefined
      ? HookAction.abort(verdict.stop)
      : verdict.blocked !== undefined
      ? HookAction.reject(verdict.blocked)
      : undefined

  const onPermission: AgentHook["onPermission"] = ({ call, tool }, ctx) =>
    Effect.gen(function*() {
      const id = idOf(ctx, call)
      const about = digest(call.args)
      const earlier = kept.get(id)
      if (earlier?.allowed === about) return HookAction.replace({ type: "allow" as const })
      const asked = before ? fire("PreToolUse", ctx, call, tool) : undefined
      const verdict = asked === undefined ? undefined : yield* asked
      const said: Said = { about, verdict }
      keep(id, said)
      if (verdict !== undefined) {
        const stop = stopped(verdict)
        if (stop !== undefined) {
          kept.delete(id)
          return stop
        }
        if (verdict.permission === "allow") {
          const instead = verdict.updatedInput === undefined ? undefined : back(call, verdict.updatedInput, tool, ctx)
          keep(id, { ...said, allowed: instead === undefined ? about : digest(instead) })
          return HookAction.replace({ type: "allow" as const })
        }
      }
      const request = permission ? fire("PermissionRequest", ctx, call, tool) : undefined
      if (request === undefined) return undefined
      const answer = yield* request
      inject(answer, ctx)
      if (answer.stop !== undefined) return HookAction.abort(answer.stop)
      if (answer.blocked !== undefined) {
        return answer.interrupt === true
          ? HookAction.abort(answer.blocked)
          : HookAction.reject(answer.blocked)
      }
      if (answer.permission !== "allow") return undefined
      const instead = answer.updatedInput === undefined ? undefined : back(call, answer.updatedInput, tool, ctx)
      keep(id, instead === undefined ? said : { ...said, allowed: digest(instead), instead })
      return HookAction.replace({ type: "allow" as const })
    })

  const preToolCall: AgentHook["preToolCall"] = (call, ctx) => {
    const id = idOf(ctx, call)
    const earlier = kept.get(id)
    const isSame = earlier !== undefined && earlier.about === digest(call.args)
    if (!before && !isSame) return undefined
    if (!isSame) {
      const asked = fire("PreToolUse", ctx, call, call.tool)
      return asked === undefined ? undefined : Effect.map(asked, (verdict) => obeyed(verdict, call, ctx, false))
    }
    const { instead, verdict } = earlier
    if (instead === undefined) {
      if (earlier.allowed === undefined) kept.delete(id)
      return verdict === undefined ? undefined : obeyed(verdict, call, ctx, true)
    }
    // Whoever guards calls has not seen these arguments.
    return Effect.gen(function*() {
      const changed = { id: call.id, name: call.name, args: instead }
      const asked = before ? fire("PreToolUse", ctx, changed, call.tool) : undefined
      const action = asked === undefined ? undefined : obeyed(yield* asked, { ...call, ...changed }, ctx, true)
      return action ?? HookAction.transform(changed)
    })
  }

  /** `answered`: somebody has decided about the call since. */
  const obeyed = (verdict: Verdict, call: Parameters<NonNullable<AgentHook["preToolCall"]>>[0], ctx: HookContext, answered: boolean) => {
    const { permission: word, permissionReason, updatedInput } = verdict
    if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
    inject(verdict, ctx)
    const stop = stopped(verdict)
    if (stop !== undefined) return stop
    const args = updatedInput === undefined ? undefined : back(call, updatedInput, call.tool, ctx)
    // The person approves what shall run.
    if ((word === "ask" || word === "defer") && !(answered && args === undefined)) {
      return HookAction.ask(permissionReason ?? `a hook wants ${call.name} to be approved`, undefined, args === undefined ? {} : { args })
    }
    return args === undefined ? undefined : HookAction.transform({ id: call.id, name: call.name, args })
  }

  const onToolDenied: AgentHook["onToolDenied"] = ({ call, reason }, ctx) => {
    kept.delete(idOf(ctx, call))
    const told = denied ? fire("PermissionDenied", ctx, call, undefined, { reason }) : undefined
    return told === undefined ? undefined : Effect.map(told, (verdict) => {
      inject(verdict, ctx)
      if (verdict.retry === true) ctx.inject(`The call of ${call.name} that was denied may be tried again.`)
    })
  }

  return {
    ...(before || permission ? { onPermission, preToolCall } : {}),
    ...(denied ? { onToolDenied } : {})
  }
}
