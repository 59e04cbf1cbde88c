/** Fires the events of tool calls and their results, and does what the verdicts say. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import type { ToolResult } from "@belay/core/Tool"
import { type Effects, onVerdict } from "../../../engine/effects.ts"
import { knownCall, toolNameOf } from "../../shared/delegation.ts"
import { nameOf } from "../../shared/toolNames.ts"
import type { Verdict } from "../answer/verdict.ts"
import { fields as own } from "../event/wire.ts"
import type { Flavor } from "../input/flavor.ts"
import { batchOf } from "../input/input.ts"
import { inject, type Setup } from "./effects.ts"
import * as Permission from "./permission.ts"

export interface ToolSetup extends Setup {
  readonly flavor: Flavor
  /** Whether there are entries of skills. A tool call can activate them. */
  readonly hasSkills: boolean
  readonly hasTranscript: boolean
}

export const make = (setup: ToolSetup): Effects => {
  const { engine, events, flavor, hasSkills, hasTranscript, name, toolNames } = setup
  const permission = Permission.make({
    name,
    notify: (ctx, call) => {
      const tool = flavor.shownTool(nameOf(call.name, toolNames))
      const message = `${flavor.assistant} needs your permission to use ${tool}`
      const fired = events.fire("Notification", ctx, { message, notification_type: "permission_prompt" })
      return fired === undefined ? undefined : engine.aside(fired, ctx)
    },
    before: engine.has("PreToolUse") || hasSkills,
    permission: engine.has("PermissionRequest", "Notification"),
    denied: engine.has("PermissionDenied"),
    fire: events.fireForTool,
    back: ({ args, name: tool, tool: about }, input, ctx) =>
      knownCall({ name: tool, args, tool: about }, toolNames, ctx).back(input),
    inject
  })
  return {
    ...permission,
    postToolCall: engine.has("PostToolUse", "PostToolUseFailure") || hasTranscript
      ? (done, ctx) => afterTool(setup, done, ctx)
      : undefined,
    postStep: {
      events: ["PostToolBatch"],
      run: ({ messages }, ctx) => {
        const batch = batchOf(messages, toolNames, ctx.cwd)
        if (batch.length === 0) return undefined
        return onVerdict(events.fire("PostToolBatch", ctx, { tool_calls: batch }), (verdict) => {
          const reason = verdict.stop ?? verdict.blocked
          return reason === undefined ? inject(verdict, ctx) : HookAction.abort(reason)
        })
      }
    }
  }
}

const afterTool = (setup: ToolSetup, done: In<"postToolCall">, ctx: HookContext) => {
  const { call, elapsedMs, executed, result, tool: about } = done
  const content = result.ok ? result.output : result.error
  setup.events.note(ctx, { role: "tool", toolCallId: call.id, content, isError: !result.ok })
  if (!executed) return undefined
  const failed = result.ok
    ? setup.flavor.failureOf?.(toolNameOf({ ...call, tool: about }, setup.toolNames, ctx), result.output)
    : result.error
  if (failed === undefined || setup.flavor.afterFailures === true) return afterResult(setup, done, ctx)
  const fields = { [own.error]: failed, is_interrupt: false, duration_ms: elapsedMs }
  // `continue: false` does not end the turn here. Tried with the program of Claude Code, 2.1.332.
  return onVerdict(
    setup.events.fireForTool("PostToolUseFailure", ctx, { ...call, tool: about }, fields),
    (verdict) => inject(verdict, ctx)
  )
}

const afterResult = (
  { events, flavor, toolNames }: ToolSetup,
  { call, elapsedMs, result, tool: about }: In<"postToolCall">,
  ctx: HookContext
) => {
  const { input, name: tool } = knownCall({ ...call, tool: about }, toolNames, ctx)
  const { back, shown } = flavor.response(tool, input, result.ok ? result.output : result.error)
  const fields = { [own.output]: shown, duration_ms: elapsedMs }
  return onVerdict(events.fireForTool("PostToolUse", ctx, { ...call, tool: about }, fields), (verdict) => {
    if (flavor.blockReplacesResult === true) return replaceResult(verdict, result, ctx)
    if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
    inject(verdict, ctx)
    const output = verdict.updatedOutput ?? (tool.startsWith("mcp__") ? verdict.updatedMcpOutput : undefined)
    if (output === undefined) {
      return verdict.blocked === undefined ? undefined : HookAction.reject(verdict.blocked)
    }
    if (verdict.blocked !== undefined) ctx.inject(verdict.blocked)
    return HookAction.transform({ ok: true as const, output: back(output) })
  })
}

/** The model reads the reason in place of the result, which it never sees. */
const replaceResult = (verdict: Verdict, result: ToolResult, ctx: HookContext) => {
  inject(verdict, ctx)
  const reason = verdict.blocked ?? verdict.stop
  if (reason === undefined) return undefined
  return HookAction.transform(result.ok ? { ok: true as const, output: reason } : { ok: false as const, error: reason })
}
