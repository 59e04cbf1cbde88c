/**
 * Runs the hooks of Gemini CLI's settings files as one hook. They read the events of Gemini CLI and answer in its
 * format.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import type { Warning } from "../../engine/Dialect.ts"
import { hookOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/runEntries.ts"
import * as Transcript from "../../engine/Transcript.ts"
import * as Runners from "../../runner/Runners.ts"
import { engineSetup } from "../shared/engineSetup.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import * as Config from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import type * as Events from "./events.ts"
import * as Input from "./input.ts"
import * as Memory from "./memory.ts"
import * as ToolEffects from "./toolEffects.ts"
import * as Tools from "./tools.ts"
import { builtIn } from "./wire.ts"

/** The name of an event. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. `timeoutMs` is 60,000 unless the file sets a timeout. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** The result of reading a file. @category models @since 0.1.0 */
export interface Decoded {
  /** The hooks of the file, without those that the file switches off. */
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /** Whether `hooksConfig.enabled` (or `hooks.enabled`) is false. */
  readonly disableAllHooks: boolean
  /** Names or commands of hooks that this file switches off in all files. Pass them to `make` as `disabled`. */
  readonly disabled: ReadonlyArray<string>
}

/**
 * Maps the tool names of Claude Code to the tool names of Gemini CLI.
 *
 * @category models
 * @since 0.1.0
 */
export const builtInTools: { readonly [tool: string]: string } = builtIn

/** Options of the hook that runs files of Gemini CLI. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `decode` returned, in the order of their precedence. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project. Commands receive it as `GEMINI_PROJECT_DIR`. */
  readonly projectDir: string
  /** Names or commands of hooks that do not run. Default: none. */
  readonly disabled?: ReadonlyArray<string>
  /** The runners of the commands. Default `Runners.make`, with 5 seconds between SIGTERM and SIGKILL. */
  readonly runners?: Runners.Runners
  /**
   * The names of tools in settings files. Default: common names are recognised (`bash` becomes `run_shell_command`),
   * and other names stay the same.
   */
  readonly toolNames?: ToolNames
  /**
   * The folder for transcripts. Each session gets one file with all of its messages, and `transcript_path` is the path
   * of that file. Default: no transcript is written, and the path is empty.
   */
  readonly transcripts?: string
  /**
   * Whether a prompt or a tool call continues or is blocked if a hook fails or times out. Default `continue`, as in
   * Gemini CLI.
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

/**
 * Reads the hooks of a settings file or of an extension. For an extension, `folder` is its folder, and
 * `${extensionPath}` in commands is replaced by it. Comments are allowed. An invalid part is skipped, with a warning
 * that names its key.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text =
 *   `{ "hooks": { "BeforeTool": [
 *     { "matcher": "write_.*", "hooks": [{ "type": "command", "command": "./scan.sh" }] }
 *   ] } }`
 * const { handlers } = Gemini.decode(text, ".gemini/settings.json")
 * handlers[0]?.timeoutMs // 60000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Gemini.decode",
  ["text", "file", "folder"],
  (text: string, file: string, folder?: string): Decoded => Config.decode(text, file, folder)
)

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  handlers: "list",
  projectDir: "text",
  disabled: "textList",
  runners: "any",
  toolNames: "any",
  transcripts: "text",
  onBroken: "text",
  drainMs: "number",
  refuse: "function"
}

/**
 * Makes one hook that runs the hooks of settings files. All hooks that match an event run at the same time, or one
 * after another if a group of the event sets `sequential`. One hook that denies is enough to deny. A hook that fails is
 * a warning. Throws a `ConfigError` if a number is invalid.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text =
 *   `{ "hooks": { "AfterAgent": [
 *     { "hooks": [{ "type": "command", "command": "./validate.py", "timeout": 30000 }] }
 *   ] } }`
 * const { disabled, handlers } = Gemini.decode(text, ".gemini/settings.json")
 * const hook = Gemini.make({ handlers, disabled, projectDir: "/srv/app", toolNames: { run: "run_shell_command" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("gemini-hooks", options, optionKinds, ["handlers", "projectDir"])
  const { disabled = [], name = "gemini-hooks", projectDir, toolNames = {} } = options
  const handlers = options.handlers.filter((handler) => !Config.isDisabled(handler, disabled))
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const engine = Engine.make(Dialect.make(projectDir), {
    ...engineSetup(name, { ...options, handlers }, () => Runners.make({ graceMs: 5_000 })),
    onFailed: (failed, ctx) => Effects.note({ transcript }, ctx, Transcript.failed(failed))
  })
  const setup: Effects.Setup = {
    name,
    engine,
    fire: Input.make(engine, transcript),
    tools: Tools.make(toolNames),
    memory: Memory.make(),
    transcript
  }
  // No part of a model's answer is streamed before the hooks have checked the whole answer.
  const hold = engine.has("AfterModel") ? { hold: "untilPass" as const } : {}
  return hookOf(name, options, engine, { ...Effects.make(setup), ...ToolEffects.make(setup) }, hold)
}
