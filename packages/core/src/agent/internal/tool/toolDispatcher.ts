/**
 * The default tool dispatcher. It calls the functions of the agent's tools and waits for what they return: a value, a
 * promise, an Effect, or a generator, whose yielded values are progress. Every failure becomes a failed result.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { ConfigError } from "../../../data/AgentError.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import { encodeJson } from "../../../data/internal/encodeJson.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { cutMiddle } from "../../../data/text/Text.ts"
import { failure, success, type ToolMeta, type ToolResult } from "../../../data/tool/Tool.ts"
import { read, type ToolSchema } from "../../../guard/internal/schema/toolSchema.ts"
import type { DispatchContext, ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { AnyTool, ToolContext } from "../../defineTool.ts"
import { RunningContext } from "./toolContext.ts"

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
        ? Effect.flatMap(Effect.promise(() => schema.value(args)), (value) => executeTool(tool, value, call, about))
        : executeTool(tool, args, call, about)
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
    ...(tool.idempotent === undefined ? {} : { idempotent: tool.idempotent }),
    ...(tool.openWorld === undefined ? {} : { openWorld: tool.openWorld }),
    ...(tool.deferred === "vendor" ? { deferred: tool.deferred } : {})
  })

/** Runs a tool. Its result is JSON, however it ends. */
const executeTool = (
  tool: AnyTool,
  args: unknown,
  call: ToolCall,
  about: DispatchContext
): Effect.Effect<ToolResult> =>
  Effect.suspend(() => {
    const ctx = new RunningContext(call, about)
    let returned: unknown
    // oxlint-disable-next-line belay/no-try -- a tool is foreign code, called on a synchronous path
    try {
      returned = (tool.execute as (args: unknown, ctx: ToolContext) => unknown)(args, ctx)
    } catch (error) {
      return end(ctx, failure(messageOf(error)))
    }
    return settle(returned, ctx)
  })

/** Waits for a value, as long as it is pending: a promise of a generator is waited for twice. */
const settle = (value: unknown, ctx: RunningContext): Effect.Effect<ToolResult> => {
  const later = typeof value === "object" && value !== null ? waitFor(value, ctx) : undefined
  return later ?? end(ctx, resultOf(value, ctx))
}

/** Returns nothing if there is nothing to wait for, or if the value cannot be inspected. */
const waitFor = (value: object, ctx: RunningContext): Effect.Effect<ToolResult> | undefined => {
  // oxlint-disable-next-line belay/no-try -- reading the value may run code of the tool
  try {
    // The guard has checked the value. Its type parameters are unknown.
    if (Effect.isEffect(value)) return runBounded(value as Effect.Effect<unknown, unknown>, ctx)
    if (isThenable(value)) return waitForPromise(() => Promise.resolve(value), ctx)
    if (isAsyncIterable(value)) return waitForPromise(() => readAll(value, ctx), ctx)
    return isGenerator(value) ? runBounded(Effect.gen(() => runGenerator(value, ctx)), ctx) : undefined
  } catch {
    return undefined
  }
}

const end = (ctx: RunningContext, result: ToolResult): Effect.Effect<ToolResult> => {
  ctx.end()
  return Effect.succeed(
    result.ok || result.error.length <= ctx.textLength ? result : failure(cutText(result.error, ctx))
  )
}

const resultOf = (value: unknown, ctx: RunningContext): ToolResult => {
  if (value === undefined || value === null) return success(null)
  if (typeof value === "boolean") return success(value)
  if (typeof value === "string") return success(value.length <= ctx.textLength ? value : cutText(value, ctx))
  const { json, lost } = encodeJson(value, ctx.textLength)
  if (lost !== undefined) ctx.warn(`${ctx.tool} returned a value of which a part is lost: ${lost}`)
  return success(json)
}

const cutText = (text: string, ctx: RunningContext): string => {
  const { textLength, tool } = ctx
  ctx.warn(
    `${tool} returned a text of ${text.length} characters, which is cut to ${textLength} (\`limits.textLength\`)`
  )
  return cutMiddle(text, textLength)
}

const timeoutFailure = (ms: number): ToolResult => failure(`the tool did not answer within ${ms} ms`)

const waitForPromise = (start: () => Promise<unknown>, ctx: RunningContext): Effect.Effect<ToolResult> =>
  Effect.callback<ToolResult>((resume) => {
    ctx.onTimeout(() => {
      resume(Effect.succeed(timeoutFailure(ctx.timeoutMs)))
      ctx.abort()
    })
    start().then(
      (value) => {
        if (!ctx.hasEnded) resume(settle(value, ctx))
      },
      (error) => {
        if (!ctx.hasEnded) resume(end(ctx, failure(messageOf(error))))
      }
    )
    return Effect.sync(() => ctx.abort())
  })

/** Runs an Effect in its own fiber, so that the deadline applies even if finalizers take longer. */
const runBounded = (effect: Effect.Effect<unknown, unknown>, ctx: RunningContext): Effect.Effect<ToolResult> =>
  Exit.isExit(effect) ?
    settleExit(effect, ctx) :
    Effect.withFiber((fiber) =>
      Effect.callback<ToolResult>((resume) => {
        const child = Effect.runForkWith(fiber.context)(effect)
        const done = child.pollUnsafe()
        if (done !== undefined) return resume(settleExit(done, ctx))
        const stop = () => {
          ctx.abort()
          child.interruptUnsafe()
        }
        ctx.onTimeout(() => {
          resume(Effect.succeed(timeoutFailure(ctx.timeoutMs)))
          stop()
        })
        child.addObserver((exit) => {
          if (!ctx.hasEnded) resume(settleExit(exit, ctx))
        })
        return Effect.sync(stop)
      })
    )

const settleExit = (exit: Exit.Exit<unknown, unknown>, ctx: RunningContext): Effect.Effect<ToolResult> =>
  Exit.isSuccess(exit)
    ? settle(exit.value, ctx)
    : end(ctx, failure(messageOf(Cause.squash(exit.cause))))

/** Reads an async generator or iterable. What it yields is progress; what it returns is the result. */
const readAll = async (values: AsyncIterable<unknown>, ctx: RunningContext): Promise<unknown> => {
  const iterator = values[Symbol.asyncIterator]()
  const close = async () => iterator.return?.()
  ctx.onAbort(() => void close().catch(() => {}))
  while (true) {
    const { done, value } = await iterator.next()
    if (done === true) return value
    ctx.progress(value)
  }
}

/** Runs a generator. It may yield Effects, whose outcome it gets; anything else that it yields is progress. */
const runGenerator = function*(
  generator: Generator<unknown, unknown>,
  ctx: RunningContext
): Effect.fn.Return<unknown, unknown> {
  let outcome: unknown
  while (true) {
    const { done, value } = generator.next(outcome)
    if (done === true) return value
    outcome = undefined
    // The guard has checked the value. Its type parameters are unknown.
    if (Effect.isEffect(value)) outcome = yield* value as Effect.Effect<unknown, unknown>
    else ctx.progress(value)
  }
}

const isThenable = (value: object): value is PromiseLike<unknown> => "then" in value && typeof value.then === "function"

const isAsyncIterable = (value: object): value is AsyncIterable<unknown> =>
  Symbol.asyncIterator in value && typeof value[Symbol.asyncIterator] === "function"

/** Iterators of lists and maps have no `throw`; they are values. */
const isGenerator = (value: object): value is Generator<unknown, unknown> =>
  Symbol.iterator in value && "next" in value && typeof value.next === "function" &&
  "throw" in value && typeof value.throw === "function"
