/**
 * Runs the hooks of Gemini CLI's settings files as one hook: they read events in the form of Gemini CLI, and their
 * answers take effect.
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
import * as Transcript from "../../Transcript.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import * as Config from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import type * as Events from "./events.ts"
import * as Input from "./input.ts"
import * as Memory from "./memory.ts"
import * as ToolEffects from "./toolEffects.ts"
import * as Tools from "./tools.ts"

/** The name of an event. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. `timeoutMs` is 60,000 unless the file says otherwise. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** What a file says. @category models @since 0.1.0 */
export interface Decoded {
  /** Without those that the file itself switches off. */
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /** `hooksConfig.enabled` (or `hooks.enabled`) is false. */
  readonly disableAllHooks: boolean
  /** Names or commands of hooks that are switched off, of whatever file: for `disabled` of `make`. */
  readonly disabled: ReadonlyArray<string>
}

/**
 * What Gemini CLI calls the tools that Claude Code has too, by the names that these have there.
 *
 * @category models
 * @since 0.1.0
 */
export const builtInTools: { readonly [tool: string]: string } = Tools.builtIn

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** `GEMINI_PROJECT_DIR`: the folder of the project. */
  readonly projectDir: string
  /** Names or commands of hooks that do not run. Default: none. */
  readonly disabled?: ReadonlyArray<string>
  /** What runs the commands. Default `Runners.make`, with 5 seconds between asking a command to end and ending it. */
  readonly runners?: Runners.Runners
  /**
   * What tools are called in settings files. Default: common names are recognised (`bash` is `run_shell_command`),
   * others stay.
   */
  readonly toolNames?: ToolNames
  /**
   * A folder for `transcript_path`: a file a session, which holds everything that is said. Default: none is written,
   * and the path is empty.
   */
  readonly transcripts?: string
  /**
   * What a hook that broke, or took too long, means for a prompt or a tool call. Default `continue`, as Gemini CLI
   * does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why a hook may not run now, where it may not: a tool call that it could have blocked is then asked about, and
   * elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Reads the hooks of a settings file, or of an extension, whose folder is then what `${extensionPath}` stands for.
 * Comments are allowed. What is malformed becomes a warning that
 * names the key, and the rest counts.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text = `{ "hooks": { "BeforeTool": [{ "matcher": "write_.*", "hooks": [{ "type": "command", "command": "./scan.sh" }] }] } }`
 * const { handlers } = Gemini.decode(text, ".gemini/settings.json")
 * handlers[0]?.timeoutMs // 60000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string, folder?: string): Decoded => Config.decode(text, file, folder)

/**
 * Makes a hook of hooks. All that fit an event run at once, or one after another where a group of the event says
 * `sequential`; any that denies denies. One that breaks is a warning.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text = `{ "hooks": { "AfterAgent": [{ "hooks": [{ "type": "command", "command": "./validate.py", "timeout": 30000 }] }] } }`
 * const { disabled, handlers } = Gemini.decode(text, ".gemini/settings.json")
 * const hook = Gemini.make({ handlers, disabled, projectDir: "/srv/app", toolNames: { run: "run_shell_command" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { disabled = [], name = "gemini-hooks", projectDir, toolNames = {} } = options
  Result.getOrThrow(checkOptions(name, whole("drainMs", options.drainMs)))
  const handlers = options.handlers.filter((handler) => !Config.isDisabled(handler, disabled))
  const engine = Engine.make(Dialect.make(projectDir), {
    name,
    entries: () => handlers,
    runners: options.runners ?? Runners.make({ graceMs: 5_000 }),
    refuse: options.refuse,
    blockOnError: options.onBroken === "block",
    drainMs: options.drainMs
  })
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const setup: Effects.Setup = {
    name,
    engine,
    fire: Input.make(engine, transcript),
    tools: Tools.make(toolNames),
    memory: Memory.make(),
    transcript
  }
  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    // Nobody sees a part of an answer before the hooks have seen the whole.
    ...(engine.has("AfterModel") ? { hold: "untilPass" as const } : {}),
    close: () => engine.drained,
    ...methodsOf({ ...Effects.make(setup), ...ToolEffects.make(setup) }, engine.has)
  })
}
