/**
 * Runs the hook files of GitHub Copilot as one hook. Entries read the events of Copilot and answer in its format.
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
import * as ToolEffects from "./toolEffects.ts"
import * as Tools from "./tools.ts"

/** The name of an event in camel case. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. `timeoutMs` is 30,000 unless the file sets a timeout. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** The result of reading a file. @category models @since 0.1.0 */
export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /**
   * Whether the file switches hooks off. A file of a hooks folder switches off only its own hooks. A settings file of a
   * repository switches off all hooks except those of administrators.
   */
  readonly disableAllHooks: boolean
}

/** Options of the hook that runs files of GitHub Copilot. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** The handlers that `decode` returned, in the order of their precedence. */
  readonly handlers: ReadonlyArray<Handler>
  /**
   * The folder of the project. Commands run in it, or in the `cwd` of their entry, which is relative to this folder.
   */
  readonly projectDir: string
  /** The runners of the hooks. At most 10 MiB of output are kept. Default: `Runners.make`. */
  readonly runners?: Runners.Runners
  /**
   * Names of variables of the host that commands of the default runners inherit and that `env` of a file may refer to.
   * Default: none.
   */
  readonly passEnv?: ReadonlyArray<string>
  /** The value of `HOME` for commands and in `env` of a file. Default: the value of the host. */
  readonly home?: string
  /**
   * Whether a prompt, a tool call or a permission request continues or is blocked if a hook fails or times out. Default
   * `continue`, as in Copilot. Failures that deny in Copilot deny in either case.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that background work of hooks may continue after the end of the session. Default 5,000. */
  readonly drainMs?: number
  /**
   * Whether `allow` at `permissionRequest` is used even if a project has entries at that event. Default false, because
   * a project may restrict permissions but may not grant them.
   */
  readonly projectAllows?: boolean
  /**
   * The names of tools in hook files. Default: common names are recognised (`write_file` becomes `create` or `Write`),
   * and other names stay the same.
   */
  readonly toolNames?: ToolNames
  /**
   * The folder for transcripts. Each session gets one file with all of its messages, and `transcriptPath` is the path
   * of that file. Default: no transcript is written, and the path is empty.
   */
  readonly transcripts?: string
  /**
   * Returns a reason if a hook may not run now, for example because its file is not trusted. A tool call that the hook
   * could have blocked then needs the approval of a person. At any other event the hook counts as failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/** The maximum number of times in a row that hooks can make an agent continue. @category limits @since 0.1.0 */
export const maxBlocks: number = Effects.maxBlocks

/** The maximum number of characters that all hooks together can add to a result. @category limits @since 0.1.0 */
export const maxContext: number = ToolEffects.maxContext

/**
 * Reads a hook file, or the hooks of a settings file. Comments are allowed. An invalid part is skipped, with a warning
 * that names its key.
 *
 * @example
 * ```ts
 * import * as Copilot from "@belay/hook-files/Copilot"
 *
 * const text =
 *   `{ "version": 1, "hooks": { "preToolUse": [{ "matcher": "bash|edit", "bash": "./guard.sh", "timeoutSec": 10 }] } }`
 * const { handlers } = Copilot.decode(text, ".github/hooks/guard.json")
 * handlers[0]?.timeoutMs // 10000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Copilot.decode",
  ["text", "file"],
  (text: string, file: string): Decoded => Config.decode(text, file)
)

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  handlers: "list",
  projectDir: "text",
  runners: "any",
  passEnv: "textList",
  home: "text",
  onBroken: "text",
  drainMs: "number",
  projectAllows: "flag",
  toolNames: "any",
  transcripts: "text",
  refuse: "function"
}

/**
 * Makes one hook that runs the handlers of hook files one after another. A `preToolUse` command that exits with a code
 * other than 0 denies the call, except if it timed out. Every other failure is a warning. Throws a `ConfigError` if a
 * number is invalid.
 *
 * @example
 * ```ts
 * import * as Copilot from "@belay/hook-files/Copilot"
 *
 * const text = `{ "version": 1, "hooks": { "agentStop": [{ "bash": "./scripts/verify.sh" }] } }`
 * const { handlers } = Copilot.decode(text, ".github/hooks/verify.json")
 * const hook = Copilot.make({ handlers, projectDir: "/srv/app", toolNames: { run: "bash" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("copilot", options, optionKinds, ["handlers", "projectDir"])
  const { handlers, home, name = "copilot-hooks", passEnv = [], projectDir, toolNames = {} } = options
  const engine = Engine.make(Dialect.make({ projectDir, home, passEnv }), {
    ...engineSetup(name, options, () => Runners.make({ passEnv })),
    eventOf: Dialect.eventOf,
    maxOutput: 10_485_760,
    onFailed: (failed, ctx) => events.note(ctx, Transcript.failed(failed))
  })
  const tools = Tools.make(toolNames)
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const events = Input.make({ engine, tools, transcript })
  const setup: Effects.Setup = {
    name,
    engine,
    events,
    tools,
    prompts: handlers.flatMap(({ point, work }) =>
      point === "sessionStart" && work.type === "prompt" ? [work.prompt] : []
    ),
    // A project may restrict permissions but may not grant them.
    mayAllow: options.projectAllows === true ||
      handlers.every(({ point, trusted }) => point !== "permissionRequest" || trusted !== "project"),
    hasTranscript: transcript !== undefined,
    stops: new Map()
  }
  return hookOf(name, options, engine, { ...Effects.make(setup), ...ToolEffects.make(setup) })
}
