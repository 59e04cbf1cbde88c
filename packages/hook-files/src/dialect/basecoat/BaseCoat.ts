/**
 * Hooks of Base Coat as one hook, from `hooks.json`, from `mcp.json` and from code: eight events, one envelope, four
 * answers.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import type { Warning } from "../../Dialect.ts"
import { methodsOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/engine.ts"
import * as Runners from "../../Runners.ts"
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
 * Reads the text of `hooks.json` or `mcp.json`. What is malformed is a warning that names the key, and the rest counts;
 * a `hooks.json` of another version than 1 does not count at all.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const text = `{ "version": 1, "hooks": { "PreToolUse": [{ "command": "python hooks/pre_tool.py", "priority": 20 }] } }`
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

/** Hooks of code. @category models @since 0.1.0 */
export interface Runtime {
  readonly hooks: {
    /** Adds a hook, also while agents are at work, and gives back what takes it away again. */
    readonly register: (event: EventName, run: RunCode, options?: RegisterOptions) => () => void
  }
  /** Those that are registered now, in the order of their registration. */
  readonly handlers: () => ReadonlyArray<Handler>
}

/** @category models @since 0.1.0 */
export interface RegisterOptions {
  /** Names the hook in warnings and events. */
  readonly id?: string
  /** Lower runs first. Default 100. */
  readonly priority?: number
  readonly kind?: Kind
  readonly timeoutMs?: number
}

/**
 * Makes a place where code registers hooks.
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

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order of the files. */
  readonly handlers?: ReadonlyArray<Handler>
  /** Hooks of code, which come after those of files where priorities are equal. */
  readonly runtime?: Runtime
  /**
   * The folder of the project, in which repository and branch are looked up where the session has no folder of its own.
   */
  readonly projectDir: string
  /** Runs commands and tools. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /** Milliseconds that one hook may take, unless it says otherwise. Default 3,000. */
  readonly timeoutMs?: number
  /** Tokens that count as all, until the agent says how many its window has. */
  readonly effectiveLimit?: number
  /** Milliseconds in which the advice about the same failure is given only once. Default 60,000. */
  readonly quietMs?: number
  /**
   * What a hook that broke, or took too long, means for a tool call. Those of kind `advisory` and `telemetry` never
   * block. Default `continue`, as Base Coat does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why a command or a tool may not run now, where it may not: a tool call that it could have blocked is then
   * asked about, and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Makes a hook of Base Coat hooks. They run by priority, one after the other: the next hook reads what the one before
 * modified, context adds up, and the first that blocks ends the chain. Telemetry always runs, last. A hook that breaks
 * passes through with the warning `Hook failed: …`. Throws a `ConfigError` for an invalid number.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const runtime = BaseCoat.runtime()
 * runtime.hooks.register("OnBudgetExceeded", () => ({ action: "block", reason: "rotate the session before continuing" }), { kind: "policy" })
 * const hook = BaseCoat.make({ runtime, projectDir: "/srv/app", timeoutMs: 1_000 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { effectiveLimit = 0, name = "base-coat", projectDir, quietMs = 60_000, timeoutMs = 3_000 } = options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("timeoutMs", timeoutMs, 1),
      whole("quietMs", quietMs),
      whole("effectiveLimit", effectiveLimit),
      whole("drainMs", options.drainMs)
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
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    observes: ["postLlmCall", "onLlmError"],
    close: () => engine.drained,
    ...methodsOf({ ...Effects.make(setup), ...ToolEffects.make(setup) }, engine.has)
  })
}

/** The entries of files and those that code has registered until now, by priority. */
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
