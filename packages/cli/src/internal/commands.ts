/** The commands and their flags. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Dialect } from "@belay/hooks/Discovery"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as readAll } from "node:stream/consumers"
import * as Doctor from "./doctor.ts"
import * as Explain from "./explain.ts"
import { named, names, systems } from "./guide/systems.ts"
import * as List from "./list.ts"
import { nearest } from "./nearest.ts"
import { plain, type Screen } from "./screen.ts"
import { isBlocked } from "./trial/decide.ts"
import { type Facts, fieldOf, isAboutTool, textOf } from "./trial/occasions.ts"
import * as Show from "./trial/show.ts"
import * as Trial from "./trial/trial.ts"
import * as Trust from "./trust.ts"
import { Usage } from "./usage.ts"
import { look, type Where, whereOf, type World } from "./world.ts"

const dialects = systems.map(({ dialect }) => dialect)

const shared = {
  cwd: Flag.String("cwd").pipe(Flag.withDescription("The folder of the project. Default: this one"), Flag.optional),
  home: Flag.String("home").pipe(Flag.withDescription("The user's home folder"), Flag.optional),
  managed: Flag.String("managed").pipe(Flag.withDescription("The folder of settings that count for everybody on this machine"), Flag.optional),
  source: Flag.Literals("source", dialects as ReadonlyArray<Dialect>).pipe(
    Flag.withDescription("Only files of this system; may be said again"),
    Flag.atLeast(0)
  ),
  file: Flag.String("file").pipe(Flag.withDescription("Only this file; may be said again. --source says whose form it has"), Flag.atLeast(0)),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Write JSON"), Flag.withoutNegation, Flag.withDefault(false)),
  noHooks: Flag.Boolean("no-hooks").pipe(Flag.withDescription("Load nothing"), Flag.withoutNegation, Flag.withDefault(false))
}

const hooks = Command.make("hooks").pipe(
  Command.withSharedFlags(shared),
  Command.withDescription("Lists hook files, finds what is wrong with them, and tries them")
)

const given = Effect.map(hooks, (flags): { readonly where: Where; readonly json: boolean } => ({
  json: flags.json,
  where: whereOf({
    ...said("cwd", flags.cwd),
    ...said("home", flags.home),
    ...said("managed", flags.managed),
    dialects: flags.source,
    files: flags.file,
    off: flags.noHooks
  })
}))

const said = <K extends string>(key: K, value: Option.Option<string>): { readonly [P in K]?: string } =>
  Option.isSome(value) ? { [key]: value.value } as { readonly [P in K]: string } : {}

/** What the process ends with. */
const ended = (code: 0 | 1): Effect.Effect<void> => Effect.sync(() => void (process.exitCode = code))

const print = (isJson: boolean, json: () => unknown, text: () => string): Effect.Effect<void> =>
  Console.log(isJson ? JSON.stringify(json(), null, 2) : text())

const list = (screen: Screen) =>
  Command.make("list", {}, () =>
    Effect.gen(function*() {
      const { json, where } = yield* given
      const world = look(where)
      yield* print(json, () => List.json(world), () => List.text(world, screen))
      yield* ended(world.problem === undefined ? 0 : 1)
    })).pipe(Command.withDescription("Shows every file with hooks, its entries, and what each may do"))

const doctor = (screen: Screen) =>
  Command.make("doctor", {}, () =>
    Effect.gen(function*() {
      const { json, where } = yield* given
      const world = look(where)
      const found = Doctor.findings(world, screen.path)
      yield* print(json, () => Doctor.json(world, found), () => Doctor.text(world, found, screen))
      yield* ended(Doctor.hasErrors(found) ? 1 : 0)
    })).pipe(Command.withDescription("Finds what is wrong with hook files and the scripts they start. Ends with 1 when there are errors"))

const optional = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)
const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

const test = (screen: Screen) =>
  Command.make("test", {
    event: Argument.String("event").pipe(Argument.withDescription("An event of any system: PreToolUse, BeforeTool, before_tool_call, …")),
    tool: optional("tool", "The tool that is called, such as Bash"),
    input: optional("input", "What it is called with, as JSON; @file reads a file, - standard input"),
    output: optional("output", "What it gave back"),
    error: optional("error", "Why it failed"),
    prompt: optional("prompt", "What the user said"),
    payload: optional("payload", "Fields of the event as scripts know them, as JSON; @file or -"),
    timeout: Flag.Finite("timeout").pipe(Flag.withDescription("Seconds that each entry has at most"), Flag.optional),
    trustOnce: toggle("trust-once", "Run what the project has, this once")
  }, ({ event, timeout, trustOnce, ...flags }) =>
    Effect.gen(function*() {
      const { json, where } = yield* given
      if (Option.isSome(timeout) && !(timeout.value > 0)) return yield* wrong("--timeout is a number of seconds above 0")
      const facts = yield* factsOf(event, flags)
      const trial = yield* Effect.acquireUseRelease(
        Effect.sync(() => trustOnce ? mkdtempSync(join(tmpdir(), "belay-trust-")) : undefined),
        (trust) => {
          const options = { where, facts, ...(Option.isSome(timeout) ? { timeout: timeout.value } : {}) }
          return Trial.run(trust === undefined ? options : { ...options, trust })
        },
        (trust) => Effect.sync(() => trust === undefined ? undefined : rmSync(trust, { recursive: true, force: true }))
      )
      yield* print(json, () => trial, () => Show.text(trial, where, screen))
      yield* ended(isBlocked(trial) ? 1 : 0)
    })).pipe(
      Command.withDescription(
        "Hands one event to the hooks that are loaded, and shows what each entry does. Entries run for real. Ends with 1 when it is blocked"
      )
    )

const explain = (screen: Screen) =>
  Command.make("explain", {
    event: Argument.String("event").pipe(Argument.withDescription("An event of any system. Default: all, a line each"), Argument.optional)
  }, ({ event }) =>
    Effect.gen(function*() {
      const { json, where: { dialects: wanted } } = yield* given
      if (Option.isNone(event)) {
        const all = systems.filter(({ dialect }) => wanted.length === 0 || wanted.includes(dialect)).flatMap(({ events }) => events)
        return yield* print(json, () => Explain.json(all), () => Explain.index(wanted, screen))
      }
      const events = Explain.found(event.value, wanted)
      if (events.length === 0) return yield* unknown(event.value)
      yield* print(json, () => Explain.json(events), () => Explain.text(events, screen))
    })).pipe(Command.withDescription("Says what an event is in every system: what scripts are told, what they may answer, and an example"))

const unknown = (event: string): Usage => {
  const near = nearest(event, names)
  return wrong(`there is no event ${plain(event)}${near === undefined ? "; belay hooks explain lists them" : `; did you mean ${near}?`}`)
}

const wrong = (message: string): Usage => new Usage({ message })

const factsOf = (
  event: string,
  flags: { readonly [K in "tool" | "input" | "output" | "error" | "prompt" | "payload"]: Option.Option<string> }
): Effect.Effect<Facts, Usage> =>
  Effect.gen(function*() {
    const found = named(event)[0]
    if (found === undefined) return yield* unknown(event)
    const { occasion } = found
    const payload = Option.isSome(flags.payload) ? yield* jsonOf("--payload", flags.payload.value) : {}
    if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return yield* wrong("--payload: expected a JSON object")
    const fields = payload as JsonObject
    const tool = Option.getOrUndefined(flags.tool) ?? textOf(fields, "tool_name", "toolName")
    if (tool === undefined && isAboutTool(occasion)) {
      return yield* wrong(`${found.name} is about a tool: say which, such as --tool Bash --input '{"command":"ls"}'`)
    }
    const input = Option.isSome(flags.input) ? yield* jsonOf("--input", flags.input.value) : fieldOf(fields, "tool_input", "toolArgs") ?? {}
    const output = Option.isSome(flags.output) ? looseOf(flags.output.value) : fieldOf(fields, "tool_response", "tool_output", "toolResult")
    const error = Option.getOrUndefined(flags.error) ?? textOf(fields, "error")
    const prompt = Option.getOrUndefined(flags.prompt) ?? textOf(fields, "prompt", "message")
    return {
      event: found.name,
      occasion: occasion === "tool-result" && Option.isSome(flags.error) ? "tool-failure" : occasion,
      input,
      payload: fields,
      ...(tool === undefined ? {} : { tool }),
      ...(output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error }),
      ...(prompt === undefined ? {} : { prompt })
    }
  })

/** JSON as it stands, of a file (`@file`), or of standard input (`-`). */
const jsonOf = (flag: string, value: string): Effect.Effect<Json, Usage> =>
  Effect.gen(function*() {
    const text = value === "-"
      ? yield* Effect.promise(() => readAll(process.stdin))
      : value.startsWith("@")
      ? yield* Effect.try({ try: () => readFileSync(value.slice(1), "utf8"), catch: () => wrong(`${flag}: ${plain(value.slice(1))} cannot be read`) })
      : value
    return yield* Effect.try({
      try: (): Json => JSON.parse(text.replace(/^\uFEFF/, "")),
      catch: (error) => wrong(`${flag}: expected JSON: ${error instanceof Error ? error.message : String(error)}`)
    })
  })

const looseOf = (text: string): Json => Result.getOrElse(Result.try((): Json => JSON.parse(text)), () => text)

const project = Argument.String("project").pipe(Argument.withDescription("The folder of the project. Default: --cwd"), Argument.optional)

const worldOf = (where: Where, folder: Option.Option<string>): Effect.Effect<World, Usage> => {
  const world = look(Option.isSome(folder) ? whereOf({ ...where, cwd: folder.value }) : where)
  return world.problem === undefined ? Effect.succeed(world) : Effect.fail(wrong(world.problem))
}

const trust = (screen: Screen) =>
  Command.make("trust", { project, yes: toggle("yes", "Do not ask") }, (flags) =>
    Effect.gen(function*() {
      const { json, where } = yield* given
      const world = yield* worldOf(where, flags.project)
      const [waiting] = world.untrusted
      if (waiting === undefined) {
        const own = world.files.some(({ items, source }) => source.ofProject && items.length > 0)
        const told = own ? `${world.where.cwd} is trusted as it is.` : `${world.where.cwd} has no hooks of its own.`
        return yield* print(json, () => Trust.json(world, own), () => plain(told))
      }
      if (!json) yield* Console.log(Trust.text(world, screen))
      const sure = flags.yes || (screen.interactive && !json &&
        (yield* Prompt.run(Prompt.Confirm({ message: "Trust exactly this? Any change asks again." })).pipe(
          Effect.catchTag("QuitError", () => Effect.succeed(false))
        )))
      if (sure) waiting.trust()
      yield* print(
        json,
        () => Trust.json(world, sure),
        () => sure ? "\nTrusted. Any change of these files asks again." : screen.interactive ? "\nNot trusted." : "\nNot trusted: nobody can be asked here. Look at it, then say --yes."
      )
      yield* ended(sure ? 0 : 1)
    })).pipe(Command.withDescription("Shows what a project's own hooks would run, and lets them after a yes"))

const untrust = Command.make("untrust", { project }, (flags) =>
  Effect.gen(function*() {
    const { json, where } = yield* given
    const world = yield* worldOf(where, flags.project)
    const was = Trust.untrust(world)
    const { cwd } = world.where
    yield* print(json, () => ({ project: cwd, was: was ? "trusted" : "not trusted", trusted: false }), () =>
      plain(was ? `${cwd} is not trusted any more.` : `Nobody had trusted ${cwd}.`))
  })).pipe(Command.withDescription("Takes back what was decided about a project"))

export const belay = (screen: Screen) =>
  Command.make("belay").pipe(
    Command.withDescription("The command line of Belay"),
    Command.withSubcommands([hooks.pipe(Command.withSubcommands([list(screen), doctor(screen), test(screen), trust(screen), untrust, explain(screen)]))])
  )
