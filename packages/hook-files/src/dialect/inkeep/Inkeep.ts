/**
 * Hooks that are stored: definitions of code, attached to a project or an agent at a point, in an order. Stored code
 * runs in a sandbox.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Delegation } from "@belay/core/Delegation"
import type { Eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { text, type ToolCall } from "@belay/core/Message"
import type { ToolMeta, ToolResult } from "@belay/core/Tool"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type HookPoint, messagesOf, payload as readPayload } from "./answer.ts"
import { concealed, type Mcp, revealed, type Tokens } from "./capabilities.ts"
import { attached } from "./config.ts"
import { type Occasion, run, type Verdict } from "./run.ts"
import type { Attachment, Definition } from "./types.ts"

export type { HookPoint } from "./answer.ts"
export type { Mcp } from "./capabilities.ts"
export type { Attachment, Context, Definition, InProcess, Scope, Stored } from "./types.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  readonly definitions: ReadonlyArray<Definition>
  readonly attachments: ReadonlyArray<Attachment>
  /** What the agent is called in `scope.agentId`. Sub-agents go by their names. Default: the agent's name. */
  readonly agentId?: string
  readonly tenantId?: string
  readonly projectId?: string
  /** MCP tools of the project, also those that the agent does not have. Default: those of `ctx.mcp`. */
  readonly mcp?: (ctx: HookContext) => Mcp
  /** Looks up a secret. Neither a hook nor the conversation ever has it. */
  readonly secrets?: (name: string, ctx: HookContext) => Eventual<string | undefined>
  /**
   * What kind of tool one is. Default: `mcp__…` is `mcp`, `delegate_to_…` and `transfer_to_…` are `relation`, others
   * `function`.
   */
  readonly toolType?: (name: string) => "mcp" | "function" | "relation"
}

/**
 * Makes a hook of attachments. At each point those of the project run first, then those of the agent, each on what the
 * one before made of it; `block` and `abort` end the chain. Throws a `ConfigError` for what
 * cannot be attached.
 *
 * @example
 * ```ts
 * import * as Inkeep from "@belay/hook-files/Inkeep"
 *
 * const hook = Inkeep.make({
 *   definitions: [{
 *     id: "first-rows",
 *     executeCode: `export default async ({ result, config }) => ({ action: "proceed", result: result.slice(0, config.rows) })`
 *   }],
 *   attachments: [{ hookDefinitionId: "first-rows", scope: { _tag: "project" }, hookPoint: "after-result", order: 1, config: { rows: 20 } }]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const {
    agentId,
    attachments,
    definitions,
    mcp,
    name = "stored-hooks",
    projectId = "",
    secrets,
    tenantId = "",
    toolType = typeOf
  } = options
  const all = Result.getOrThrow(attached(name, definitions, attachments))
  const queues = new Map<string, Semaphore.Semaphore>()
  const tokens = new Map<string, Tokens>()
  const callOf = ({ root, sessionId }: HookContext, id: string): string => `${root.sessionId} ${sessionId} ${id}`
  const tokensOf = (key: string): Tokens => {
    const found = tokens.get(key) ?? new Map()
    tokens.set(key, found)
    return found
  }

  /**
   * Runs what is attached at a point; nothing where that is nothing. One after the other in a conversation: nobody
   * overwrites what another one counts.
   */
  const at = (
    point: HookPoint,
    ctx: HookContext,
    more: Occasion["more"],
    call?: ToolCall
  ): Effect.Effect<Verdict> | undefined => {
    const who = ctx.agent.depth === 0 ? agentId ?? ctx.agent.name : ctx.agent.name
    const found = all.filter(({ hookPoint, scope }) =>
      hookPoint === point && (scope._tag === "project" || scope.agentId === who)
    )
    if (found.length === 0) return undefined
    const { sessionId, turnNumber } = ctx.root
    const queue = queues.get(sessionId) ?? Semaphore.makeUnsafe(1)
    queues.set(sessionId, queue)
    const conversation = { conversationId: sessionId, taskId: `${sessionId}/${turnNumber}`, tenantId, projectId }
    const occasion: Occasion = {
      name,
      point,
      more: { ...more, conversation },
      lenders: { mcp, secrets },
      tokens: call === undefined ? new Map() : tokensOf(callOf(ctx, call.id)),
      ...(call === undefined ? {} : { callId: call.id })
    }
    return queue.withPermit(run(found, occasion, ctx))
  }

  const about = ({ destructive = false, name: tool, readOnly = false }: ToolMeta) => ({
    name: tool,
    type: toolType(tool),
    readonly: readOnly,
    readOnly,
    sideEffects: !readOnly,
    side_effects: !readOnly,
    destructive
  })
  const delegated = ({ agent: tool, context = [], instructions, message, type }: Delegation) => {
    const agent = tool.replace(relation, "")
    return {
      subAgent: { agentId: agent, name: agent },
      delegationType: type,
      payload: {
        message,
        ...(instructions === undefined ? {} : { systemPrompt: instructions }),
        messages: context.flatMap((one) => one.role === "tool" ? [] : [{ role: one.role, content: text(one) }])
      }
    }
  }

  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    ...(secrets === undefined ? {} : {
      confidential: true,
      wrapToolCall: (call, next, ctx) => {
        const mine = tokens.get(callOf(ctx, call.id))
        if (mine === undefined || mine.size === 0) return next(call)
        return Effect.map(next({ ...call, args: revealed(call.args, mine) }), (result) => hidden(result, mine))
      }
    }),
    preToolCall: (call, ctx) =>
      then(at("before-args", ctx, { tool: about(call.tool), args: call.args }, call), ({ abort, block, value }) => {
        if (abort !== undefined) return HookAction.abort(abort)
        if (block !== undefined) return HookAction.respond(block)
        return value === undefined ? undefined : HookAction.transform({ id: call.id, name: call.name, args: value })
      }),
    postToolCall: ({ call, executed, result, tool }, ctx) => {
      // What a hook answered in place of the tool has been through the hooks.
      if (!executed) return void tokens.delete(callOf(ctx, call.id))
      const output = result.ok ? result.output : { error: result.error }
      const fired =
        at("after-result", ctx, { tool: about(tool), args: call.args, result: output, isError: !result.ok }, call) ??
          Effect.succeed(undefined)
      return Effect.map(fired, (verdict) => {
        tokens.delete(callOf(ctx, call.id))
        if (verdict?.abort !== undefined) return HookAction.abort(verdict.abort)
        if (verdict?.block !== undefined) return HookAction.replace({ ok: true as const, output: verdict.block })
        return verdict?.value === undefined ? undefined : HookAction.transform(changed(result, verdict.value))
      })
    },
    preDelegation: (delegation, ctx) =>
      then(at("before-delegation", ctx, delegated(delegation)), ({ abort, value }) => {
        if (abort !== undefined) return HookAction.abort(abort)
        const wanted = value === undefined ? undefined : Result.getOrUndefined(readPayload(value))
        if (wanted === undefined) return undefined
        const { additionalContext = [], message = delegation.message, messages, systemPrompt } = wanted
        const same = JSON.stringify(messages) === JSON.stringify(delegated(delegation).payload.messages)
        const kept = messages === undefined || same ? delegation.context ?? [] : messagesOf(messages, name)
        const added = (typeof additionalContext === "string" ? [additionalContext] : additionalContext).map((
          content
        ) => ({
          role: "user" as const,
          content
        }))
        const context = [...kept, ...messagesOf(added, name)]
        return HookAction.transform({
          ...delegation,
          message,
          ...(systemPrompt === undefined ? {} : { instructions: systemPrompt }),
          ...(context.length === 0 ? {} : { context })
        })
      }),
    postDelegation: ({ delegation, result }, ctx) =>
      then(
        at("after-delegation", ctx, { ...delegated(delegation), result: result.text }),
        ({ abort, block, value }) => {
          if (abort !== undefined) return HookAction.abort(abort)
          if (block !== undefined) return HookAction.replace({ text: words(block) })
          return value === undefined ? undefined : HookAction.transform({ text: words(value) })
        }
      ),
    onToolDenied: ({ call }, ctx) => void tokens.delete(callOf(ctx, call.id)),
    onSessionEnd: ({ sessionId }) => {
      queues.delete(sessionId)
      for (const key of tokens.keys()) if (key.startsWith(`${sessionId} `)) tokens.delete(key)
    }
  })
}

const then = <A>(
  verdict: Effect.Effect<Verdict> | undefined,
  f: (verdict: Verdict) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, f)

/** How tools that hand over to an agent begin; the rest is the agent's name. */
const relation = /^(?:delegate|transfer)_to_(?=.)/

const typeOf = (name: string): "mcp" | "function" | "relation" =>
  name.startsWith("mcp__") ? "mcp" : relation.test(name) ? "relation" : "function"

/** A failure stays one, in other words. */
const changed = (result: ToolResult, value: Json): ToolResult =>
  result.ok ? { ok: true, output: value } : { ok: false, error: words(value) }

/** A result that says a secret says what stands in for it. */
const hidden = (result: ToolResult, tokens: Tokens): ToolResult =>
  result.ok
    ? { ok: true, output: concealed(result.output, tokens) }
    : { ok: false, error: words(concealed(result.error, tokens)) }

const words = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)
