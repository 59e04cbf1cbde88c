/**
 * Runs stored code where it can reach nothing but what it is handed.
 *
 * @since 0.1.0
 */
import { messageOf } from "@belay/core/ErrorMessage"
import { type Eventual, eventual } from "@belay/core/Eventual"
import { type Json, type JsonObject, whyNot } from "@belay/core/Json"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Worker } from "node:worker_threads"
import type { Job, Reply, Said } from "./internal/sandboxworker.ts"

/** Stored code that did not come to a result. @category errors @since 0.1.0 */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", {
  /**
   * The code cannot be read or threw, its result is not JSON or too long, it took too long, or the worker ended first.
   */
  reason: Schema.Literals(["code", "result", "timeout", "memory", "worker"]),
  message: Schema.String
}) {}

/** Limits of one run. @category models @since 0.1.0 */
export interface Limits {
  /** Milliseconds, with everything that the host does for it. Default 5,000. */
  readonly timeoutMs?: number
  /** At least 16,777,216. Default 33,554,432. */
  readonly memoryBytes?: number
  /** Most characters of the result, and of the arguments of a call, as JSON. Default 1,048,576. */
  readonly maxText?: number
}

/** What is to run. @category models @since 0.1.0 */
export interface Request extends Limits {
  /**
   * A module with `export default async (ctx) => result`, in JavaScript, or in TypeScript where Node can take types
   * out. At most 262,144 characters.
   */
  readonly code: string
  /** What `ctx` is. */
  readonly context: JsonObject
  /** What the host does for it, by path in `ctx`: `variableBag.get` is called as `await ctx.variableBag.get("key")`. */
  readonly capabilities?: { readonly [path: string]: (...args: ReadonlyArray<Json>) => Eventual<Json | void> }
  /** Receives what the code prints, at most 100 lines. */
  readonly onLog?: (line: string) => void
}

/**
 * Runs a module in an interpreter of its own, in a worker of its own: no environment, files, network, process, timers
 * or imports, and nothing of the host's memory. It ends with the first of its result, its
 * timeout and its interruption, and leaves no worker behind. A result that is not there is `undefined`.
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
  const { capabilities = {}, code, context, maxText = 1_048_576, memoryBytes = 33_554_432, onLog, timeoutMs = 5_000 } =
    request
  if (code.length > 262_144) return fail("code", "it is longer than 262,144 characters")
  const job: Job = {
    code,
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
      const late = (ms: number) => setTimeout(() => resume(tooLate), ms)
      let timer = late(startMs)
      worker.on("message", (said: Said) => {
        if (said.type === "started") {
          clearTimeout(timer)
          timer = late(timeoutMs)
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

/** Milliseconds that a worker has to begin. */
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

/** Keys that would be prototypes are left out. */
const parse = (text: string): Result.Result<Json, unknown> =>
  Result.try(() => JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value) as Json)

const resultOf = (text: string): Effect.Effect<Json, SandboxError> => {
  const parsed = parse(text)
  if (Result.isFailure(parsed)) return fail("result", "its result is no JSON")
  const why = whyNot(parsed.success)
  return why === undefined ? Effect.succeed(parsed.success) : fail("result", `its result does not fit: ${why}`)
}

/** Does what the code asks for. */
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
