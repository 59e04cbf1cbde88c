/** Runs the command line. The exit code is 0 for success, 1 for findings or a rejection, and 2 for wrong usage. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { ExitCode } from "../flags.ts"
import { isInterruptHandled } from "../interrupts.ts"
import { plain, type Screen } from "../screen.ts"
import { mustEnd, takeSignal } from "../serve/signals.ts"
import { Usage } from "../usage.ts"
import { belay } from "./commands.ts"

/** The version of this package. */
const versionOf = (): string =>
  (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { readonly version: string })
    .version

/** Runs one command line and returns its exit code. Output goes to the `Console`, input comes from `Stdio`. */
export const run = (argv: ReadonlyArray<string>, screen: Screen) =>
  Effect.suspend(() => {
    const exit = { code: 0 }
    return Command.runWith(belay(screen), { version: versionOf() })(argv).pipe(
      Effect.provideService(ExitCode, exit),
      Effect.matchCauseEffect({
        onSuccess: () => Effect.succeed(exit.code),
        onFailure: (cause) => Effect.as(printError(cause), codeOf(cause))
      }),
      Effect.provide(outputLayer(screen))
    )
  })

/** Runs one command line for this process and sets its exit code. */
export const main = (argv: ReadonlyArray<string>, screen: Screen): void => {
  Effect.runFork(
    Effect.map(Effect.provide(run(argv, screen), platformLayer), (code) => {
      process.exitCode = code
      // Something that does not stop may still run.
      if (mustEnd()) process.exit()
    })
  )
  failWithoutOutput()
  // Whatever a hook has started ends with this process.
  process.on("SIGINT", () => isInterruptHandled() || takeSignal() ? undefined : process.exit(130))
  process.on("SIGTERM", () => takeSignal() ? undefined : process.exit(143))
}

/**
 * Makes the command fail if its output cannot be written. Without it, a full disk would cut the output off, and nobody
 * would know. Readers such as `head` may stop reading when they like.
 */
const failWithoutOutput = (): void => {
  let hasFailed = false
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || hasFailed) return
    hasFailed = true
    process.stderr.write(`belay: the output cannot be written: ${error.message}\n`)
    process.on("exit", () => void (process.exitCode ||= 1))
  })
}

const isUsage = (error: unknown): boolean => error instanceof Usage || CliError.isCliError(error)

const codeOf = (cause: Cause.Cause<unknown>): number => {
  if (Cause.hasInterruptsOnly(cause)) return 130
  const error = Cause.squash(cause)
  if (CliError.isCliError(error) && error._tag === "ShowHelp" && error.errors.length === 0) return 0
  return isUsage(error) ? 2 : 1
}

/** Prints one line for any error. Wrong usage was printed already. */
const printError = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)) return Effect.void
  return Console.error(`belay: ${plain(error instanceof Error ? error.message : String(error))}`)
}

/** Terminal, files and processes of this machine. */
export const platformLayer = Layer.mergeAll(
  NodeTerminal.layer,
  NodeStdio.layer,
  NodeChildProcessSpawner.layer.pipe(Layer.provideMerge(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
)

const outputLayer = ({ colors }: Screen) =>
  Layer.mergeAll(
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    CliOutput.layer(CliOutput.defaultFormatter({ colors })),
    CliOutput.layerPresenter({
      ...CliOutput.defaultPresenter,
      present: (output) =>
        output._tag === "InvalidInvocation"
          ? Console.error(
            `belay: ${
              plain(output.errors.map(({ message }) => message.replaceAll(/\s*\n\s*/g, " ")).join("; "))
            } (see ${output.commandPath.join(" ")} --help)`
          )
          : CliOutput.defaultPresenter.present(output)
    })
  )
