/**
 * Runs the executables of Kodelet as one hook. Each file says which event it is for (`<file> hook`) and reads that event
 * (`<file> run`).
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, whole, within } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import type { Warning } from "../../Dialect.ts"
import { methodsOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/engine.ts"
import * as Runners from "../../Runners.ts"
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
export type { Recipe, RecipeInput } from "./recipes.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `find` found, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder in which executables are asked what they are for. They run in the session's folder. */
  readonly projectDir: string
  /** Runs them. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /**
   * What tools are called for executables. Default: as they are, but a shell of any name is `bash` with its `command`.
   */
  readonly toolNames?: ToolNames
  /** What callbacks may run. `compact` is there without being named: the agent's model writes a summary. */
  readonly recipes?: { readonly [name: string]: Recipe }
  /**
   * Runs the recipe `compact` after a step when so much of the window is used, from 0 to 1; 0 never does. Default: not
   * at all.
   */
  readonly autoCompact?: number
  /** Milliseconds that one run may take. Default 30,000. */
  readonly timeoutMs?: number
  /**
   * What one that broke, took too long, or could not say what it is for, means for a prompt or a tool call. Default
   * `continue`, as Kodelet does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why an executable may not run now, where it may not: a tool call that it could have blocked is then asked
   * about, and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Lists the executables of folders, and runs nothing: regular files with an execute bit, by name, without those that
 * end with `.disable`.
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
export const find = (
  folders: ReadonlyArray<Folder>
): { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } => {
  const { found, warnings } = executables(folders)
  return { handlers: found, warnings }
}

/**
 * Makes a hook of executables. Each is asked once what it is for, when the hook first runs. They run one after the
 * other: of those before a tool call or a message the first that blocks decides and the
 * others do not run; the next one reads the new input or output. An executable that breaks is a warning. Throws a
 * `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as Kodelet from "@belay/hook-files/Kodelet"
 *
 * const { handlers } = Kodelet.find([{ path: "/srv/ada/.kodelet/hooks", ofProject: false }])
 * const hook = Kodelet.make({
 *   handlers,
 *   projectDir: "/srv/app",
 *   recipes: { handoff: "Write a handoff for {{.reader}}.", last: ({ messages }) => `${messages.length} messages so far` }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { autoCompact, handlers, name = "kodelet", projectDir, recipes = {}, timeoutMs = 30_000, toolNames = {} } =
    options
  Result.getOrThrow(
    checkOptions(
      name,
      within("autoCompact", autoCompact, 0, 1),
      whole("timeoutMs", timeoutMs, 1),
      whole("drainMs", options.drainMs)
    )
  )
  const { drainMs, refuse, runners = Runners.make() } = options
  const blockOnError = options.onBroken === "block"
  const turns = Turns.make(name)
  const engine = Engine.make(Dialect.make({ name, timeoutMs, recipeOf: turns.recipe }), {
    name,
    // Which executable is for which event is known when they have been asked.
    entries: () => [],
    runners,
    refuse,
    blockOnError,
    drainMs
  })
  const entries = TypedEntries.make({ handlers, projectDir, runners, refuse, isOff: turns.isOff })
  const usage = Usage.make(name)
  const setup = { name, engine, entries, turns, usage, toolNames, recipes, autoCompact, blockOnError }
  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    close: () => engine.drained,
    ...methodsOf(Effects.make(setup), engine.has)
  })
}
