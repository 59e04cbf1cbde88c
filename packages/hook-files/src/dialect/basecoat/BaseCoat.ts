/**
 * Runs the hooks of Base Coat as one hook. They come from `hooks.json`, from `mcp.json` and from code. There are eight
 * events. Every hook reads the same envelope and gives one of four answers.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import type { Warning } from "../../engine/Dialect.ts"
import { filePriority, methodsOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/runEntries.ts"
import * as Runners from "../../runner/Runners.ts"
import { ifBroken } from "../shared/engineSetup.ts"
import * as Config from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import type { EventName, Handler, Kind } from "./events.ts"
import type { Run as RunCode } from "./events.ts"
import * as Run from "./run.ts"
import * as State from "./state.ts"
import * as ToolEffects from "./toolEffects.ts"

export type { Envelope, EventName, Handler, Kind, Response, Run, Tool } from "./events.ts"

/**
 * Reads the text of `hooks.json` or `mcp.json`. An invalid part is skipped, with a warning that names its key. A
 * `hooks.json` whose version is not 1 is skipped as a whole.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const text =
 *   `{ "version": 1, "hooks": { "PreToolUse": [{ "command": "python hooks/pre_tool.py", "priority": 20 }] } }`
 * const { handlers, warnings } = BaseCoat.decode(text, "hooks.json")
 * const hook = BaseCoat.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode: (
  text: string,
  file: string
) => { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } = Config.decode

/** Registers hooks that are functions. @category models @since 0.1.0 */
export interface Runtime {
  readonly hooks: {
    /** Adds a hook and returns a function that removes it. A hook can be added while agents are running. */
    readonly register: (event: EventName, run: RunCode, options?: RegisterOptions) => () => void
  }
  /** The hooks that are registered now, in the order of registration. */
  readonly handlers: () => ReadonlyArray<Handler>
}

/** Options of `BaseCoat.register`. @category models @since 0.1.0 */
export interface RegisterOptions {
  /** The name of the hook in warnings and events. */
  readonly id?: string
  /** Hooks with a lower priority run first. Default 100. */
  readonly priority?: number
  readonly kind?: Kind
  readonly timeoutMs?: number
}

/**
 * Makes a registry to which code can add hooks.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const runtime = BaseCoat.runtime()
 * runtime.hooks.register("SessionStart", async (event) => ({
 *   action: "injectContext",
 *   additionalContext: [`You work on ${event.repository}, branch ${event.branch}.`]
 * }))
 * const hook = BaseCoat.make({ runtime, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const runtime = (): Runtime => {
  let all: ReadonlyArray<Handler> = []
  let count = 0
  return {
    hooks: {
      register: (event, run, { id, kind, priority = 100, timeoutMs } = {}) => {
        const handler: Handler = {
          event,
          file: "",
          key: id ?? `${event}#${++count}`,
          priority,
          work: { type: "code", run },
          ...(kind === undefined ? {} : { kind }),
          ...(timeoutMs === undefined ? {} : { timeoutMs })
        }
        all = [...all, handler]
        return () => void (all = all.filter((one) => one !== handler))
      }
    },
    handlers: () => all
  }
}

/** Options of the hook that runs files of Base Coat. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `decode` returned, in the order of the files. */
  readonly handlers?: ReadonlyArray<Handler>
  /** The registry of hooks that are functions. If priorities are equal, they run after the hooks of files. */
  readonly runtime?: Runtime
  /** The folder of the project. The repository and the branch are read from it if the session has no folder. */
  readonly projectDir: string
  /** The runners of commands and tools. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /** The time limit of a hook that sets no timeout, in milliseconds. Default 3,000. */
  readonly timeoutMs?: number
  /**
   * The token limit in the budget until the agent reports the size of its context window. Default 0, which means
   * unknown.
   */
  readonly effectiveLimit?: number
  /**
   * If the same failure happens again within this time, in milliseconds, its advice is not repeated. Default 60,000.
   */
  readonly quietMs?: number
  /**
   * Whether a tool call continues or is blocked if a hook fails or times out. Hooks of kind `advisory` and `telemetry`
   * never block. Default `continue`, as in Base Coat.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that background work of hooks may continue after the end of the session. Default 5,000. */
  readonly drainMs?: number
  /**
   * Returns a reason if a hook may not run now, for example because its file is not trusted. A tool call that the hook
   * could have blocked then needs the approval of a person. At any other event the hook counts as failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  handlers: "list",
  runtime: "any",
  projectDir: "text",
  runners: "any",
  timeoutMs: "number",
  effectiveLimit: "number",
  quietMs: "number",
  onBroken: "text",
  drainMs: "number",
  refuse: "function"
}

/**
 * Makes one hook that runs Base Coat hooks. They run one after another, in the order of their priority. Each hook reads
 * the changes of the hooks before it, and the contexts of all hooks are added. After the first hook that blocks, only
 * telemetry hooks run; they always run, and they run last. A hook that fails counts as `passThrough`, with the warning
 * `Hook failed: …`. Throws a `ConfigError` if a number is invalid.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const runtime = BaseCoat.runtime()
 * runtime.hooks.register(
 *   "OnBudgetExceeded",
 *   () => ({ action: "block", reason: "rotate the session before continuing" }),
 *   { kind: "policy" }
 * )
 * const hook = BaseCoat.make({ runtime, projectDir: "/srv/app", timeoutMs: 1_000 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("basecoat", options, optionKinds, ["projectDir"])
  const { effectiveLimit = 0, name = "base-coat", projectDir, quietMs = 60_000, timeoutMs = 3_000 } = options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("timeoutMs", timeoutMs, 1),
      whole("quietMs", quietMs),
      whole("effectiveLimit", effectiveLimit),
      whole("drainMs", options.drainMs),
      ifBroken(options.onBroken)
    )
  )
  const engine = Engine.make(Dialect.make(timeoutMs), {
    name,
    entries: entriesOf(options),
    runners: options.runners ?? Runners.make(),
    refuse: options.refuse,
    blockOnError: options.onBroken === "block",
    drainMs: options.drainMs
  })
  const state = State.make(name, effectiveLimit)
  const events = Run.make({ engine, state, projectDir, quietMs })
  const setup = { name, events, state, end: engine.end }
  return HookDefaults.apply(options, {
    name,
    priority: filePriority,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    observes: ["postLlmCall", "onLlmError"],
    close: () => engine.drained,
    ...methodsOf({ ...Effects.make(setup), ...ToolEffects.make(setup) }, engine.has)
  })
}

/** Returns the hooks of files and the hooks that code has registered so far, sorted by priority. */
const entriesOf = ({ handlers = [], runtime }: Options): () => ReadonlyArray<Handler> => {
  let registered: ReadonlyArray<Handler> | undefined
  let sorted: ReadonlyArray<Handler> = []
  return () => {
    const current = runtime?.handlers() ?? none
    if (current !== registered) {
      registered = current
      sorted = [...handlers, ...current].sort((a, b) => a.priority - b.priority)
    }
    return sorted
  }
}

const none: ReadonlyArray<Handler> = []
