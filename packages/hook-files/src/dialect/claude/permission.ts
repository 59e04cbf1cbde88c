/**
 * What entries say before a tool runs. They are asked once about the same arguments: when the policy wants somebody to
 * decide, before anybody
 * else is bothered, and otherwise when the tool is about to run.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { PreToolCallEvent, ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Verdict } from "./Outcome.ts"

export interface Asking {
  /** The hook's own name. */
  readonly name: string
  readonly before: boolean
  readonly permission: boolean
  readonly denied: boolean
  /** Tells whoever wants to know that a person is about to be asked. */
  readonly notify: (ctx: HookContext, call: ToolCall) => Effect.Effect<void> | undefined
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

type Obeyed = HookAction.Abort | HookAction.Ask | HookAction.Reject | HookAction.Transform<ToolCall> | undefined

const maxKept = 1_000

export const make = ({ back, before, denied, fire, inject, name, notify, permission }: Asking): Partial<AgentHook> => {
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
      const answer = yield* requested(call, tool, ctx)
      if (answer?.allowed !== true) return answer?.action
      keep(
        id,
        answer.instead === undefined ? said : { ...said, allowed: digest(answer.instead), instead: answer.instead }
      )
      return HookAction.replace({ type: "allow" as const })
    })

  /** What is answered for the person who would be asked; nothing where that person is to be asked now. */
  const requested = (call: ToolCall, tool: ToolMeta | undefined, ctx: HookContext) =>
    Effect.gen(function*() {
      const request = permission ? fire("PermissionRequest", ctx, call, tool) : undefined
      const answer = request === undefined ? undefined : yield* request
      if (answer !== undefined) {
        inject(answer, ctx)
        if (answer.stop !== undefined) return { allowed: false, action: HookAction.abort(answer.stop) } as const
        if (answer.blocked !== undefined) {
          const action = answer.interrupt === true
            ? HookAction.abort(answer.blocked)
            : HookAction.reject(answer.blocked)
          return { allowed: false, action } as const
        }
        if (answer.permission === "allow") {
          const instead = answer.updatedInput === undefined ? undefined : back(call, answer.updatedInput, tool, ctx)
          return { allowed: true, instead } as const
        }
      }
      const told = notify(ctx, call)
      if (told !== undefined) yield* told
      return undefined
    })

  const preToolCall: AgentHook["preToolCall"] = (call, ctx) => {
    const id = idOf(ctx, call)
    const earlier = kept.get(id)
    const isSame = earlier !== undefined && earlier.about === digest(call.args)
    if (!before && !isSame) return undefined
    if (!isSame) {
      const asked = fire("PreToolUse", ctx, call, call.tool)
      return asked === undefined ? undefined : Effect.flatMap(asked, (verdict) => obeyed(verdict, call, ctx, false))
    }
    const { instead, verdict } = earlier
    if (instead === undefined) {
      if (earlier.allowed === undefined) kept.delete(id)
      return verdict === undefined ? undefined : obeyed(verdict, call, ctx, true)
    }
    return guarded(call, instead, ctx)
  }

  /** Other arguments, which whoever guards calls has not seen yet. */
  const guarded = (call: PreToolCallEvent, args: Json, ctx: HookContext): Effect.Effect<Obeyed> =>
    Effect.gen(function*() {
      const changed = { id: call.id, name: call.name, args }
      const asked = before ? fire("PreToolUse", ctx, changed, call.tool) : undefined
      const action = asked === undefined ? undefined : yield* obeyed(yield* asked, { ...call, ...changed }, ctx, true)
      return action ?? HookAction.transform(changed)
    })

  /** `answered`: somebody has decided about the call since. */
  const obeyed = (
    verdict: Verdict,
    call: PreToolCallEvent,
    ctx: HookContext,
    answered: boolean
  ): Effect.Effect<Obeyed> =>
    Effect.gen(function*() {
      const { permission: word, permissionReason, updatedInput } = verdict
      if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
      inject(verdict, ctx)
      const stop = stopped(verdict)
      if (stop !== undefined) return stop
      const args = updatedInput === undefined ? undefined : back(call, updatedInput, call.tool, ctx)
      const changed = { id: call.id, name: call.name, args: args ?? call.args }
      if ((word !== "ask" && word !== "defer") || (answered && args === undefined)) {
        return args === undefined ? undefined : HookAction.transform(changed)
      }
      const answer = answered || word === "defer" ? undefined : yield* requested(changed, call.tool, ctx)
      if (answer?.allowed === false) return answer.action
      if (answer?.instead !== undefined) return yield* guarded(call, answer.instead, ctx)
      if (answer !== undefined) return args === undefined ? undefined : HookAction.transform(changed)
      // The person approves what shall run.
      const why = permissionReason ?? `a hook wants ${call.name} to be approved`
      return HookAction.ask(why, undefined, args === undefined ? {} : { args })
    })

  const onToolDenied: AgentHook["onToolDenied"] = ({ by, call, reason }, ctx) => {
    kept.delete(idOf(ctx, call))
    // Whoever blocked it knows; and what a person refused is not tried again.
    const told = denied && by !== name ? fire("PermissionDenied", ctx, call, undefined, { reason }) : undefined
    return told === undefined ? undefined : Effect.map(told, (verdict) => {
      inject(verdict, ctx)
      if (verdict.retry === true && by !== "person") {
        ctx.inject(`The call of ${call.name} that was denied may be tried again.`)
      }
    })
  }

  return {
    ...(before || permission ? { onPermission, preToolCall } : {}),
    ...(denied ? { onToolDenied } : {})
  }
}
