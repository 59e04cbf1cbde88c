/** The rules of Base Coat for the engine. */
import { messageOf } from "@belay/core/ErrorMessage"
import { eventual } from "@belay/core/Eventual"
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type JsonObject } from "@belay/core/Json"
import { redactText } from "@belay/hooks/Secrets"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Dialect, Ending, Report } from "../../engine/Dialect.ts"
import { isFields } from "../../internal/fields.ts"
import { objectOf, outcomeOf, outputOf } from "../shared/jsonAnswer.ts"
import { type Answer, read, silent } from "./answer.ts"
import type { Envelope, Handler, Run } from "./events.ts"
import { place } from "./input.ts"
import { merge, type Verdict } from "./verdict.ts"

/** `timeoutMs` is the time limit of an entry that sets no timeout. */
export const make = (timeoutMs: number): Dialect<Handler, Envelope, Answer, Verdict> => ({
  name: "basecoat",
  concurrency: () => 1,
  chain: place,
  isFinal: ({ blocked }) => blocked !== undefined,
  request: (entry, envelope, ctx) => ({
    // An envelope is JSON once its undefined fields are removed.
    input: envelope as JsonObject,
    cwd: ctx.cwd,
    timeoutMs: entry.timeoutMs ?? timeoutMs
  }),
  evaluate: (entry, envelope, ctx) =>
    entry.work.type === "code" ? runCode(entry.work.run, envelope, entry.timeoutMs ?? timeoutMs, ctx) : undefined,
  decode: (ending, entry) => {
    const answer = readEnding(ending, entry)
    if (Result.isSuccess(answer)) return answer.success
    const outcome = ending.type === "finished" ? outcomeOf(answer, ending.finished) : "nonBlockingError"
    return { ...silent, hookId: entry.key, outcome, problem: redactText(answer.failure) }
  },
  silent,
  guards: ({ event, kind }) => event === "PreToolUse" && kind !== "advisory" && kind !== "telemetry",
  deny: (reason, { key }) => ({ action: "block", blocked: { by: key, reason: redactText(reason) } }),
  ask: (asks, { kind }) => kind === "advisory" || kind === "telemetry" ? undefined : { asks },
  merge,
  warnsItself: true,
  report
})

const readEnding = (ending: Ending, entry: Handler): Result.Result<Answer, string> => {
  if (ending.type === "finished") {
    return Result.flatMap(Result.flatMap(outputOf(ending.finished), objectOf), (said) => read(said, entry))
  }
  if (ending.type === "failed") return Result.fail(ending.message)
  const { value } = ending
  return value === undefined || isFields(value) ? read(value, entry) : Result.fail("its response is not an object")
}

const runCode = (run: Run, envelope: Envelope, timeoutMs: number, ctx: HookContext): Effect.Effect<Ending> =>
  eventual(() => run(envelope, ctx)).pipe(
    Effect.map((value): Ending => ({ type: "returned", value })),
    Effect.timeoutOption(timeoutMs),
    Effect.map(Option.getOrElse((): Ending => ({ type: "failed", message: "took too long" }))),
    Effect.catchCause((cause) => Effect.succeed<Ending>({ type: "failed", message: messageOf(Cause.squash(cause)) }))
  )

/** Sends the event `base-coat-hook`. Telemetry hooks are not reported, because they decide nothing. */
const report = (
  { answer, durationMs, entry, input: { hook, tool } }: Report<Handler, Envelope, Answer>,
  { events }: HookContext
): void => {
  if (!events.active || entry.kind === "telemetry") return
  const { action, blocked, input, metadata, output } = answer
  const change = output !== undefined
    ? { before: digest(tool?.output ?? tool?.error), after: digest(output) }
    : input !== undefined
    ? { before: digest(tool?.input), after: digest(input) }
    : {}
  events.emit("base-coat-hook", {
    event: hook,
    hookId: answer.hookId || entry.key,
    file: entry.file,
    key: entry.key,
    kind: entry.kind ?? "unsaid",
    action,
    ...defined({ reason: blocked?.reason }),
    ...change,
    metadata,
    durationMs
  })
}
