/**
 * Runs the hooks of Windsurf's `hooks.json` (Cascade hooks) as one hook.
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
import type * as Runners from "../../runner/Runners.ts"
import { engineSetup } from "../shared/engineSetup.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import * as Config from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import type * as Events from "./events.ts"

/** The name of an event. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** The result of reading a file. @category models @since 0.1.0 */
export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /** Always false: a file of Windsurf cannot switch hooks off. */
  readonly disableAllHooks: boolean
}

/** Options of the hook that runs files of Windsurf. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `decode` returned, in the order in which they run. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project. Commands run in it, or in the `working_directory` of their entry. */
  readonly projectDir: string
  /** The runners of the hooks. Default: `Runners.make`. */
  readonly runners?: Runners.Runners
  /**
   * Whether a prompt or a tool call continues or is blocked if a hook fails or times out. Default `continue`, as in
   * Windsurf.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that background work of hooks may continue after the end of the session. Default 5,000. */
  readonly drainMs?: number
  /** The names of tools, as for `ClaudeCode.make`. They decide which event a call belongs to. */
  readonly toolNames?: ToolNames
  /** The folder for transcripts. Default: no transcript is written, and `transcript_path` is empty. */
  readonly transcripts?: string
  /**
   * Returns a reason if a hook may not run now, for example because its file is not trusted. A tool call that the hook
   * could have blocked then needs the approval of a person. At any other event the hook counts as failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Reads a `hooks.json` of Windsurf. Comments are allowed. An invalid part is skipped, with a warning that names its
 * key.
 *
 * @example
 * ```ts
 * import * as Windsurf from "@belay/hook-files/Windsurf"
 *
 * const text = `{ "hooks": { "pre_run_command": [{ "command": "./guard.sh" }] } }`
 * const { handlers } = Windsurf.decode(text, "hooks.json")
 * handlers[0]?.event // "pre_run_command"
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Windsurf.decode",
  ["text", "file"],
  (text: string, file: string): Decoded => Config.decode(text, file)
)

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  handlers: "list",
  projectDir: "text",
  runners: "any",
  onBroken: "text",
  drainMs: "number",
  toolNames: "any",
  transcripts: "text",
  refuse: "function"
}

/**
 * Makes one hook that runs the handlers of hook files one after another. A `pre_…` handler that exits with code 2
 * blocks, and the model reads its standard error. Every other failure is a warning. Throws a `ConfigError` if a number
 * is invalid.
 *
 * @example
 * ```ts
 * import * as Windsurf from "@belay/hook-files/Windsurf"
 *
 * const text = `{ "hooks": { "post_write_code": [{ "command": "./format.sh" }] } }`
 * const { handlers } = Windsurf.decode(text, "hooks.json")
 * const hook = Windsurf.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("windsurf", options, optionKinds, ["handlers", "projectDir"])
  const { name = "windsurf-hooks", projectDir, toolNames = {} } = options
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const engine = Engine.make(Dialect.make(projectDir), {
    ...engineSetup(name, options),
    onFailed: (failed, ctx) => Effects.note(transcript, ctx, Transcript.failed(failed))
  })
  return hookOf(name, options, engine, Effects.make({ engine, toolNames, transcript }))
}
