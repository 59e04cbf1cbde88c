/** What all commands share: flags, output and exit codes. */
import { nearest } from "@belay/core/NamePattern"
import type { Dialect } from "@belay/hook-files/Discovery"
import type { System } from "@belay/hook-files/Systems"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { guides, names } from "./guides.ts"
import { plain, visible } from "./screen.ts"
import { Usage } from "./usage.ts"
import { whereOf } from "./world.ts"

export const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

const dialects = guides.map(({ dialect }) => dialect)

const shared = {
  cwd: Flag.String("cwd").pipe(Flag.withDescription("The folder of the project. Default: this folder"), Flag.optional),
  home: Flag.String("home").pipe(Flag.withDescription("The user's home folder"), Flag.optional),
  managed: Flag.String("managed").pipe(
    Flag.withDescription("The folder of managed settings"),
    Flag.optional
  ),
  // The names of the systems are dialects.
  source: Flag.Literals("source", dialects as ReadonlyArray<Dialect>).pipe(
    Flag.withDescription("Only files of this system; can be repeated"),
    Flag.atLeast(0)
  ),
  file: Flag.String("file").pipe(
    Flag.withDescription("Only this file; can be repeated. --source says its format"),
    Flag.atLeast(0)
  ),
  plugin: Flag.String("plugin").pipe(
    Flag.withDescription("Only the plugin of Claude Code in this folder; can be repeated, and combined with --source"),
    Flag.atLeast(0)
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Write JSON"), Flag.withoutNegation, Flag.withDefault(false)),
  noHooks: Flag.Boolean("no-hooks").pipe(
    Flag.withDescription("Load nothing"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  )
}

export const hooks = Command.make("hooks").pipe(
  Command.withSharedFlags(shared),
  Command.withDescription("Lists hook files, finds mistakes in them, and tries them")
)

export type Flags = Effect.Success<typeof hooks>

/** Reads the flags that all commands share. */
export const flagsOf = Effect.fnUntraced(function*(flags: Flags) {
  const systems = yield* Systems
  const where = whereOf({
    ...optionOf("cwd", flags.cwd),
    ...optionOf("home", flags.home),
    ...optionOf("managed", flags.managed),
    dialects: flags.source,
    files: flags.file,
    plugins: flags.plugin,
    systems,
    off: flags.noHooks
  })
  yield* folder("--cwd", where.cwd)
  for (const path of where.plugins) yield* folder("--plugin", resolve(where.cwd, path))
  return { json: flags.json, where }
})

export const sharedFlags = Effect.flatMap(hooks, flagsOf)

/** Fails if the folder does not exist. */
export const folder = (name: string, path: string): Effect.Effect<void, Usage> =>
  Result.getOrElse(Result.try(() => statSync(path).isDirectory()), () => false)
    ? Effect.void
    : Effect.fail(usageError(`${name}: there is no folder ${plain(path)}`))

const optionOf = <K extends string>(key: K, value: Option.Option<string>): { readonly [P in K]?: string } =>
  // A computed key has the type string.
  Option.isSome(value) ? { [key]: value.value } as { readonly [P in K]: string } : {}

/** Systems of hooks beside the built-in ones, for programs that run this command line with their own. */
export const Systems = Context.Reference<ReadonlyArray<System>>("@belay/cli/Systems", { defaultValue: () => [] })

/** The exit code of the command that runs. */
export const ExitCode = Context.Reference<{ code: number }>("@belay/cli/ExitCode", {
  defaultValue: () => ({ code: 0 })
})

/** Sets the exit code: 0 for success, 1 for findings or a rejection, 3 if nothing decided. */
export const exitWith = (code: 0 | 1 | 3): Effect.Effect<void> =>
  Effect.map(ExitCode, (exit) => void (exit.code = code))

export const print = (isJson: boolean, json: () => unknown, text: () => string): Effect.Effect<void> =>
  Console.log(isJson ? visible(JSON.stringify(json(), null, 2)) : text())

export const unknown = (event: string): Usage => {
  const near = nearest(event, names)
  return usageError(
    `there is no event ${plain(event)}${
      near === undefined ? "; belay hooks explain lists them" : `; did you mean ${near}?`
    }`
  )
}

export const usageError = (message: string): Usage => new Usage({ message })
