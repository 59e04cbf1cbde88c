/**
 * Runs the entries of Claude Code's settings files as one hook. Each entry reads events in Claude Code's format, and
 * its answer is obeyed as Claude Code would obey it.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { hookOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/runEntries.ts"
import * as Transcript from "../../engine/Transcript.ts"
import * as Runners from "../../runner/Runners.ts"
import { ifBroken } from "../shared/engineSetup.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import type { Handler } from "./config/HookConfig.ts"
import * as Effects from "./effect/effects.ts"
import * as ToolEffects from "./effect/toolEffects.ts"
import * as Dialect from "./input/dialect.ts"
import * as EnvironmentFile from "./input/environmentFile.ts"
import { claude, type Flavor } from "./input/flavor.ts"
import * as Input from "./input/input.ts"
import * as Owners from "./input/owners.ts"

export type { ToolName, ToolNames } from "../shared/toolNames.ts"

/** Options of the hook that runs files of Claude Code. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout">, Runners.Options {
  /** The entries, as `HookConfig.decode` returns them. Their answers are merged in this order. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project. Commands read it as `CLAUDE_PROJECT_DIR`. */
  readonly projectDir: string
  /** Additional environment variables for commands, such as `env` of the user's settings. */
  readonly env?: { readonly [name: string]: string }
  /** The `permission_mode` that entries read. Default `default`. */
  readonly permissionMode?: "default" | "plan" | "acceptEdits" | "auto" | "dontAsk" | "bypassPermissions"
  /** The folder that `~` means in `if`. Default: the user's home folder. */
  readonly home?: string
  /**
   * The names that settings files use for the agent's tools. By default common names are translated (`bash` to `Bash`,
   * `write_file` to `Write`), and other names are used unchanged.
   */
  readonly toolNames?: ToolNames
  /** The most entries of one event that run at the same time. Default 10. */
  readonly concurrency?: number
  /** How long background work may run after its session has ended, in milliseconds. Default 5,000. */
  readonly drainMs?: number
  /** The most times in a row that `Stop` entries may keep the agent from stopping. Default 8. */
  readonly stopCap?: number
  /**
   * What happens to a prompt, a tool call or a permission if an entry fails or times out: it continues, or it is
   * blocked. Default `continue`, as in Claude Code.
   */
  readonly onBroken?: "continue" | "block"
  /**
   * Whether `allow` of a project's entry (`trusted: "project"`) can answer a question of the policy. Default false:
   * entries of a project can forbid calls, but cannot allow them.
   */
  readonly projectAllows?: boolean
  /**
   * The folder of transcripts: one file for each session, with all its messages. Entries read its path as
   * `transcript_path`. By default no transcript is written, and the path is empty.
   */
  readonly transcripts?: string
  /** Runs the entries. Default: `Runners.make` with these options. */
  readonly runners?: Runners.Runners
  /**
   * Returns the reason why an entry may not run now, or undefined if it may run. If a refused entry could have blocked
   * a tool call, a person is asked about the call. At other events it counts as an entry that failed.
   */
  readonly refuse?: (handler: Handler) => string | undefined
  /**
   * Called with the text of an `asyncRewake` entry that ended with exit code 2, so that a host can wake an idle
   * session. The agent reads the text in any case: when it is about to stop, or with the user's next message.
   */
  readonly onWake?: (wake: { readonly sessionId: string; readonly text: string }) => void
}

/**
 * Makes a hook that runs the entries of Claude Code's settings files. All entries that match an event run at the same
 * time, and the hook waits for all of them. If one entry blocks, the operation is blocked. Reasons and contexts are
 * joined in the order of `handlers`.
 *
 * `allow` answers a question of the policy, but never overrides a refusal. An entry that fails is a warning. Throws a
 * `ConfigError` if a number is out of its range.
 *
 * @example
 * ```ts
 * import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 *
 * const text =
 *   `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }`
 * const { handlers } = HookConfig.decode(text, "settings.json")
 * const hook = ClaudeCode.make({ handlers, projectDir: "/srv/app", toolNames: { run: "Bash" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => makeFor(options, claude)

/** The options that `make` has in addition to `HookDefaults`. @internal */
export const optionKinds: HookDefaults.OwnKinds<Options> = {
  ...Runners.optionKinds,
  handlers: "list",
  projectDir: "text",
  env: "object",
  permissionMode: "text",
  home: "text",
  toolNames: "any",
  concurrency: "number",
  drainMs: "number",
  stopCap: "number",
  onBroken: "text",
  projectAllows: "flag",
  transcripts: "text",
  runners: "any",
  refuse: "function",
  onWake: "function"
}

const permissionModes = ["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]

/** Makes a hook for Claude Code, or for a system with similar settings files. Errors name it by `key`. @internal */
export const makeFor = (options: Options, flavor: Flavor, key = "claude-code"): AgentHook => {
  HookDefaults.checkKinds(key, options, optionKinds, ["handlers", "projectDir"])
  const { concurrency = 10, handlers, name = "settings-hooks", onWake, projectDir, stopCap = 8, toolNames = {} } =
    options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("concurrency", concurrency, 1),
      whole("graceMs", options.graceMs),
      whole("lingerMs", options.lingerMs),
      whole("drainMs", options.drainMs),
      whole("stopCap", stopCap),
      ifBroken(options.onBroken),
      oneOf("permissionMode", options.permissionMode, permissionModes)
    )
  )
  const owners = Owners.make(name, handlers)
  const dialect = Dialect.make({
    flavor,
    projectDir,
    env: options.env ?? {},
    home: options.home ?? homedir(),
    concurrency,
    projectAllows: options.projectAllows === true,
    isActive: owners.isActive
  })
  const engine = Engine.make(dialect, {
    name,
    entries: () => handlers,
    runners: options.runners ?? Runners.make(options),
    refuse: options.refuse,
    blockOnError: options.onBroken === "block",
    drainMs: options.drainMs,
    onFailed: (failed, ctx) => events.note(ctx, Transcript.failed(failed)),
    onWake: onWake === undefined ? undefined : (sessionId, text) => onWake({ sessionId, text })
  })
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const permissionMode = options.permissionMode ?? "default"
  const events = Input.make({ engine, flavor, owners, toolNames, permissionMode, transcript })
  const hasTranscript = transcript !== undefined
  const setup = {
    name,
    engine,
    events,
    flavor,
    toolNames,
    stopCap,
    hasSkills: owners.any,
    hasTranscript,
    usesAnswers: hasTranscript || flavor.name !== "claude",
    wakes: handlers.some(({ rewake }) => rewake === true)
  }
  const effects = { ...Effects.make(setup), ...ToolEffects.make(setup), onSignal: Effects.onSignal(setup) }
  return hookOf(name, options, engine, effects)
}

/**
 * The environment variables that entries exported in this session (`CLAUDE_ENV_FILE`). Use it in a tool that runs shell
 * commands, so that the commands get these variables.
 *
 * @example
 * ```ts
 * import type { AgentSession } from "@belay/core/createAgent"
 * import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
 *
 * declare const session: AgentSession
 * const env = session.state.get(ClaudeCode.environment) // { NODE_ENV: "production" }
 * ```
 * @category state
 * @since 0.1.0
 */
export const environment = EnvironmentFile.environment
