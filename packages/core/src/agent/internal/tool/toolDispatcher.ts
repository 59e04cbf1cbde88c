/** The default tool dispatcher: calls the functions of the agent's tools. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { ConfigError } from "../../../data/AgentError.ts"
import { keyOf } from "../../../data/Artifact.ts"
import * as Awaitable from "../../../data/Awaitable.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import { type Json, whyNot } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { failure, success, type ToolMeta, type ToolResult } from "../../../data/Tool.ts"
import type { Artifacts } from "../../../hook/HookContext.ts"
import type { DispatchContext, ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { AnyTool, ToolContext } from "../../defineTool.ts"
import { withPortError } from "../capability/portError.ts"
import { read, type ToolSchema } from "./toolSchema.ts"

/** Makes a dispatcher. Fails with a `ConfigError` if two tools have the same name or a schema cannot be used. */
export const make = (tools: ReadonlyArray<AnyTool>): Result.Result<ToolDispatcher, ConfigError> => {
  const known = new Map<string, { readonly tool: AnyTool; readonly schema: ToolSchema }>()
  const metas: Array<ToolMeta> = []
  for (const tool of tools) {
    if (typeof tool.name !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(tool.name)) {
      return Result.fail(
        new ConfigError({
          key: "tools",
          message: `tool name "${tool.name}" must be 1 to 64 letters, digits, "_", "-" or "."`
        })
      )
    }
    if (known.has(tool.name)) {
      return Result.fail(
        new ConfigError({ key: `tools.${tool.name}`, message: `two tools are named "${tool.name}": rename one` })
      )
    }
    const schema = read(tool)
    if (Result.isFailure(schema)) return Result.fail(schema.failure)
    known.set(tool.name, { tool, schema: schema.success })
    metas.push(metaOf(tool, schema.success))
  }
  return Result.succeed({
    tools: metas,
    decode: ({ name }, args) => {
      const decoded = known.get(name)!.schema.decode(args)
      return decoded instanceof Promise ? Effect.promise(() => decoded) : decoded
    },
    dispatch: (call, _grant, about) => {
      const { schema, tool } = known.get(call.name)!
      // The tool gets a copy, so that changing its arguments does not change the conversation.
      const args = copy(call.args)
      return schema.rich
        ? Effect.flatMap(Effect.promise(() => schema.value(args)), (value) => execute(tool, value, call, about))
        : execute(tool, args, call, about)
    },
    exclusive: (name) => known.get(name)?.tool.exclusive === true
  })
}

const metaOf = (tool: AnyTool, schema: ToolSchema): ToolMeta =>
  Object.freeze({
    name: tool.name,
    description: tool.description,
    inputSchema: schema.inputSchema,
    ...(tool.readOnly === undefined ? {} : { readOnly: tool.readOnly }),
    ...(tool.destructive === undefined ? {} : { destructive: tool.destructive }),
    ...(tool.idempotent === undefined ? {} : { idempotent: tool.idempotent })
  })

/**
 * Calls the function and waits for what it returns: a value, a promise or an Effect. Every failure becomes a failed
 * result.
 */
const execute = (tool: AnyTool, args: unknown, call: ToolCall, about: DispatchContext): Effect.Effect<ToolResult> =>
  Effect.suspend(() => {
    const ctx = new Context(call, about)
    let returned: unknown
    let later = false
    // oxlint-disable-next-line belay/no-try -- a tool is foreign code, called on a synchronous path
    try {
      returned = (tool.execute as (args: unknown, ctx: ToolContext) => unknown)(args, ctx)
      later = isThenable(returned)
    } catch (error) {
      return Effect.succeed(failure(messageOf(error)))
    }
    // The guards have checked the value. Its type parameters are unknown.
    if (Effect.isEffect(returned)) return runBounded(returned as Effect.Effect<unknown, unknown>, ctx, about)
    return later ? waitForPromise(returned as PromiseLike<unknown>, ctx, about) : Effect.succeed(output(returned))
  })

const timeoutFailure = (ms: number): ToolResult => failure(`the tool did not answer within ${ms} ms`)

const waitForPromise = (
  promise: PromiseLike<unknown>,
  ctx: Context,
  about: DispatchContext
): Effect.Effect<ToolResult> =>
  Effect.callback<ToolResult>((resume) => {
    const cancel = about.onTimeout(() => {
      resume(Effect.succeed(timeoutFailure(about.timeoutMs)))
      ctx.abort()
    })
    const done = (result: ToolResult) => {
      cancel()
      resume(Effect.succeed(result))
    }
    // A foreign thenable may throw or settle twice. A promise does neither.
    Promise.resolve(promise).then((value) => done(output(value)), (error) => done(failure(messageOf(error))))
    return Effect.sync(() => {
      cancel()
      ctx.abort()
    })
  })

/** Runs an Effect in its own fiber, so that the deadline applies even if finalizers take longer. */
const runBounded = (
  effect: Effect.Effect<unknown, unknown>,
  ctx: Context,
  about: DispatchContext
): Effect.Effect<ToolResult> =>
  Exit.isExit(effect) ?
    Effect.succeed(ofExit(effect)) :
    Effect.withFiber((fiber) =>
      Effect.callback<ToolResult>((resume) => {
        const child = Effect.runForkWith(fiber.context)(effect)
        const done = child.pollUnsafe()
        if (done !== undefined) return resume(Effect.succeed(ofExit(done)))
        const cancel = about.onTimeout(() => {
          resume(Effect.succeed(timeoutFailure(about.timeoutMs)))
          ctx.abort()
          child.interruptUnsafe()
        })
        child.addObserver((exit) => {
          cancel()
          resume(Effect.succeed(ofExit(exit)))
        })
        return Effect.sync(() => {
          cancel()
          ctx.abort()
          child.interruptUnsafe()
        })
      })
    )

/** A class, because every call makes one, and the signal is built only when it is used. */
class Context implements ToolContext {
  private readonly call: ToolCall
  private readonly about: DispatchContext
  private controller: AbortController | undefined = undefined

  constructor(call: ToolCall, about: DispatchContext) {
    this.call = call
    this.about = about
  }
  get callId() {
    return this.call.id
  }
  get artifacts(): Artifacts {
    const { about: { artifacts, rootSessionId: id }, call, signal } = this
    const mine = (key: string) => key.startsWith("tool:") ? key : `tool:${key}`
    const about = { by: call.name, toolCallId: call.id }
    const port = <A>(effect: Effect.Effect<A, unknown>) =>
      Awaitable.make(
        withPortError("artifacts", `artifacts of ${id}`, effect),
        (one) => Effect.runPromise(one, { signal })
      )
    return {
      write: (key, content, options) => port(artifacts.write(id, mine(key), content, { ...about, ...options })),
      append: (key, content, options) => port(artifacts.append(id, mine(key), content, { ...about, ...options })),
      read: (key) => {
        const wanted = keyOf(key)
        return port(artifacts.read(id, wanted.startsWith("hook:") ? wanted : mine(wanted)))
      },
      list: () => port(artifacts.list(id)),
      remove: (key) => port(artifacts.remove(id, mine(key)))
    }
  }
  get signal(): AbortSignal {
    return (this.controller ??= new AbortController()).signal
  }
  get idempotencyKey() {
    return this.about.idempotencyKey
  }
  get sessionId() {
    return this.about.sessionId
  }
  get cwd() {
    return this.about.cwd
  }
  abort(): void {
    this.controller?.abort()
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

const ofExit = (exit: Exit.Exit<unknown, unknown>): ToolResult =>
  Exit.isSuccess(exit) ? output(exit.value) : failure(messageOf(Cause.squash(exit.cause)))

const output = (value: unknown): ToolResult => {
  if (value === undefined || value === null) return success(null)
  if (typeof value === "string" || typeof value === "boolean") return success(value)
  // Copies the output, because the tool may keep changing it and reading it may run code of the tool.
  const read = Result.try(() => {
    const why = whyNot(value)
    return why === undefined
      ? success(copy(value as Json))
      : failure(`the tool returned something that is not JSON: ${why}`)
  })
  return Result.isSuccess(read)
    ? read.success
    : failure(`the tool returned something that cannot be read: ${messageOf(read.failure)}`)
}
