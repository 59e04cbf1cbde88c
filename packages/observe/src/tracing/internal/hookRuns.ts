/** Spans of the entries of hook files: commands, requests, tools, prompts and stored code, one span for each run. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { attribute } from "../Conventions.ts"
import type { Redact } from "./content.ts"
import type { Attributes } from "./telemetry.ts"

const Run = Schema.Struct({
  event: Schema.String,
  file: Schema.String,
  key: Schema.String,
  type: Schema.optionalKey(Schema.String),
  command: Schema.optionalKey(Schema.String),
  outcome: Schema.Literals(["success", "blocking", "nonBlockingError", "cancelled"]),
  exitCode: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  durationMs: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  stderr: Schema.optionalKey(Schema.String)
})

const decode = Schema.decodeUnknownOption(Run)

/** One run of an entry. */
export interface HookRun {
  readonly event: string
  readonly durationMs: number
  readonly hasFailed: boolean
  readonly attributes: (redact: Redact | undefined) => Attributes
}

/** Returns the run that an event `hook-run` is about. Any hook can send an event of this name, so it is decoded. */
export const hookRunOf = (event: AgentEvent): HookRun | undefined => {
  if (event.type !== "custom" || event.name !== "hook-run") return undefined
  const run = Option.getOrUndefined(decode(event.payload))
  if (run === undefined) return undefined
  const { command, durationMs, exitCode, file, key, outcome, stderr, type } = run
  const hasFailed = outcome === "nonBlockingError" || outcome === "cancelled"
  return {
    event: run.event.slice(0, 200),
    durationMs: durationMs ?? 0,
    hasFailed,
    attributes: (redact) => ({
      [attribute.session]: event.sessionId,
      [attribute.hook]: event.hook,
      [attribute.hookEvent]: run.event,
      [attribute.hookFile]: file,
      [attribute.hookKey]: key,
      [attribute.hookType]: type,
      [attribute.hookOutcome]: outcome,
      [attribute.hookExitCode]: exitCode ?? undefined,
      [attribute.errorType]: hasFailed ? outcome : undefined,
      [attribute.hookCommand]: redact === undefined || command === undefined ? undefined : redact(command),
      [attribute.hookStderr]: redact === undefined || !stderr ? undefined : redact(stderr)
    })
  }
}
