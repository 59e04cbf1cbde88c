/** Applies the verdict of stored hooks at each hook point of the agent. */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { Delegation } from "@belay/core/Delegation"
import { type Eventual, eventual } from "@belay/core/Eventual"
import { defined } from "@belay/core/Fields"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import { failure, type ToolMeta, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import type { Answer, Verdict } from "./answer.ts"
import { concealSecrets, revealSecrets, type Tokens } from "./capabilities.ts"
import type { Entry, Input } from "./dialect.ts"
import { type HookPoint, messagesOf, payload as readPayload } from "./response.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Entry, Input, Answer, Verdict>
  readonly tenantId: string | ((ctx: HookContext) => Eventual<string>)
  readonly projectId: string | ((ctx: HookContext) => Eventual<string>)
  readonly toolType: (name: string) => "mcp" | "function" | "relation"
  readonly hasSecrets: boolean
}

/**
 * Matches the prefix of tools that delegate or transfer to an agent. The rest of the tool's name is the name of the
 * agent.
 */
export const relation = /^(?:delegate|transfer)_to_(?=.)/

export const make = (
  setup: Setup
): Effects & { readonly confidential: Pick<AgentHook, "confidential" | "wrapToolCall"> } => {
  const runs = makeRuns(setup)
  return {
    ...toolEffects(setup, runs),
    ...delegationEffects(setup, runs),
    onSessionEnd: ({ sessionId }) => runs.forget(sessionId),
    confidential: setup.hasSecrets ? secretEffects(runs) : {}
  }
}

/** Runs the hooks at a point, and stores the secrets of each tool call until the call has ended. */
interface Runs {
  readonly at: (
    point: HookPoint,
    ctx: HookContext,
    fields: JsonObject,
    callId?: string
  ) => Effect.Effect<Verdict> | undefined
  readonly tokensOf: (ctx: HookContext, callId: string) => Tokens | undefined
  readonly forgetCall: (ctx: HookContext, callId: string) => void
  readonly forget: (sessionId: string) => void
}

const makeRuns = ({ engine, projectId, tenantId }: Setup): Runs => {
  const queues = new Map<string, Semaphore.Semaphore>()
  const tokens = new Map<string, Tokens>()
  const keyOf = ({ root, sessionId }: HookContext, callId: string): string => `${root.sessionId} ${sessionId} ${callId}`
  const tokensFor = (key: string): Tokens => {
    const found = tokens.get(key) ?? new Map()
    tokens.set(key, found)
    return found
  }
  return {
    // The events of one conversation run one after another, so that hooks do not overwrite each other's variables.
    at: (point, ctx, fields, callId) => {
      if (!engine.has(point)) return undefined
      const { sessionId, turnNumber } = ctx.root
      const fire = (tenant: string, project: string) => {
        const ids = { taskId: `${sessionId}/${turnNumber}`, tenantId: tenant, projectId: project }
        const input: Input = {
          fields: { ...fields, conversation: { conversationId: sessionId, ...ids } },
          tokens: callId === undefined ? new Map() : tokensFor(keyOf(ctx, callId)),
          callId
        }
        const fired = engine.fire({ event: point, subjects: [], input }, ctx)
        if (fired === undefined) return undefined
        const queue = queues.get(sessionId) ?? Semaphore.makeUnsafe(1)
        queues.set(sessionId, queue)
        return queue.withPermit(fired)
      }
      if (typeof tenantId === "string" && typeof projectId === "string") return fire(tenantId, projectId)
      return Effect.gen(function*() {
        const tenant = yield* idOf("tenantId", tenantId, ctx)
        const project = yield* idOf("projectId", projectId, ctx)
        return yield* fire(tenant, project) ?? Effect.succeed<Verdict>({})
      })
    },
    tokensOf: (ctx, callId) => tokens.get(keyOf(ctx, callId)),
    forgetCall: (ctx, callId) => void tokens.delete(keyOf(ctx, callId)),
    forget: (sessionId) => {
      queues.delete(sessionId)
      for (const key of tokens.keys()) if (key.startsWith(`${sessionId} `)) tokens.delete(key)
    }
  }
}

/** Returns the id of a tenant or a project. A function that does not return a text fails the hook. */
const idOf = (option: "tenantId" | "projectId", id: Setup["tenantId"], ctx: HookContext): Effect.Effect<string> =>
  typeof id === "string" ? Effect.succeed(id) : Effect.orDie(Effect.flatMap(
    eventual(() => id(ctx)),
    (found: unknown) =>
      typeof found === "string"
        ? Effect.succeed(found)
        : Effect.fail(new ConfigError({ key: option, message: `${option}: expected a text, found ${typeof found}` }))
  ))

/** Replaces tokens by secrets in the arguments of a tool, and secrets by tokens in its result. */
const secretEffects = ({ tokensOf }: Runs): Pick<AgentHook, "confidential" | "wrapToolCall"> => ({
  confidential: true,
  wrapToolCall: (call, next, ctx) => {
    const tokens = tokensOf(ctx, call.id)
    if (tokens === undefined || tokens.size === 0) return next(call)
    return Effect.map(
      next({ ...call, args: revealSecrets(call.args, tokens) }),
      (result) => concealResult(result, tokens)
    )
  }
})

const concealResult = (result: ToolResult, tokens: Tokens): ToolResult =>
  result.ok
    ? { ok: true, output: concealSecrets(result.output, tokens) }
    : { ok: false, error: textOf(concealSecrets(result.error, tokens)) }

const toolEffects = ({ toolType }: Setup, { at, forgetCall }: Runs): Effects => {
  const about = ({ destructive = false, name: tool, readOnly = false }: ToolMeta) => ({
    name: tool,
    type: toolType(tool),
    readonly: readOnly,
    readOnly,
    sideEffects: !readOnly,
    side_effects: !readOnly,
    destructive
  })
  return {
    preToolCall: ({ args, id, name, tool }, ctx) =>
      onVerdict(at("before-args", ctx, { tool: about(tool), args }, id), ({ abort, block, value }) => {
        if (abort !== undefined) return HookAction.abort(abort)
        if (block !== undefined) return HookAction.respond(block)
        return value === undefined ? undefined : HookAction.transform({ id, name, args: value })
      }),
    postToolCall: ({ call, executed, result, tool }, ctx) => {
      // If a hook answered in place of the tool, `after-result` hooks do not run for that answer.
      if (!executed) return forgetCall(ctx, call.id)
      const output = result.ok ? result.output : { error: result.error }
      const fields = { tool: about(tool), args: call.args, result: output, isError: !result.ok }
      const fired = at("after-result", ctx, fields, call.id) ?? Effect.succeed<Verdict>({})
      return Effect.map(fired, ({ abort, block, value }) => {
        forgetCall(ctx, call.id)
        if (abort !== undefined) return HookAction.abort(abort)
        // A hook that is asked again cannot change the result, but it can replace it by an error.
        if (block !== undefined) {
          return HookAction.replace(ctx.askedAgain ? failure(textOf(block)) : { ok: true as const, output: block })
        }
        return value === undefined ? undefined : HookAction.transform(changed(result, value))
      })
    },
    onToolDenied: ({ call }, ctx) => forgetCall(ctx, call.id)
  }
}

/** Replaces the output of a result. If the call failed, the new value becomes the error message. */
const changed = (result: ToolResult, value: Json): ToolResult =>
  result.ok ? { ok: true, output: value } : { ok: false, error: textOf(value) }

const delegationEffects = ({ name }: Setup, { at }: Runs): Effects => ({
  preDelegation: (delegation, ctx) =>
    onVerdict(at("before-delegation", ctx, fieldsOf(delegation)), ({ abort, value }) => {
      if (abort !== undefined) return HookAction.abort(abort)
      return value === undefined ? undefined : changedDelegation(delegation, value, name)
    }),
  postDelegation: ({ delegation, result }, ctx) =>
    onVerdict(
      at("after-delegation", ctx, { ...fieldsOf(delegation), result: result.text }),
      ({ abort, block, value }) => {
        if (abort !== undefined) return HookAction.abort(abort)
        if (block !== undefined) {
          return ctx.askedAgain ? HookAction.reject(textOf(block)) : HookAction.replace({ text: textOf(block) })
        }
        return value === undefined ? undefined : HookAction.transform({ text: textOf(value) })
      }
    )
})

const fieldsOf = ({ agent: tool, context = [], instructions, message, type }: Delegation) => {
  const agent = tool.replace(relation, "")
  return {
    subAgent: { agentId: agent, name: agent },
    delegationType: type,
    payload: {
      message,
      ...defined({ systemPrompt: instructions }),
      messages: context.flatMap((one) => one.role === "tool" ? [] : [{ role: one.role, content: text(one) }])
    }
  }
}

const changedDelegation = (delegation: Delegation, value: Json, name: string) => {
  const wanted = Result.getOrUndefined(readPayload(value))
  if (wanted === undefined) return undefined
  const { additionalContext = [], message = delegation.message, messages, systemPrompt } = wanted
  const isSame = JSON.stringify(messages) === JSON.stringify(fieldsOf(delegation).payload.messages)
  const kept = messages === undefined || isSame ? delegation.context ?? [] : messagesOf(messages, name)
  const texts = typeof additionalContext === "string" ? [additionalContext] : additionalContext
  const added = messagesOf(texts.map((content) => ({ role: "user" as const, content })), name)
  const context = [...kept, ...added]
  return HookAction.transform({
    ...delegation,
    message,
    ...defined({ instructions: systemPrompt, context: context.length === 0 ? undefined : context })
  })
}

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)
