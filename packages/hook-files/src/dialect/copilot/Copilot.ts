/**
 * Runs the hook files of GitHub Copilot as one hook: entries read events in the form of Copilot, and their answers take
 * effect.
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
import * as ToolEffects from "./toolEffects.ts"
import * as Tools from "./tools.ts"

/** The name of an event in camel case. @category models @since 0.1.0 */
export type EventName = Events.EventName

/** One hook of a file. `timeoutMs` is 30,000 unless the file says otherwise. @category models @since 0.1.0 */
export interface Handler extends Config.Handler {}

/** What a file says. @category models @since 0.1.0 */
export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /**
   * In a file of a hooks folder it is about that file alone; in a settings file of a repository, about everything but
   * what administrators put there.
   */
  readonly disableAllHooks: boolean
}

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project: commands run there, or where `cwd` of a file says from there on. */
  readonly projectDir: string
  /** What runs the hooks, with at most 10 MiB of output. Default: `Runners.make`. */
  readonly runners?: Runners.Runners
  /**
   * Names of variables of the host that `env` of a file may name, and that commands of the default runners see.
   * Default: none.
   */
  readonly passEnv?: ReadonlyArray<string>
  /** What `HOME` is for commands, and for `env` of a file. Default: the host's. */
  readonly home?: string
  /**
   * What a hook that broke, or took too long, means for a prompt, a tool call or a permission. Default `continue`, but
   * for what denies anyway, as Copilot does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Lets `allow` count where a project has entries at `permissionRequest` too. Default false: a project tightens, and
   * loosens nothing.
   */
  readonly projectAllows?: boolean
  /**
   * What tools are called in hook files. Default: common names are recognised (`write_file` is `create`, or `Write`),
   * others stay.
   */
  readonly toolNames?: ToolNames
  /**
   * A folder for `transcriptPath`: a file a session, which holds everything that is said. Default: none is written, and
   * the path is empty.
   */
  readonly transcripts?: string
  /**
   * Says why a hook may not run now, where it may not: a tool call that it could have blocked is then asked about, and
   * elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/** Most times in a row that hooks keep an agent going. @category limits @since 0.1.0 */
export const maxBlocks: number = Effects.maxBlocks

/** Most characters that hooks put behind a result together. @category limits @since 0.1.0 */
export const maxContext: number = ToolEffects.maxContext

/**
 * Reads a hook file, or the hooks of a settings file; comments are allowed. What is malformed becomes a warning that
 * names the key, and the rest counts.
 *
 * @example
 * ```ts
 * import * as Copilot from "@belay/hook-files/Copilot"
 *
 * const text = `{ "version": 1, "hooks": { "preToolUse": [{ "matcher": "bash|edit", "bash": "./guard.sh", "timeoutSec": 10 }] } }`
 * const { handlers } = Copilot.decode(text, ".github/hooks/guard.json")
 * handlers[0]?.timeoutMs // 10000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string): Decoded => Config.decode(text, file)

/**
 * Makes a hook of hooks, which run one after another. A command at `preToolUse` that ends with anything but 0 denies
 * the call, unless it took too long; whatever else breaks is a warning.
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
  const { handlers, home, name = "copilot-hooks", passEnv = [], projectDir, toolNames = {} } = options
  Result.getOrThrow(checkOptions(name, whole("drainMs", options.drainMs)))
  const engine = Engine.make(Dialect.make({ projectDir, home, passEnv }), {
    name,
    entries: () => handlers,
    eventOf: Dialect.eventOf,
    runners: options.runners ?? Runners.make({ passEnv }),
    refuse: options.refuse,
    blockOnError: options.onBroken === "block",
    maxOutput: 10_485_760,
    drainMs: options.drainMs
  })
  const tools = Tools.make(toolNames)
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const setup: Effects.Setup = {
    name,
    engine,
    events: Input.make({ engine, tools, transcript }),
    tools,
    prompts: handlers.flatMap(({ point, work }) =>
      point === "sessionStart" && work.type === "prompt" ? [work.prompt] : []
    ),
    // A project may tighten and may not loosen.
    mayAllow: options.projectAllows === true ||
      handlers.every(({ point, trusted }) => point !== "permissionRequest" || trusted !== "project"),
    hasTranscript: transcript !== undefined,
    stops: new Map()
  }
  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    close: () => engine.drained,
    ...methodsOf({ ...Effects.make(setup), ...ToolEffects.make(setup) }, engine.has)
  })
}
