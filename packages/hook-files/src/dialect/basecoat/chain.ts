/** The Base Coat hooks of one event, one after the other, and what they come to. */
import { eventual, messageOf } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import { redactText } from "@belay/hooks/Secrets"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Entries from "../../engine/entries.ts"
import type { Finished } from "../../process/Command.ts"
import type { Work } from "../../Runners.ts"
import { isFields } from "../shared/fields.ts"
import { type Answer, normalise, passThrough } from "./answer.ts"
import type { Envelope, EventName, Handler, Run } from "./events.ts"

/** What the hooks of an event come to. */
export interface Verdict {
  readonly blocked?: { readonly by: string; readonly reason: string }
  /** One that could have blocked may not run: why a person decides in its place. */
  readonly asks?: string
  readonly input?: Json
  readonly output?: Json
  readonly context: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  /** Hooks that broke. */
  readonly failures: ReadonlyArray<{ readonly hookId: string; readonly message: string }>
  readonly metadata: ReadonlyArray<JsonObject>
  readonly policies: number
}

export interface Setup {
  readonly handlers: () => ReadonlyArray<Handler>
  readonly entries: Entries.Entries<Handler & { readonly work: Work }>
  readonly timeoutMs: number
  /** Whether a hook that broke blocks a tool call. */
  readonly blockOnError: boolean
}

/** What may come of an event besides context. */
const powers: { readonly [E in EventName]: { readonly block?: true; readonly input?: true; readonly output?: true } } =
  {
    SessionStart: { block: true },
    SessionEnd: {},
    PreToolUse: { block: true, input: true },
    PostToolUse: { block: true, output: true },
    PreCompact: { block: true, input: true },
    PostCompact: {},
    OnError: { block: true, output: true },
    OnBudgetExceeded: { block: true }
  }

/** Those of an event, in their order. */
export const fitting = (setup: Setup, event: EventName): ReadonlyArray<Handler> =>
  setup.handlers().filter((one) => one.event === event).sort((a, b) => a.priority - b.priority)

/** Runs them. `place` puts what was modified into the envelope for the next one. */
export const fire = (
  handlers: ReadonlyArray<Handler>,
  first: Envelope,
  place: (envelope: Envelope, change: Pick<Answer, "input" | "output">) => Envelope,
  setup: Setup,
  ctx: HookContext
): Effect.Effect<Verdict> =>
  Effect.gen(function*() {
    const { hook: event } = first
    const power = powers[event]
    const watchers = handlers.filter(({ kind }) => kind === "telemetry")
    let envelope = first
    let verdict: Verdict = { context: [], warnings: [], failures: [], metadata: [], policies: 0 }
    for (const handler of handlers) {
      if (handler.kind === "telemetry") continue
      if (verdict.blocked !== undefined) break
      const begin = yield* Clock.currentTimeMillis
      const { answer, asks, hookId, problem } = yield* one(handler, envelope, setup, ctx)
      const warnings = [...answer.warnings]
      const blocks = answer.action === "block"
      if (blocks && power.block === undefined) warnings.push(`${event} cannot be blocked`)
      if (blocks && handler.kind === "advisory") warnings.push("it does not block, because it is advisory")
      const input = power.input === true && isFields(answer.input) ? answer.input : undefined
      const output = power.output === true ? answer.output : undefined
      if ((answer.input ?? input) !== input || (answer.output ?? output) !== output) {
        warnings.push(`what it modifies does not count at ${event}`)
      }
      const blocked = blocks && power.block === true && handler.kind !== "advisory"
        ? { by: hookId, reason: answer.reason ?? `blocked by ${hookId}` }
        : undefined
      const next = place(envelope, {
        ...(input === undefined ? {} : { input }),
        ...(output === undefined ? {} : { output })
      })
      if (ctx.events.active) {
        ctx.events.emit("base-coat-hook", {
          event,
          hookId,
          file: handler.file,
          key: handler.key,
          kind: handler.kind ?? "unsaid",
          action: answer.action,
          ...(blocked === undefined ? {} : { reason: blocked.reason }),
          ...(input === undefined ? {} : { before: digest(envelope.tool?.input), after: digest(input) }),
          ...(output === undefined
            ? {}
            : { before: digest(envelope.tool?.output ?? envelope.tool?.error), after: digest(output) }),
          metadata: answer.metadata,
          durationMs: (yield* Clock.currentTimeMillis) - begin
        })
      }
      envelope = next
      verdict = {
        ...verdict,
        ...(blocked === undefined ? {} : { blocked }),
        ...(asks === undefined || handler.kind === "advisory" ? {} : { asks }),
        ...(input === undefined ? {} : { input }),
        ...(output === undefined ? {} : { output }),
        context: [...answer.overwrite ? [] : verdict.context, ...answer.context],
        warnings: [...verdict.warnings, ...warnings.map((text) => `${hookId}: ${text}`)],
        failures: [...verdict.failures, ...problem === undefined ? [] : [{ hookId, message: problem }]],
        metadata: [...verdict.metadata, answer.metadata],
        policies: verdict.policies + (handler.kind === "policy" ? 1 : 0)
      }
    }
    const { blocked } = verdict
    const outcome = blocked === undefined
      ? { action: "passThrough" }
      : { action: "block", reason: blocked.reason, by: blocked.by }
    for (const handler of watchers) {
      const { answer, hookId, problem } = yield* one(handler, { ...envelope, outcome }, setup, ctx)
      const idle = answer.action === "passThrough" ? [] : ["its answer does not count, because it is telemetry"]
      verdict = {
        ...verdict,
        warnings: [...verdict.warnings, ...[...answer.warnings, ...idle].map((text) => `${hookId}: ${text}`)],
        failures: [...verdict.failures, ...problem === undefined ? [] : [{ hookId, message: problem }]],
        metadata: [...verdict.metadata, answer.metadata]
      }
    }
    return verdict
  })

interface Said {
  readonly answer: Answer
  readonly hookId: string
  readonly problem?: string
  readonly asks?: string
}

/** Runs one. When it breaks it passes through, with a warning. */
const one = (handler: Handler, envelope: Envelope, setup: Setup, ctx: HookContext): Effect.Effect<Said> => {
  const { key, work } = handler
  const timeoutMs = handler.timeoutMs ?? setup.timeoutMs
  let asks: string | undefined
  const read = (finished: Finished, refused: string | undefined) => {
    asks = refused
    return Entries.answered((stdout) => Result.flatMap(Entries.object(stdout), normalise))(finished, refused)
  }
  const answered = work.type === "code"
    ? code(work.run, envelope, timeoutMs, ctx)
    : Effect.map(
      setup.entries.run(
        { ...handler, work },
        { input: envelope as unknown as JsonObject, cwd: ctx.cwd, timeoutMs },
        read,
        ctx
      ),
      ({ answer }) => answer
    )
  return Effect.map(answered, (result) => {
    if (Result.isSuccess(result)) {
      const { hookId } = result.success.metadata
      return {
        answer: result.success,
        hookId: typeof hookId === "string" && hookId !== "" ? hookId.slice(0, 100) : key
      }
    }
    const message = redactText(result.failure)
    const blocks = setup.blockOnError && envelope.hook === "PreToolUse" && handler.kind !== "advisory" &&
      handler.kind !== "telemetry"
    return {
      answer: {
        ...passThrough,
        ...(blocks ? { action: "block", reason: `a hook broke: it ${message}` } : {}),
        warnings: [`Hook failed: ${message}`]
      },
      hookId: key,
      problem: message,
      ...(asks === undefined ? {} : { asks })
    }
  })
}

const code = (
  run: Run,
  envelope: Envelope,
  timeoutMs: number,
  ctx: HookContext
): Effect.Effect<Result.Result<Answer, string>> =>
  eventual(() => run(envelope, ctx)).pipe(
    Effect.map((said) =>
      said === undefined
        ? Result.succeed(passThrough)
        : isFields(said)
        ? normalise(said)
        : Result.fail("its response is no object")
    ),
    Effect.timeoutOption(timeoutMs),
    Effect.map(Option.getOrElse(() => Result.fail("took too long"))),
    Effect.catchCause((cause) => Effect.succeed(Result.fail(messageOf(Cause.squash(cause)))))
  )
