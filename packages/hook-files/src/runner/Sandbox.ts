/**
 * Runs stored code that can reach only the values and functions that it receives.
 *
 * @since 0.1.0
 */
import { messageOf } from "@belay/core/ErrorMessage"
import { type Eventual, eventual } from "@belay/core/Eventual"
import { type Json, type JsonObject, whyNot } from "@belay/core/Json"
import { TaggedError } from "@belay/core/TaggedError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Worker } from "node:worker_threads"
import type { Job, Reply, Said } from "./internal/sandboxworker.ts"

/** Stored code ended without a result. @category errors @since 0.1.0 */
export class SandboxError extends TaggedError<SandboxError>()("SandboxError", {
  /**
   * The code could not be read or threw an error, its result is not JSON or too long, it ran too long, or the worker
   * ended.
   */
  reason: Schema.Literals(["code", "result", "timeout", "memory", "worker"]),
  message: Schema.String
}) {}

/** Limits of one run. @category models @since 0.1.0 */
export interface Limits {
  /** Timeout in milliseconds, including calls of the host. Default 5,000. */
  readonly timeoutMs?: number
  /** Bytes of memory, at least 16,777,216. Default 33,554,432. */
  readonly memoryBytes?: number
  /** The most characters of the result, and of the arguments of one call, as JSON. Default 1,048,576. */
  readonly maxText?: number
}

/** The code and its environment. @category models @since 0.1.0 */
export interface Request extends Limits {
  /**
   * A module with `export default async (ctx) => result`, in JavaScript, or in TypeScript if this version of Node can
   * strip types. At most 262,144 characters.
   */
  readonly code: string
  /** The ES modules that the code can import, by name. Together at most 1,048,576 characters. Default none. */
  readonly packages?: { readonly [name: string]: string }
  /** The values of `ctx`. */
  readonly context: JsonObject
  /**
   * Functions of the host by their path in `ctx`: the code calls `variableBag.get` as `await
   * ctx.variableBag.get("key")`.
   */
  readonly capabilities?: { readonly [path: string]: (...args: ReadonlyArray<Json>) => Eventual<Json | void> }
  /** Receives the lines that the code prints, at most 100. */
  readonly onLog?: (line: string) => void
}

/**
 * Runs a module in a separate interpreter, in a separate worker. The code has no environment, files, network, process,
 * timers or imports, except of `packages`, and no access to the memory of the host. The run ends with its result, its
 * timeout or its interruption, whichever is first, and the worker ends too. Without a result it returns `undefined`.
 *
 * @example
 * ```ts
 * import * as Sandbox from "@belay/hook-files/Sandbox"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const code = `export default async (ctx) => ({ rows: ctx.rows.slice(0, await ctx.limits.rows()) })`
 *   const result = yield* Sandbox.run({ code, context: { rows: [1, 2, 3] }, capabilities: { "limits.rows": () => 2 } })
 *   console.log(result) // { rows: [1, 2] }
 * })
 * ```
 * @category running
 * @since 0.1.0
 */
export const run = (request: Request): Effect.Effect<Json | undefined, SandboxError> => {
  const { capabilities = {}, code, context, onLog, packages = {} } = request ?? {}
  const { maxText = 1_048_576, memoryBytes = 33_554_432, timeoutMs = 5_000 } = request ?? {}
  if (typeof code !== "string") return fail("code", "it is not a text")
  if (code.length > 262_144) return fail("code", "it is longer than 262,144 characters")
  const packageText = Object.values(packages).reduce((sum, text) => sum + text.length, 0)
  if (packageText > 1_048_576) return fail("code", "its packages are longer than 1,048,576 characters")
  const job: Job = {
    code,
    packages,
    context: JSON.stringify(context),
    capabilities: Object.keys(capabilities),
    memoryBytes,
    timeoutMs,
    maxText
  }
  return Effect.scoped(Effect.gen(function*() {
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => start(job)),
      (one) => Effect.promise(() => one.terminate())
    )
    const calls = yield* FiberSet.make<void>()
    const runFork = yield* FiberSet.runtime(calls)()
    const post = (reply: Reply) => worker.postMessage(reply)
    return yield* Effect.callback<Json | undefined, SandboxError>((resume) => {
      const tooLate = fail("timeout", `it took longer than ${timeoutMs} ms`)
      const tooSlow = fail("worker", `its worker did not start within ${startMs} ms`)
      let timer = setTimeout(() => resume(tooSlow), startMs)
      worker.on("message", (said: Said) => {
        if (said.type === "started") {
          clearTimeout(timer)
          timer = setTimeout(() => resume(tooLate), timeoutMs)
        } else if (said.type === "call") runFork(Effect.map(answered(said, capabilities, maxText), post))
        else if (said.type === "log") onLog?.(said.line)
        else if (said.type === "done") {
          resume(said.result === undefined ? Effect.succeed(undefined) : resultOf(said.result))
        } else resume(said.reason === "timeout" ? tooLate : fail(said.reason, said.message))
      })
      worker.on("error", (error) => resume(fail("worker", messageOf(error))))
      worker.on("exit", () => resume(fail("worker", "it ended without a result")))
      return Effect.sync(() => clearTimeout(timer))
    })
  }))
}

/** Timeout for the start of a worker, in milliseconds. */
const startMs = 30_000

const fail = (reason: SandboxError["reason"], message: string): Effect.Effect<never, SandboxError> =>
  Effect.fail(new SandboxError({ reason, message: `stored code: ${message}` }))

const start = (job: Job): Worker =>
  new Worker(new URL(import.meta.url.replace(/[^/]+(\.[jt]s)$/, "internal/sandboxworker$1")), {
    workerData: job,
    env: {},
    argv: [],
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
  })

/** Leaves out keys that would set a prototype. */
const parse = (text: string): Result.Result<Json, unknown> =>
  Result.try(() => JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value) as Json)

const resultOf = (text: string): Effect.Effect<Json, SandboxError> => {
  const parsed = parse(text)
  if (Result.isFailure(parsed)) return fail("result", "its result is no JSON")
  const why = whyNot(parsed.success)
  return why === undefined ? Effect.succeed(parsed.success) : fail("result", `its result does not fit: ${why}`)
}

/** Runs a function of the host for the code. */
const answered = (
  { args, id, name }: Extract<Said, { readonly type: "call" }>,
  capabilities: NonNullable<Request["capabilities"]>,
  maxText: number
): Effect.Effect<Reply> => {
  const parsed = parse(args)
  if (!Object.hasOwn(capabilities, name) || Result.isFailure(parsed)) {
    return Effect.succeed({ id, error: `${name} is not there` })
  }
  return eventual(() => capabilities[name]!(...parsed.success as ReadonlyArray<Json>)).pipe(
    Effect.map((result): Reply => {
      const text = result === undefined ? undefined : JSON.stringify(result)
      return text !== undefined && text.length > maxText
        ? { id, error: "the answer is too long" }
        : { id, result: text }
    }),
    Effect.catchCause((cause) => Effect.succeed({ id, error: messageOf(Cause.squash(cause)).slice(0, 1_000) }))
  )
}
