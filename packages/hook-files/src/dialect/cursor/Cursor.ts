/**
 * Runs the hooks of Cursor's `hooks.json` as one hook. Entries read the events of Cursor and answer in its format.
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
import * as Input from "./input.ts"
import * as ToolEffects from "./toolEffects.ts"
import { translated } from "./tools.ts"

/** The name of an event. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. `timeoutMs` is 60,000 unless the file sets a timeout. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** The result of reading a file. @category models @since 0.1.0 */
export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /** Always false: a file of Cursor cannot switch hooks off. */
  readonly disableAllHooks: boolean
}

/** Options of the hook that runs files of Cursor. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `decode` returned. If several of them return one value, the first one counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project. Commands run in it, unless `decode` got another folder. */
  readonly projectDir: string
  /** The runners of the hooks. Default: `Runners.make`. */
  readonly runners?: Runners.Runners
  /**
   * Whether a prompt, a tool call or a sub-agent continues or is blocked if a hook fails or times out. Default
   * `continue`, as in Cursor. An entry with `failClosed` blocks in either case.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that background work of hooks may continue after the end of the session. Default 5,000. */
  readonly drainMs?: number
  /**
   * The names of tools in hook files. Default: common names are recognised (`bash` becomes `Shell`), and other names
   * stay the same.
   */
  readonly toolNames?: ToolNames
  /**
   * The folder for transcripts. Each session gets one file with all of its messages, and `transcript_path` is the path
   * of that file. Default: no transcript is written, and the path is null.
   */
  readonly transcripts?: string
  /**
   * Returns a reason if a hook may not run now, for example because its file is not trusted. A tool call that the hook
   * could have blocked then needs the approval of a person. At any other event the hook counts as failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Reads a `hooks.json` of Cursor. Commands run in `folder`. Comments are allowed. An invalid part is skipped, with a
 * warning that names its key.
 *
 * @example
 * ```ts
 * import * as Cursor from "@belay/hook-files/Cursor"
 *
 * const text =
 *   `{ "version": 1, "hooks": { "beforeShellExecution": [{ "command": ".cursor/hooks/guard.sh", "timeout": 10 }] } }`
 * const { handlers } = Cursor.decode(text, ".cursor/hooks.json")
 * handlers[0]?.timeoutMs // 10000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Cursor.decode",
  ["text", "file", "folder"],
  (text: string, file: string, folder?: string): Decoded => Config.decode(text, file, folder)
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
 * Makes one hook that runs the handlers of hook files. All handlers of an event run at the same time. A handler that
 * answers `deny` or exits with code 2 blocks. Any other failure is a warning, or blocks with `failClosed`. `allow`
 * means that the handler does not object, so the policy still decides. Throws a `ConfigError` if a number is invalid.
 *
 * @example
 * ```ts
 * import * as Cursor from "@belay/hook-files/Cursor"
 *
 * const text = `{ "version": 1, "hooks": { "stop": [{ "command": ".cursor/hooks/verify.sh" }] } }`
 * const { handlers } = Cursor.decode(text, ".cursor/hooks.json")
 * const hook = Cursor.make({ handlers, projectDir: "/srv/app", toolNames: { run: "Shell" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("cursor", options, optionKinds, ["handlers", "projectDir"])
  const { name = "cursor-hooks", projectDir, toolNames = {} } = options
  const variables = Input.variablesKey(name)
  const engine = Engine.make(
    Dialect.make({ projectDir, sessionEnv: (ctx) => ctx.state.get(variables) }),
    {
      ...engineSetup(name, options),
      onFailed: (failed, ctx) => events.note(ctx, Transcript.failed(failed))
    }
  )
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const events = Input.make({ engine, name, transcript })
  const setup: Effects.Setup = {
    name,
    engine,
    events,
    toolNames: translated(toolNames),
    hasTranscript: transcript !== undefined,
    begun: new Map()
  }
  return hookOf(name, options, engine, { ...Effects.make(setup), ...ToolEffects.make(setup) })
}
