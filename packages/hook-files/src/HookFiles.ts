/**
 * Loads the hook files of every system and makes hooks for an agent of them.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookSource } from "@belay/core/HookSource"
import type * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import type * as ClaudeCode from "./dialect/claude/ClaudeCode.ts"
import { show, type Warning } from "./dialect/claude/HookConfig.ts"
import { lists } from "./dialect/claude/source.ts"
import { byDialect } from "./dialect/shared/systems.ts"
import type { ToolNames } from "./dialect/shared/toolNames.ts"
import * as Discovery from "./Discovery.ts"
import { shown } from "./engine/record.ts"
import { defined } from "./internal/defined.ts"
import { isInside, real } from "./internal/files.ts"
import * as Command from "./process/Command.ts"
import * as Runners from "./Runners.ts"
import * as Covered from "./trust/internal/covered.ts"
import * as Files from "./trust/internal/files.ts"
import * as Watch from "./trust/internal/watch.ts"
import * as Trust from "./trust/Trust.ts"

/** @category models @since 0.1.0 */
export interface Options
  extends
    Omit<HookDefaults.HookDefaults, "name" | "tier" | "timeout" | "onTimeout">,
    Partial<Discovery.Places>,
    Runners.Options
{
  /** The folder of the project. Default: the folder of the process. */
  readonly cwd?: string
  /** The folder of decisions, outside of the project. Default `~/.belay/trust`. */
  readonly trust?: string
  /**
   * What the agent's tools are called in files. Default: common names are recognised (`bash` is `Bash`, `write_file` is
   * `Write`), others stay.
   */
  readonly toolNames?: ToolNames
  /** A folder for the transcripts that scripts read; `false` writes none. Default `~/.belay/transcripts`. */
  readonly transcripts?: string | false
  /**
   * What an entry that broke, or took too long, means for a prompt, a tool call or a permission, in systems that go on.
   * Default `continue`, as scripts expect.
   */
  readonly onBroken?: "continue" | "block"
  /**
   * Lets `allow` of a trusted project answer the policy's questions. Default false: a project tightens, and loosens
   * nothing.
   */
  readonly projectAllows?: boolean
  /** How many entries of one event run at once. Default 10. */
  readonly concurrency?: number
  /** The `permission_mode` that hooks of Claude Code and Codex read. Default `default`. */
  readonly permissionMode?: ClaudeCode.Options["permissionMode"]
  /** Follow-ups in a row that `Stop` entries of Claude Code and Codex may ask for. Default 8. */
  readonly stopCap?: number
  /** Milliseconds that background work may run after the end of its session. Default 5,000. */
  readonly drainMs?: number
  /** Receives the text of an `asyncRewake` entry that ended with 2, so that a host can wake an idle session. */
  readonly onWake?: (wake: { readonly sessionId: string; readonly text: string }) => void
}

/**
 * An entry that does not run, to show to the person who decides. The texts come from the project: escape control
 * characters when you print them.
 *
 * @category models
 * @since 0.1.0
 */
export interface UntrustedEntry {
  readonly event: string
  readonly file: string
  readonly key: string
  /** What it would run: a line for the shell, a program with its arguments, a URL, a tool, a prompt. */
  readonly command: string
  readonly args?: ReadonlyArray<string>
}

/**
 * A project whose hooks do not run, because nobody has trusted its files as they are now.
 *
 * @category models
 * @since 0.1.0
 */
export interface Untrusted {
  readonly project: string
  readonly commands: ReadonlyArray<UntrustedEntry>
  readonly fingerprint: string
  /**
   * Writes down that these files, as they were read, may run. They do when they are loaded again; what was loaded as
   * trusted before does at once.
   */
  readonly trust: () => void
}

/** The hooks that were loaded. @category models @since 0.1.0 */
export interface Loaded {
  /** A hook for each system that has entries which may run; what is managed is a hook of its own, before all others. */
  readonly hooks: ReadonlyArray<AgentHook>
  readonly warnings: ReadonlyArray<Warning>
  readonly untrusted: ReadonlyArray<Untrusted>
  /** Every file that was read, whether it counts or not. */
  readonly sources: ReadonlyArray<Discovery.Source>
  /** Those of them that something silences (`disableAllHooks`, `allowManagedHooksOnly`). */
  readonly silenced: ReadonlyArray<Discovery.Source>
}

/**
 * Loads what the machine, the user and the project have. Files that the project could have written count only when a
 * person trusted them, with what they run; when one of them changes afterwards,
 * nothing of the project runs until somebody trusts it again, and a tool call that an entry could have blocked is asked
 * about. What silences hooks in a file of the project silences the project's own only. Throws a `ConfigError` where a
 * managed entry is malformed, or where decisions would be kept inside the project.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 * import * as HookFiles from "@belay/hook-files/HookFiles"
 *
 * declare const provider: LlmProvider
 * const { hooks, untrusted, warnings } = HookFiles.load({ sources: ["claude", "codex"], toolNames: { run: "Bash" } })
 * for (const warning of warnings) console.warn(HookConfig.show(warning))
 * for (const { commands, project } of untrusted) console.warn(`${project} has ${commands.length} hooks that do not run`)
 * const agent = createAgent({ provider, hooks })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const load = (options: Options = {}): Loaded => {
  const { home = homedir(), run = Command.run, systems = [], transcripts, ...rest } = options
  const { trust = join(home, ".belay", "trust"), ...making } = rest
  const cwd = resolve(options.cwd ?? process.cwd())
  const find = () => Discovery.find({ ...pickPlaces(options), cwd, home })
  const { sources, warnings } = find()
  const counting = withoutSilenced(sources)
  const project = decide({ cwd, home, trust, sources, counting, find: () => find().sources })
  const may = counting.filter(({ ofProject }) => !ofProject || project.isTrusted)
  // A project that nobody has trusted keeps nobody from starting.
  Result.getOrThrow(malformed(may))
  const { urls, variables } = lists(counting)
  const folder = transcripts ?? join(home, ".belay", "transcripts")
  const made = {
    ...making,
    projectDir: cwd,
    home,
    runners: Runners.make({
      ...making,
      run: (request) => run({ ...request, env: { HOME: home, ...request.env } }),
      ...defined({ allowedHttpHookUrls: urls, httpHookAllowedEnvVars: variables })
    }),
    transcripts: folder === false ? undefined : folder,
    refuse: project.refuse
  }
  return {
    hooks: [...byDialect(systems).values()].flatMap((system) =>
      system.hooks(may.filter(({ dialect }) => dialect === system.dialect), made)
    ),
    warnings,
    untrusted: project.untrusted,
    sources,
    silenced: sources.filter((one) => !counting.includes(one))
  }
}

const pickPlaces = ({ managed, scopes, sources, systems }: Options) => defined({ managed, scopes, sources, systems })

interface Project {
  readonly cwd: string
  readonly home: string
  /** The folder of decisions. */
  readonly trust: string
  readonly sources: ReadonlyArray<Discovery.Source>
  /** Those of the sources that nothing silences. */
  readonly counting: ReadonlyArray<Discovery.Source>
  /** Finds the sources as they are now. */
  readonly find: () => ReadonlyArray<Discovery.Source>
}

/** Whether the project's files may run, and who is to decide. Throws a `ConfigError` for a folder inside the project. */
const decide = ({ counting, cwd, find, home, sources, trust }: Project) => {
  const own = counting.filter(({ ofProject }) => ofProject)
  const entries = own.flatMap(({ config }) => config.handlers)
  const isAsked = entries.length > 0 || own.some(({ config }) => config.warnings.some(isOfPolicy))
  Result.getOrThrow(outside(isAsked ? cwd : undefined, trust))
  const store = Trust.folder(trust)
  const seen = Files.make()
  const theirs = sources.filter(({ ofProject }) => ofProject)
  const covered: Covered.Covered = isAsked ? Covered.of(cwd, theirs, home, seen) : new Map()
  const fingerprint = Covered.print(cwd, covered)
  const isTrusted = isAsked && store.isTrusted(cwd, fingerprint)
  const files = new Set([...own.map(({ path }) => path), ...entries.map(({ file }) => file)])
  const changed = onceATick(Watch.make({
    cwd,
    home,
    files: seen,
    sources: theirs,
    trusted: covered,
    find: () => find().filter(({ ofProject }) => ofProject),
    isTrusted: (current) => store.isTrusted(cwd, current)
  }))
  const untrusted: Untrusted = {
    project: real(cwd),
    commands: entries.map(untrustedEntry),
    fingerprint,
    trust: () => store.trust(cwd, fingerprint)
  }
  return {
    isTrusted,
    untrusted: !isAsked || isTrusted ? [] : [untrusted],
    /** Says why an entry of the project may not run now. */
    refuse: ({ file }: Pick<Discovery.Entry, "file">) => {
      const path = files.has(file) ? changed() : undefined
      return path === undefined
        ? undefined
        : `hooks of this project changed since they were trusted (${path}): look at them, and run \`belay hooks trust\``
    }
  }
}

const untrustedEntry = ({ event, file, key, work }: Discovery.Entry): UntrustedEntry => ({
  event,
  file,
  key,
  command: work.type === "command" ? work.command : shown(work),
  ...defined({ args: work.type === "command" ? work.args : undefined })
})

/**
 * The same for `createAgent({ hookSources })`: read when the agent is made, for its folder. What does not count, and
 * projects that nobody trusted, are log lines.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as HookFiles from "@belay/hook-files/HookFiles"
 *
 * declare const provider: LlmProvider
 * const agent = createAgent({ provider, cwd: "/srv/app", hookSources: [HookFiles.source({ toolNames: { run: "Bash" } })] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const source = (options: Options = {}): HookSource => ({
  name: "hook-files",
  load: ({ cwd }) => {
    const { hooks, untrusted, warnings } = load({ cwd, ...options })
    const waiting = untrusted.map(({ commands, project }) =>
      `${project}: ${commands.length} hooks do not run, because nobody has trusted them as they are`
    )
    return { hooks, warnings: [...warnings.map(show), ...waiting] }
  }
})

/** Entries of one event start together: one check is enough for all of them. */
const onceATick = <A>(look: () => A): () => A => {
  let seen: { readonly found: A } | undefined
  return () => {
    if (seen === undefined) setImmediate(() => void (seen = undefined))
    return (seen ??= { found: look() }).found
  }
}

const isOfPolicy = ({ policy }: Warning): boolean => policy === true

/** Managed entries, and entries that enforce a policy, must be valid: a misspelled guard must not be left out. */
const malformed = (sources: ReadonlyArray<Discovery.Source>): Result.Result<void, ConfigError> => {
  const wrong = sources.flatMap(({ config, scope }) =>
    scope === "managed" ? config.warnings : config.warnings.filter(isOfPolicy)
  )
  return wrong.length === 0
    ? Result.succeed(undefined)
    : Result.fail(
      new ConfigError({
        key: wrong[0]!.file,
        message: `hooks of a policy have to be right: ${wrong.map(show).join("; ")}`
      })
    )
}

/** Leaves out silenced files. Only managed files silence managed files, and a project silences only its own. */
const withoutSilenced = (sources: ReadonlyArray<Discovery.Source>): ReadonlyArray<Discovery.Source> => {
  const managed = sources.filter(({ scope }) => scope === "managed")
  const isOff = managed.some(({ config }) => config.disableAllHooks)
  const isOnly = managed.some(({ config }) =>
    "allowManagedHooksOnly" in config && config.allowManagedHooksOnly === true
  )
  return sources.filter(({ dialect, ofProject, scope }) => {
    if (scope === "managed") return !isOff
    if (isOff || isOnly) return false
    return !sources.some((other) =>
      other.dialect === dialect && other.scope !== "managed" && other.config.disableAllHooks &&
      (ofProject || !other.ofProject)
    )
  })
}

const outside = (cwd: string | undefined, trust: string): Result.Result<void, ConfigError> =>
  cwd !== undefined && (isInside(cwd, resolve(trust)) || isInside(real(cwd), real(resolve(trust))))
    ? Result.fail(
      new ConfigError({
        key: "hook-files.trust",
        message: `hook-files.trust: expected a folder outside of the project ${cwd}, found ${trust}`
      })
    )
    : Result.succeed(undefined)
