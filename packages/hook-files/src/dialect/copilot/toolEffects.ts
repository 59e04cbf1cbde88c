/** Applies the verdict of GitHub Copilot hooks to tool calls, their results and permission requests. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import { failure, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Effects } from "../../engine/effects.ts"
import type { Verdict } from "./answer.ts"
import { fireError, inject, type Setup } from "./effects.ts"
import type { Call } from "./input.ts"

/** The maximum number of characters that all hooks together can add to a result. */
export const maxContext = 10_240

export const make = (setup: Setup): Effects => {
  const { engine, events, hasTranscript, stops } = setup
  const afterEvents = ["postToolUse", "postToolUseFailure", "errorOccurred"]
  return {
    preToolCall: {
      events: ["preToolUse", "preMcpToolCall"],
      run: ({ args, id, name, tool }, ctx) => beforeTool(setup, { id, name, args, tool }, ctx)
    },
    postToolCall: engine.has(...afterEvents) || hasTranscript
      ? ({ call, executed, result, tool }, ctx) => {
        const content = result.ok ? result.output : result.error
        events.note(ctx, { role: "tool", toolCallId: call.id, content, isError: !result.ok })
        if (!executed) return undefined
        return Effect.map(afterTool(setup, { ...call, tool }, result, ctx), (last) => {
          if (typeof last === "string") return HookAction.abort(last)
          return last === result ? undefined : HookAction.transform(last)
        })
      }
      : undefined,
    onPermission: {
      events: ["permissionRequest", "notification"],
      run: (request, ctx) => answerPermission(setup, request, ctx)
    },
    postStep: {
      events: ["permissionRequest"],
      run: (_step, ctx) => {
        const reason = stops.get(ctx.sessionId)
        stops.delete(ctx.sessionId)
        return reason === undefined ? undefined : HookAction.abort(reason)
      }
    }
  }
}

const beforeTool = Effect.fnUntraced(function*(setup: Setup, call: Call, ctx: HookContext) {
  const { events } = setup
  const { args, id, name } = call
  const verdict = yield* events.fireForTool("preToolUse", call, ctx)
  const { args: wanted, denied, permission, permissionReason, stop } = verdict
  if (stop !== undefined) return HookAction.abort(stop)
  if (denied !== undefined) return HookAction.reject(denied)
  inject(verdict, ctx)
  if (permission === "ask") {
    if (wanted === undefined) return HookAction.ask(permissionReason ?? `a hook asks for approval of ${name}`)
    // The call is rejected because the person would approve the original arguments, but the tool would run with the
    // changed arguments.
    return HookAction.reject(
      `one hook asks for approval of ${name} and another changes its input, which is not possible together`
    )
  }
  const last = wanted === undefined ? args : events.argsOf(call, wanted)
  const [, serverName, toolName = ""] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  const fired = serverName === undefined
    ? undefined
    : events.fire("preMcpToolCall", { serverName, toolName, arguments: last, toolCallId: id }, ctx)
  const broken = fired === undefined ? undefined : (yield* fired).denied
  if (broken !== undefined) return HookAction.reject(broken)
  return wanted === undefined ? undefined : HookAction.transform({ id, name, args: last })
})

/** The result after all entries. A text is the reason why the turn ends. */
const afterTool = Effect.fnUntraced(function*(setup: Setup, call: Call, first: ToolResult, ctx: HookContext) {
  const { events } = setup
  let result = first
  if (result.ok) {
    const textResultForLlm = typeof result.output === "string" ? result.output : JSON.stringify(result.output)
    const fields = { toolResult: { resultType: "success", textResultForLlm } }
    const verdict: Verdict = yield* events.fireForTool("postToolUse", call, ctx, fields)
    if (verdict.stop !== undefined) return verdict.stop
    result = withContext(verdict.result ?? result, verdict.contexts, ctx)
  }
  if (result.ok) return result
  const verdict = yield* events.fireForTool("postToolUseFailure", call, ctx, { error: result.error })
  if (verdict.stop !== undefined) return verdict.stop
  // A tool error has only a message, so the other fields are fixed.
  const error = { name: "ToolError", message: result.error }
  const { handling } = yield* fireError(events, error, { errorContext: "tool_execution", recoverable: true }, ctx)
  return handling === "abort"
    ? `a hook ended the turn: ${result.error}`
    : withContext(result, verdict.contexts, ctx)
})

const answerPermission = Effect.fnUntraced(function*(
  { engine, events, mayAllow, stops, tools }: Setup,
  { call, reason, tool }: In<"onPermission">,
  ctx: HookContext
) {
  const { input } = tools.known(call.name, call.args, tool)
  const verdict = yield* events.fireForTool("permissionRequest", { ...call, tool }, ctx, { toolInput: input })
  const { behavior, behaviorReason = "Denied by permissionRequest hook", denied, interrupt } = verdict
  if (denied !== undefined) return HookAction.reject(denied)
  if (behavior === "deny") {
    if (interrupt === true) stops.set(ctx.sessionId, behaviorReason)
    return HookAction.reject(behaviorReason)
  }
  // Only a person may allow a tool to leave its sandbox.
  if (behavior === "allow" && mayAllow && input["requestSandboxBypass"] !== true) {
    return HookAction.replace({ type: "allow" as const })
  }
  const fields = {
    hook_event_name: "Notification",
    notification_type: "permission_prompt",
    title: "Permission needed",
    message: `${call.name}: ${reason}`.slice(0, 1_000)
  }
  const fired = ctx.askedAgain ? undefined : events.fire("notification", fields, ctx)
  if (fired !== undefined) yield* engine.aside(Effect.map(fired, (one) => inject(one, ctx)), ctx)
  return undefined
})

/** Appends texts to a result that is a text. If the result is not a text, adds them to the conversation. */
const withContext = (result: ToolResult, contexts: ReadonlyArray<string>, ctx: HookContext): ToolResult => {
  if (contexts.length === 0) return result
  const context = contexts.join("\n\n").slice(0, maxContext).toWellFormed()
  if (!result.ok) return failure(`${result.error}\n\n${context}`)
  if (typeof result.output === "string") return { ok: true, output: `${result.output}\n\n${context}` }
  ctx.inject(context)
  return result
}
