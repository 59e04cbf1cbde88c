/**
 * Runs commands.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Command from "@belay/hook-files/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ToolError } from "./ToolError.ts"

const input = Schema.Struct({
  command: Schema.String.annotate({ description: "The command line for the shell" }),
  description: Schema.optionalKey(Schema.String.annotate({ description: "What the command does, in a few words" })),
  timeout: Schema.optionalKey(Schema.Int.annotate({ description: "The most milliseconds it may take" }))
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Bash.make`. @category models @since 0.1.0 */
export interface Options {
  /** Milliseconds of a command, if the model does not set `timeout`. Default 120,000. */
  readonly timeoutMs?: number
  /** The largest `timeout` that the model can set. Default 540,000, which is less than the limit of a tool call. */
  readonly maxTimeoutMs?: number
  /** The most bytes of standard output, and of standard error, that the model reads. Default 30,000. */
  readonly maxOutput?: number
  /** More variables for the commands. */
  readonly env?: { readonly [name: string]: string }
  /**
   * Names of more variables that commands inherit. Without it they inherit only variables such as `PATH`, `HOME` and
   * `LANG`, so that they cannot read the keys of the program.
   */
  readonly passEnv?: ReadonlyArray<string>
  /** Runs the commands, for example in a container. Default: on this machine, as the user of the program. */
  readonly run?: Command.Runner
}

const optionKinds: OptionKinds<Options> = {
  timeoutMs: "number",
  maxTimeoutMs: "number",
  maxOutput: "number",
  env: "object",
  passEnv: "textList",
  run: "function"
}

/**
 * Makes the tool `Bash`: `command`, and optionally `timeout` and `description`. It runs in the working folder, in bash
 * if that is installed and otherwise in sh, without a terminal and with closed input. The result has `exitCode`,
 * `stdout` and `stderr`; an exit code other than 0 is not an error of the tool. When the command ends, takes too long
 * or is cancelled, all processes that it started are ended too, also those in the background. It is destructive, and
 * runs alone.
 *
 * A command can read, change and send whatever the user of the program can. Use hooks to decide which commands run, and
 * `run` for a sandbox. Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as Bash from "@belay/tools/Bash"
 *
 * const bash = Bash.make({ timeoutMs: 60_000, passEnv: ["JAVA_HOME"] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Bash", Args, Args> => {
  Result.getOrThrow(checkKinds("Bash", options, optionKinds))
  const { maxOutput = 30_000, maxTimeoutMs = 540_000, run = Command.run, timeoutMs = 120_000 } = options
  Result.getOrThrow(
    checkOptions(
      "Bash",
      whole("timeoutMs", timeoutMs, 1, 86_400_000),
      whole("maxTimeoutMs", maxTimeoutMs, 1, 86_400_000),
      whole("maxOutput", maxOutput, 1, 100_000_000)
    )
  )
  return defineTool({
    name: "Bash",
    description: "Runs a command in a shell, in the working folder. Nothing can be typed in, and processes in the " +
      "background end with the command.",
    input,
    destructive: true,
    exclusive: true,
    execute: Effect.fnUntraced(function*({ command, timeout = timeoutMs }, { cwd }) {
      const ms = Math.min(Math.max(1, timeout), Math.max(maxTimeoutMs, timeoutMs))
      const { env = {}, passEnv = [] } = options
      const ended = yield* run({ command, cwd, input: "", env, passEnv, timeoutMs: ms, maxOutput, lingerMs: 0 })
      const shown = {
        stdout: ended.stdout,
        stderr: ended.stderr,
        ...(ended.overflowed
          ? {
            note:
              `Only the first ${maxOutput} bytes are shown. Write long output to a file, and read the part you need.`
          }
          : {})
      }
      if (ended.timedOut) return yield* failed("limit", `the command was ended after ${ms} ms`, shown)
      if (ended.exitCode === undefined && !ended.overflowed) {
        return yield* failed("failed", "the command was ended by a signal", shown)
      }
      return ended.exitCode === undefined ? shown : { exitCode: ended.exitCode, ...shown }
    })
  })
}

const failed = (
  reason: ToolError["reason"],
  what: string,
  shown: { readonly stdout: string; readonly stderr: string }
): Effect.Effect<never, ToolError> => {
  const output = [shown.stdout, shown.stderr].filter((text) => text !== "").join("\n")
  const message = output === "" ? `${what}; it wrote nothing` : `${what}; before, it wrote:\n${output}`
  return Effect.fail(new ToolError({ tool: "Bash", reason, message }))
}
