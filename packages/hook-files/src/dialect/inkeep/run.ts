/** The hooks that are attached at one point, one after the other. */
import { eventual, messageOf } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Sandbox from "../../runner/Sandbox.ts"
import { isFields } from "../shared/fields.ts"
import { type Answer, type HookPoint, payload, read } from "./answer.ts"
import { type Capabilities, capabilities, type Lenders, type Tokens } from "./capabilities.ts"
import type { Attached } from "./config.ts"
import type { Context } from "./types.ts"
import * as Bag from "./variables.ts"

/** What happens. */
export interface Occasion {
  readonly name: string
  readonly point: HookPoint
  /** What belongs to the point. */
  readonly more: JsonObject
  readonly lenders: Lenders
  readonly tokens: Tokens
  readonly callId?: string
}

/** What comes of it: the end of the turn, an answer in place of the operation, or another value. */
export interface Verdict {
  readonly abort?: string
  readonly block?: Json
  readonly value?: Json
}

/** What the next hook finds changed. */
const fields: { readonly [P in HookPoint]: string } = {
  "before-args": "args",
  "after-result": "result",
  "before-delegation": "payload",
  "after-delegation": "result"
}

export const run = (hooks: ReadonlyArray<Attached>, occasion: Occasion, ctx: HookContext): Effect.Effect<Verdict> =>
  Effect.gen(function*() {
    const field = fields[occasion.point]
    let more = occasion.more
    let value: Json | undefined
    for (const hook of hooks) {
      const answer = yield* one(hook, { ...occasion, more }, ctx)
      if (Result.isFailure(answer)) {
        const message = `${hook.name} (${occasion.point}) broke: ${answer.failure}`
        ctx.warn(message)
        if (hook.onError === "abort") return { abort: message }
        continue
      }
      const said = answer.success
      if (said.action === "abort") return { abort: said.reason }
      if (said.action === "block") return { block: said.value }
      if (said.value === undefined) continue
      value = said.value
      // A payload says what is to change of it.
      const before = more[field]
      more = { ...more, [field]: field === "payload" ? { ...before as JsonObject, ...value as JsonObject } : value }
    }
    return value === undefined ? {} : { value: more[field]! }
  })

const one = (hook: Attached, occasion: Occasion, ctx: HookContext): Effect.Effect<Result.Result<Answer, string>> =>
  Effect.suspend(() => {
    const { callId, lenders, more, name, point, tokens } = occasion
    const { decoded, definition, sandboxConfig, writes } = hook
    const bag = Bag.open(name, hook.name, callId, ctx)
    const can = capabilities(bag, tokens, callId, lenders, ctx)
    const context = { ...more, hook: { name: hook.name, point }, ...(decoded === undefined ? {} : { config: decoded }) }
    const begun = performance.now()
    const ran: Effect.Effect<unknown, unknown> = definition.execution === "in-process"
      ? timed(eventual(() => definition.run(handed(context, can, ctx))), sandboxConfig?.timeoutMs ?? 30_000)
      : Sandbox.run({
        ...sandboxConfig,
        code: definition.executeCode,
        context,
        capabilities: can,
        onLog: (line) => ctx.warn(`${hook.name}: ${line}`)
      })
    return ran.pipe(
      Effect.map((said) => Result.flatMap(read(point, said), (answer) => fitting(point, answer))),
      Effect.tap((answer) =>
        Effect.sync(() => {
          if (Result.isSuccess(answer) && !(answer.success.action === "abort" && writes === "discardOnAbort")) {
            bag.keep()
          }
        })
      ),
      Effect.catchCause((cause) => Effect.succeed(Result.fail(messageOf(Cause.squash(cause))))),
      Effect.tap((answer) =>
        Effect.sync(() => {
          if (!ctx.events.active) return
          const outcome = Result.isFailure(answer)
            ? "nonBlockingError"
            : answer.success.action === "proceed"
            ? "success"
            : "blocking"
          ctx.events.emit("hook-run", {
            event: point,
            file: "",
            key: hook.name,
            command: definition.id,
            execution: definition.execution ?? "sandbox",
            outcome,
            exitCode: null,
            durationMs: Math.round(performance.now() - begun)
          })
        })
      )
    )
  })

/** What is changed fits what is there. */
const fitting = (point: HookPoint, answer: Answer): Result.Result<Answer, string> => {
  if (answer.action !== "proceed" || answer.value === undefined) return Result.succeed(answer)
  if (point === "before-delegation") return Result.map(payload(answer.value), () => answer)
  if (point === "before-args" && !isFields(answer.value)) return Result.fail("expected args that are an object")
  return Result.succeed(answer)
}

const timed = (work: Effect.Effect<unknown, unknown>, ms: number): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(
    Effect.timeoutOption(work, ms),
    Option.match({
      onNone: () => Effect.fail(`it took longer than ${ms} ms`),
      onSome: Effect.succeed
    })
  )

/** The same as in the sandbox, for a function of the host. */
const handed = (context: JsonObject, can: Capabilities, ctx: HookContext): Context => {
  const made: { [key: string]: unknown } = { ...context }
  for (const [path, act] of Object.entries(can)) {
    const [room = "", name = ""] = path.split(".")
    const there = made[room] as { [name: string]: unknown } | undefined
    made[room] = { ...there, [name]: (...args: ReadonlyArray<Json>) => ctx.promise(eventual(() => act(...args))) }
  }
  return made as unknown as Context
}
