/**
 * Runs the executables of Kodelet as one hook. `<file> hook` prints the event that the executable is for. `<file> run`
 * runs it, and it reads the event from standard input.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { checkOptions, whole, within } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import type { Warning } from "../../engine/Dialect.ts"
import { changingPriority, hookOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/runEntries.ts"
import * as Runners from "../../runner/Runners.ts"
import { ifBroken } from "../shared/engineSetup.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import { executables, type Folder, type Handler } from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import type { Recipe } from "./recipes.ts"
import * as Turns from "./turns.ts"
import * as TypedEntries from "./typedEntries.ts"
import * as Usage from "./usage.ts"

export type { Folder, Handler } from "./config.ts"
export { folders } from "./config.ts"
export { type Recipe, recipeFiles, type RecipeInput } from "./recipes.ts"

/** Options of the hook that runs executables of Kodelet. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `find` returned, in the order of their precedence. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder in which `<file> hook` runs. `<file> run` runs in the folder of the session. */
  readonly projectDir: string
  /** The runners of the executables. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /**
   * The names of tools in the input of executables. Default: names stay the same, but every shell tool is `bash` with a
   * field `command`.
   */
  readonly toolNames?: ToolNames
  /**
   * The recipes that callbacks can run. The recipe `compact` always exists: with it the agent's model writes a summary.
   */
  readonly recipes?: { readonly [name: string]: Recipe }
  /**
   * The share of the context window, from 0 to 1, at which the recipe `compact` runs after a step. With 0 it never
   * runs. Default: it never runs.
   */
  readonly autoCompact?: number
  /** The time limit of one run, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  /**
   * Whether a prompt or a tool call continues or is blocked if an executable fails, times out, or cannot report its
   * event. Default `continue`, as in Kodelet.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that background work of hooks may continue after the end of the session. Default 5,000. */
  readonly drainMs?: number
  /**
   * Returns a reason if an executable may not run now, for example because it is not trusted. A tool call that it could
   * have blocked then needs the approval of a person. At any other event it counts as failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Lists the executables of folders. It runs nothing. Executables are regular files with an execute bit whose names do
 * not end with `.disable`. They are sorted by name.
 *
 * @example
 * ```ts
 * import * as Kodelet from "@belay/hook-files/Kodelet"
 *
 * const { handlers } = Kodelet.find(Kodelet.folders({ cwd: "/srv/app", home: "/srv/ada" }))
 * const hook = Kodelet.make({ handlers, projectDir: "/srv/app", autoCompact: 0.8 })
 * ```
 * @category reading
 * @since 0.1.0
 */
export const find = checked("Kodelet.find", ["folders"], (
  folders: ReadonlyArray<Folder>
): { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } => {
  const { found, warnings } = executables(folders)
  return { handlers: found, warnings }
})

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  handlers: "list",
  projectDir: "text",
  runners: "any",
  toolNames: "any",
  recipes: "object",
  autoCompact: "number",
  timeoutMs: "number",
  onBroken: "text",
  drainMs: "number",
  refuse: "function"
}

/**
 * Makes one hook that runs executables. `<file> hook` runs once for each executable, when the hook first runs, to find
 * out its event. The executables of an event run one after another, and each reads the changed input or output of those
 * before it. After the first executable that blocks a tool call or a message, the others do not run. An executable that
 * fails is a warning. Throws a `ConfigError` if a number is invalid.
 *
 * @example
 * ```ts
 * import * as Kodelet from "@belay/hook-files/Kodelet"
 *
 * const { handlers } = Kodelet.find([{ path: "/srv/ada/.kodelet/hooks", ofProject: false }])
 * const hook = Kodelet.make({
 *   handlers,
 *   projectDir: "/srv/app",
 *   recipes: {
 *     handoff: "Write a handoff for {{.reader}}.",
 *     last: ({ messages }) => `${messages.length} messages so far`
 *   }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("kodelet", options, optionKinds, ["handlers", "projectDir"])
  const { autoCompact, handlers, name = "kodelet", projectDir, recipes = {}, timeoutMs = 30_000, toolNames = {} } =
    options
  Result.getOrThrow(
    checkOptions(
      name,
      within("autoCompact", autoCompact, 0, 1),
      whole("timeoutMs", timeoutMs, 1),
      whole("drainMs", options.drainMs),
      ifBroken(options.onBroken)
    )
  )
  const { drainMs, refuse, runners = Runners.make() } = options
  const blockOnError = options.onBroken === "block"
  const turns = Turns.make(name)
  const engine = Engine.make(Dialect.make({ name, timeoutMs, recipeOf: turns.recipe }), {
    name,
    // The events of the executables are not known yet, so the entries are passed to `engine.run` later.
    entries: () => [],
    runners,
    refuse,
    blockOnError,
    drainMs
  })
  const entries = TypedEntries.make({ handlers, projectDir, runners, refuse, isOff: turns.isOff })
  const usage = Usage.make(name)
  const setup = { name, engine, entries, turns, usage, toolNames, recipes, autoCompact, blockOnError }
  return hookOf(name, options, engine, Effects.make(setup), { priority: changingPriority })
}
