/**
 * Runs the entries of Claude Code's settings files as one hook: they read events in the form of Claude Code, and their
 * answers take effect.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { methodsOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/engine.ts"
import * as Runners from "../../Runners.ts"
import * as Transcript from "../../Transcript.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import * as EnvironmentFile from "./environmentFile.ts"
import { claude, type Flavor } from "./flavor.ts"
import type { Handler } from "./HookConfig.ts"
import * as Input from "./input.ts"
import * as Owners from "./owners.ts"
import * as ToolEffects from "./toolEffects.ts"

export type { ToolName, ToolNames } from "../shared/toolNames.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout">, Runners.Options {
  /** What `HookConfig.decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** `CLAUDE_PROJECT_DIR`: the folder of the project. */
  readonly projectDir: string
  /** More variables that commands see, such as `env` of the user's settings. */
  readonly env?: { readonly [name: string]: string }
  /** The `permission_mode` that hooks read. Default `default`. */
  readonly permissionMode?: "default" | "plan" | "acceptEdits" | "auto" | "dontAsk" | "bypassPermissions"
  /** What `~` stands for in `if`. Default: the user's home folder. */
  readonly home?: string
  /**
   * What tools are called in settings files. Default: common names are recognised (`bash` is `Bash`, `write_file` is
   * `Write`), others stay.
   */
  readonly toolNames?: ToolNames
  /** How many entries of one event run at once. Default 10. */
  readonly concurrency?: number
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /** Follow-ups in a row that `Stop` entries may ask for. Default 8. */
  readonly stopCap?: number
  /**
   * What a command that broke, or took too long, means for a prompt, a tool call or a permission. Default `continue`,
   * as the scripts expect.
   */
  readonly onBroken?: "continue" | "block"
  /**
   * Lets `allow` of an entry that is the project's (`trusted: "project"`) answer the policy's questions. Default false:
   * a project tightens, and loosens nothing.
   */
  readonly projectAllows?: boolean
  /**
   * A folder for `transcript_path`: a file a session, which holds everything that is said. Default: none is written,
   * and the path is empty.
   */
  readonly transcripts?: string
  /** Runs the entries. Default: those of `Runners.make` with these options. */
  readonly runners?: Runners.Runners
  /**
   * Says why an entry may not run now, where it may not: a tool call that it could have blocked is then asked about,
   * and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
  /**
   * Receives the text of an `asyncRewake` entry that ended with 2, so that a host can wake an idle session. The agent
   * reads the text in any case: when it is about to stop, or with the user's next message.
   */
  readonly onWake?: (wake: { readonly sessionId: string; readonly text: string }) => void
}

/**
 * Makes a hook of commands. All that fit an event run at once and are all waited for; then any that blocks blocks, and
 * reasons and contexts are put together in the order of the
 * configuration. Commands only ever tighten: `allow` answers a question of the policy, but overrules nobody. One that
 * breaks is a warning. Throws a `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 *
 * const text = `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }`
 * const { handlers } = HookConfig.decode(text, "settings.json")
 * const hook = ClaudeCode.make({ handlers, projectDir: "/srv/app", toolNames: { run: "Bash" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => makeFor(options, claude)

/** Makes a hook of settings files that another system reads in its own way. @internal */
export const makeFor = (options: Options, flavor: Flavor): AgentHook => {
  const { concurrency = 10, handlers, name = "settings-hooks", onWake, projectDir, stopCap = 8, toolNames = {} } =
    options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("concurrency", concurrency, 1),
      whole("graceMs", options.graceMs),
      whole("lingerMs", options.lingerMs),
      whole("drainMs", options.drainMs),
      whole("stopCap", stopCap)
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
  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    close: () => engine.drained,
    ...methodsOf(effects, engine.has)
  })
}

/**
 * What scripts of a session exported for later commands (`CLAUDE_ENV_FILE`): for a tool that runs a shell, or a sandbox
 * of one.
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
