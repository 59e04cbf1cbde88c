/** The rules of stored hooks for the engine. Code runs in a sandbox, or in the process of the host. */
import { messageOf } from "@belay/core/ErrorMessage"
import { eventual } from "@belay/core/Eventual"
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Dialect from "../../engine/Dialect.ts"
import { isFields } from "../../internal/fields.ts"
import * as Sandbox from "../../runner/Sandbox.ts"
import { type Answer, merge, silent, type Verdict, withChange } from "./answer.ts"
import { type Capabilities, capabilities, type Providers, type Tokens } from "./capabilities.ts"
import type { Attached } from "./config.ts"
import { payload, read, refusalOf, type Response } from "./response.ts"
import type { Context } from "./types.ts"
import * as Variables from "./variables.ts"

/** The engine's entry for an attachment. */
export interface Entry extends Dialect.Entry<{ readonly type: "code" }> {
  readonly attached: Attached
}

export interface Input {
  /** The fields of the hook's context at this point. */
  readonly fields: JsonObject
  readonly tokens: Tokens
  readonly callId?: string | undefined
}

export interface Options {
  /** The name of the hook. */
  readonly name: string
  readonly providers: Providers
  /** Whether an attachment applies to the agent that is running. */
  readonly isFor: (attached: Attached, ctx: HookContext) => boolean
}

export const make = (options: Options): Dialect.Dialect<Entry, Input, Answer, Verdict> => ({
  name: "inkeep",
  applies: ({ attached }, _input, ctx) => options.isFor(attached, ctx),
  concurrency: () => 1,
  chain: (input, answer, { attached }) => ({ ...input, fields: withChange(input.fields, attached.hookPoint, answer) }),
  isFinal: ({ abort, block }) => abort !== undefined || block !== undefined,
  // Every entry is code and is run by `evaluate`, so the runners never receive this request.
  request: (_entry, { fields }, { cwd }) => ({ input: fields, cwd, timeoutMs: 0 }),
  evaluate: ({ attached }, input, ctx) => evaluate(attached, input, options, ctx),
  decode,
  silent,
  merge: (answers, entries, { fields }) => merge(answers, entries[0]?.attached.hookPoint, fields),
  label: ({ key }) => key,
  report: ({ answer: { outcome }, durationMs, entry: { attached, event, file, key } }, { events }) => {
    if (!events.active) return
    const { execution, id } = attached.definition
    const what = { event, file, key, command: id, execution: execution ?? "sandbox" }
    events.emit("hook-run", { ...what, outcome, exitCode: null, durationMs })
  }
})

const decode = (ending: Dialect.Ending, { attached, event, key }: Entry): Answer => {
  if (ending.type === "returned") return answerOf(ending.value as Response)
  const problem = `(${event}) broke: ${ending.type === "failed" ? ending.message : "it did not return"}`
  const answer: Answer = { ...silent, outcome: "nonBlockingError", problem }
  return attached.onError === "abort" ? { ...answer, abort: `${key} ${problem}` } : answer
}

/** Converts a response to an answer. `evaluate` returns only responses that `read` decoded. */
const answerOf = (response: Response): Answer => {
  if (response.action === "abort") return { ...silent, outcome: "blocking", abort: response.reason }
  if (response.action === "block") return { ...silent, outcome: "blocking", block: response.value }
  return { ...silent, ...defined({ value: response.value }) }
}

const evaluate = (
  attached: Attached,
  { callId, fields, tokens }: Input,
  { name, providers }: Options,
  ctx: HookContext
): Effect.Effect<Dialect.Ending> =>
  Effect.clockWith((clock) => {
    const { decoded, definition, hookPoint, sandboxConfig } = attached
    const bag = Variables.open(name, attached.name, callId, ctx, () => clock.currentTimeMillisUnsafe())
    const can = capabilities(bag, tokens, callId, providers, ctx)
    const context = { ...fields, hook: { name: attached.name, point: hookPoint }, ...defined({ config: decoded }) }
    const ran: Effect.Effect<unknown, unknown> = definition.execution === "in-process"
      ? within(eventual(() => definition.run(contextOf(context, can, ctx))), sandboxConfig?.timeoutMs ?? 30_000)
      : Sandbox.run({
        ...sandboxConfig,
        code: definition.executeCode,
        context,
        capabilities: can,
        onLog: (line) => ctx.warn(`${attached.name}: ${line}`)
      })
    return ran.pipe(
      Effect.map((value) => {
        const response = Result.flatMap(read(hookPoint, value), (one) => checkValue(attached, one))
        const refusal = attached.onError === "abort" ? undefined : refusalOf(hookPoint, value)
        if (refusal === undefined || Result.isSuccess(response)) return response
        ctx.warn(`${attached.name}: ${response.failure}; it counts as a refusal`)
        return Result.succeed(refusal)
      }),
      Effect.tap((response) => Effect.sync(() => Result.isSuccess(response) && keep(attached, response.success, bag))),
      Effect.catchCause((cause) => Effect.succeed(Result.fail(messageOf(Cause.squash(cause))))),
      Effect.map((response: Result.Result<Response, string>): Dialect.Ending =>
        Result.isSuccess(response)
          ? { type: "returned", value: response.success }
          : { type: "failed", message: response.failure }
      )
    )
  })

/**
 * Stores the variables that the hook wrote. They are discarded if the hook aborted and `writes` is `discardOnAbort`.
 */
const keep = ({ writes }: Attached, { action }: Response, bag: Variables.Bag): void => {
  if (action !== "abort" || writes !== "discardOnAbort") bag.keep()
}

/** Checks that a changed value has the same type as the value that it replaces. */
const checkValue = ({ hookPoint }: Attached, response: Response): Result.Result<Response, string> => {
  if (response.action !== "proceed" || response.value === undefined) return Result.succeed(response)
  if (hookPoint === "before-delegation") return Result.map(payload(response.value), () => response)
  return hookPoint === "before-args" && !isFields(response.value)
    ? Result.fail("expected an object as args")
    : Result.succeed(response)
}

const within = (work: Effect.Effect<unknown, unknown>, ms: number): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(
    Effect.timeoutOption(work, ms),
    Option.match({
      onNone: () => Effect.fail(`it took longer than ${ms} ms`),
      onSome: Effect.succeed
    })
  )

/** Makes the context of an in-process function. It has the same capabilities as in the sandbox. */
const contextOf = (fields: JsonObject, can: Capabilities, ctx: HookContext): Context => {
  const context: { [key: string]: unknown } = { ...fields }
  for (const [path, act] of Object.entries(can)) {
    const [group = "", name = ""] = path.split(".")
    // Groups are created only in this loop and contain only functions, so the cast is safe.
    const before = context[group] as { [name: string]: unknown } | undefined
    context[group] = { ...before, [name]: (...args: ReadonlyArray<Json>) => ctx.promise(eventual(() => act(...args))) }
  }
  return context as unknown as Context
}
