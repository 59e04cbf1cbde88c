/** `belay hooks test` and its flags. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { exitWith, optional, print, sharedFlags, toggle, unknown, usageError } from "../flags.ts"
import { named } from "../guides.ts"
import { plain, type Screen } from "../screen.ts"
import type { Usage } from "../usage.ts"
import { isBlocked, isDecided } from "./decide.ts"
import { type Facts, fieldOf, isAboutTool, textOf } from "./occasions.ts"
import * as Show from "./show.ts"

export const test = (screen: Screen) =>
  Command.make("test", {
    event: Argument.String("event").pipe(
      Argument.withDescription("An event of any system: PreToolUse, BeforeTool, before_tool_call, …")
    ),
    tool: optional("tool", "The tool that is called, such as Bash"),
    input: optional("input", "The input of the tool as JSON; @file reads a file, - standard input"),
    output: optional("output", "The result of the tool"),
    error: optional("error", "The error of the tool"),
    prompt: optional("prompt", "The message of the user"),
    payload: optional("payload", "Fields of standard input as JSON; @file or -"),
    timeout: Flag.Finite("timeout").pipe(Flag.withDescription("Maximum seconds for each entry"), Flag.optional),
    trustOnce: toggle("trust-once", "Run entries of an untrusted project for this call")
  }, ({ event, timeout, trustOnce, ...flags }) =>
    Effect.gen(function*() {
      const { json, where } = yield* sharedFlags
      if (Option.isSome(timeout) && !(timeout.value > 0)) {
        return yield* usageError("--timeout is a number of seconds above 0")
      }
      const facts = yield* factsOf(event, flags)
      // Loaded here, so that other commands start faster.
      const Trial = yield* Effect.promise(() => import("./trial.ts"))
      const limit = Option.isSome(timeout) ? { timeout: timeout.value } : {}
      const trial = yield* Trial.run({ where, facts, trustOnce, ...limit })
      yield* print(json, () => trial, () => Show.text(trial, where, screen))
      yield* exitWith(isBlocked(trial) ? 1 : trial.untrusted > 0 && !isDecided(facts.occasion, trial) ? 3 : 0)
    })).pipe(
      Command.withDescription(
        "Sends one event to the loaded hooks and shows what each entry does. Entries run for real. The exit code " +
          "is 1 if the event is blocked, and 3 if nothing decided and entries of an untrusted project did not run"
      )
    )

const factsOf = (
  event: string,
  flags: { readonly [K in "tool" | "input" | "output" | "error" | "prompt" | "payload"]: Option.Option<string> }
): Effect.Effect<Facts, Usage, Stdio.Stdio> =>
  Effect.gen(function*() {
    const found = named(event)[0]
    if (found === undefined) return yield* unknown(event)
    const { occasion } = found
    const payload = Option.isSome(flags.payload) ? yield* jsonOf("--payload", flags.payload.value) : {}
    if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
      return yield* usageError("--payload: expected a JSON object")
    }
    // Checked above.
    const fields = payload as JsonObject
    const tool = Option.getOrUndefined(flags.tool) ?? textOf(fields, "tool_name", "toolName") ?? found.tool
    if (tool === undefined && isAboutTool(occasion)) {
      return yield* usageError(
        `${found.name} is about a tool: add --tool, such as --tool Bash --input '{"command":"ls"}'`
      )
    }
    const input = Option.isSome(flags.input)
      ? yield* jsonOf("--input", flags.input.value)
      : inputOf(fields, found.tool !== undefined)
    const output = Option.isSome(flags.output)
      ? looseOf(flags.output.value)
      : fieldOf(fields, "tool_response", "tool_output", "toolResult")
    const error = Option.getOrUndefined(flags.error) ?? textOf(fields, "error")
    const prompt = Option.getOrUndefined(flags.prompt) ?? textOf(fields, "prompt", "message")
    return {
      event: found.name,
      occasion: occasion === "tool-result" && Option.isSome(flags.error) ? "tool-failure" : occasion,
      input,
      payload: fields,
      ...defined({ tool, output, error, prompt })
    }
  })

/** Returns the input of the tool. Events about one tool have its fields beside their own. */
const inputOf = (fields: JsonObject, isOneTool: boolean): Json => {
  const input = fieldOf(fields, "tool_input", "toolArgs", "tool_info") ?? (isOneTool ? fields : {})
  return typeof input === "string" ? looseOf(input) : input
}

/** All of standard input, as text. */
const readStandardInput = Effect.flatMap(
  Stdio.Stdio,
  ({ stdin }) => Effect.orDie(Stream.mkString(Stream.decodeText(stdin)))
)

/** Reads JSON from the flag, from a file (`@file`), or from standard input (`-`). */
const jsonOf = (flag: string, value: string): Effect.Effect<Json, Usage, Stdio.Stdio> =>
  Effect.gen(function*() {
    const text = value === "-"
      ? yield* readStandardInput
      : value.startsWith("@")
      ? yield* Effect.try({
        try: () => readFileSync(value.slice(1), "utf8"),
        catch: () => usageError(`${flag}: ${plain(value.slice(1))} cannot be read`)
      })
      : value
    return yield* Effect.try({
      try: (): Json => JSON.parse(text.replace(/^\uFEFF/, "")),
      catch: (error) => usageError(`${flag}: expected JSON: ${error instanceof Error ? error.message : String(error)}`)
    })
  })

const looseOf = (text: string): Json => Result.getOrElse(Result.try((): Json => JSON.parse(text)), () => text)
