/**
 * Loads the hook files of every system, and makes hooks for an agent from them.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import { defined } from "@belay/core/Fields"
import type { HookSource } from "@belay/core/HookSource"
import { checkKinds, checkOptions, type OptionKinds } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import type * as ClaudeCode from "./dialect/claude/ClaudeCode.ts"
import { show, type Warning } from "./dialect/claude/config/HookConfig.ts"
import { permissionHooks } from "./dialect/claude/config/permissionRules.ts"
import { lists } from "./dialect/claude/source.ts"
import type * as Kodelet from "./dialect/kodelet/Kodelet.ts"
import { ifBroken } from "./dialect/shared/engineSetup.ts"
import type { ToolNames } from "./dialect/shared/toolNames.ts"
import { chooseSystems } from "./discovery/chooseSystems.ts"
import * as Discovery from "./discovery/Discovery.ts"
import { dropTwins } from "./discovery/dropTwins.ts"
import { isOfPolicy, malformed, withoutSilenced } from "./discovery/settled.ts"
import { shown } from "./engine/record.ts"
import { isInside, real } from "./internal/files.ts"
import * as Command from "./process/Command.ts"
import * as Runners from "./runner/Runners.ts"
import { byDialect } from "./system/builtIn.ts"
import * as Changes from "./trust/internal/changes.ts"
import * as Covered from "./trust/internal/covered.ts"
import * as Files from "./trust/internal/files.ts"
import * as Remembered from "./trust/internal/remembered.ts"
import * as Watch from "./trust/internal/watch.ts"
import * as Trust from "./trust/Trust.ts"

/** Options of `HookFiles.load`. @category models @since 0.1.0 */
export interface Options
  extends
    Omit<HookDefaults.HookDefaults, "name" | "tier" | "timeout" | "onTimeout">,
    Partial<Discovery.Places>,
    Runners.Options
{
  /** The folder of the project. Default: the current folder of the process. */
  readonly cwd?: string
  /**
   * The folder in which decisions about trust are stored. It must be outside of the project. Default `~/.belay/trust`.
   * If the project is the home folder, set it: otherwise no hook of the project runs.
   */
  readonly trust?: string
  /**
   * The names that hook files use for the agent's tools. By default common names are translated (`bash` to `Bash`,
   * `write_file` to `Write`), and other names are used unchanged.
   */
  readonly toolNames?: ToolNames
  /**
   * The folder of the transcripts that scripts read. If it is `false`, no transcript is written. Default
   * `~/.belay/transcripts`.
   */
  readonly transcripts?: string | false
  /**
   * What happens to a prompt, a tool call or a permission if an entry fails or times out: it continues, or it is
   * blocked. This is about systems in which it continues, and `continue` is the default.
   */
  readonly onBroken?: "continue" | "block"
  /**
   * Whether `allow` of a trusted project can answer a question of the policy. Default false: entries of a project can
   * forbid calls, but cannot allow them.
   */
  readonly projectAllows?: boolean
  /** The most entries of one event that run at the same time. Default 10. */
  readonly concurrency?: number
  /** The `permission_mode` that entries of Claude Code and Codex read. Default `default`. */
  readonly permissionMode?: ClaudeCode.Options["permissionMode"]
  /**
   * The most times in a row that `Stop` entries of Claude Code and Codex may keep the agent from stopping. Default 8.
   */
  readonly stopCap?: number
  /** How long background work may run after its session has ended, in milliseconds. Default 5,000. */
  readonly drainMs?: number
  /**
   * Recipes that callbacks of Kodelet can run. They come before the files `NAME.md` in the folders `.kodelet/recipes`
   * and `recipes` of the project, and in `~/.kodelet/recipes`. Default: only these files and the recipe `compact`.
   */
  readonly recipes?: Kodelet.Options["recipes"]
  /**
   * The share of the context window, from 0 to 1, at which Kodelet runs its recipe `compact`. Default: it never runs.
   */
  readonly autoCompact?: number
  /** The token limit in the budget of Base Coat if the agent has no size of its context window. Default 0: unknown. */
  readonly effectiveLimit?: number
  /**
   * Called with the text of an `asyncRewake` entry that ended with exit code 2, so that a host can wake an idle
   * session.
   */
  readonly onWake?: (wake: { readonly sessionId: string; readonly text: string }) => void
}

/**
 * An entry that does not run, to show it to the person who decides. Its texts come from the project, so escape control
 * characters when you print them.
 *
 * @category models
 * @since 0.1.0
 */
export interface UntrustedEntry {
  readonly event: string
  readonly file: string
  readonly key: string
  /** What the entry would run: a shell line, a program, a URL, a tool or a prompt. */
  readonly command: string
  readonly args?: ReadonlyArray<string>
}

/**
 * A project whose hooks do not run, because nobody has trusted its current files.
 *
 * @category models
 * @since 0.1.0
 */
export interface Untrusted {
  readonly project: string
  readonly commands: ReadonlyArray<UntrustedEntry>
  readonly fingerprint: string
  /**
   * Stores the decision that these files may run, with the content that was read. Call `load` again to get their hooks.
   * Hooks that were loaded earlier, and were stopped by a change of these files, run again at once.
   */
  readonly trust: () => void
  /** Reads what changed since a person trusted the project. Returns nothing if nobody has. */
  readonly changes: () => ReadonlyArray<Trust.Change> | undefined
}

/** The result of `load`. @category models @since 0.1.0 */
export interface Loaded {
  /**
   * One hook for each system that has entries that may run. Managed entries are a separate hook, which is the first.
   * Before them come `claude-managed-permissions` and `claude-permissions`, with the rules that deny and ask in
   * settings of Claude Code.
   */
  readonly hooks: ReadonlyArray<AgentHook>
  readonly warnings: ReadonlyArray<Warning>
  readonly untrusted: ReadonlyArray<Untrusted>
  /** All files that were read, even if their hooks do not run. */
  readonly sources: ReadonlyArray<Discovery.Source>
  /** The files of `sources` that a setting turns off (`disableAllHooks`, `allowManagedHooksOnly`). */
  readonly silenced: ReadonlyArray<Discovery.Source>
  /**
   * The files of `sources` that are not loaded, because another system has more entries and the option `sources` names
   * none. A warning lists their systems.
   */
  readonly leftOut: ReadonlyArray<Discovery.Source>
}

const { name: _name, onTimeout: _onTimeout, tier: _tier, timeout: _timeout, ...commonKinds } = HookDefaults.commonKinds

const optionKinds: OptionKinds<Options> = {
  ...commonKinds,
  ...Runners.optionKinds,
  home: "text",
  managed: "text",
  sources: "list",
  systems: "list",
  scopes: "list",
  cwd: "text",
  trust: "text",
  toolNames: "any",
  transcripts: ["text", "flag"],
  onBroken: "text",
  projectAllows: "flag",
  concurrency: "number",
  permissionMode: "any",
  stopCap: "number",
  drainMs: "number",
  recipes: "object",
  autoCompact: "number",
  effectiveLimit: "number",
  onWake: "function"
}

/**
 * Loads the hook files of the machine, of the user and of the project, and makes hooks from them. Pass `hooks` to
 * `createAgent`.
 *
 * Hooks in files of the project run only if a person has trusted these files and the scripts that they run. If one of
 * them changes later, no hook of the project runs until a person trusts it again. Until then, a person is asked about
 * each tool call that such a hook could have blocked. `disableAllHooks` in a file of the project turns off only hooks
 * of the project.
 *
 * Throws a `ConfigError` if a managed entry is malformed, or if the folder `trust` is inside the project.
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
 * for (const { commands, project } of untrusted) {
 *   console.warn(`${project} has ${commands.length} hooks that do not run`)
 * }
 * const agent = createAgent({ provider, hooks })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const load = (options: Options = {}): Loaded => {
  Result.getOrThrow(checkKinds("HookFiles.load", options, optionKinds))
  Result.getOrThrow(checkOptions("HookFiles.load", ifBroken(options.onBroken)))
  const { home = homedir(), run = Command.run, systems = [], transcripts, ...rest } = options
  const { trust = join(home, ".belay", "trust"), ...making } = rest
  const cwd = resolve(options.cwd ?? process.cwd())
  const find = () => Discovery.find({ ...pickPlaces(options), cwd, home })
  const found = find()
  const { sources } = found
  const always = options.sources === undefined ? systems : sources.map(({ system }) => system)
  const { leftOut, ...choice } = chooseSystems(withoutSilenced(sources), {
    cwd,
    home,
    always: always.map(({ dialect }) => dialect)
  })
  const counting = choice.used
  const unused = new Set(leftOut.filter(({ ofProject }) => ofProject).map(({ dialect }) => dialect))
  // A decision covers only what is loaded.
  const covered = (all: ReadonlyArray<Discovery.Source>) =>
    all.filter(({ dialect, ofProject }) => ofProject && !unused.has(dialect))
  const project = decide({ cwd, home, trust, sources: covered(sources), counting, find: () => covered(find().sources) })
  const may = dropTwins(counting.filter(({ ofProject }) => !ofProject || project.isTrusted))
  // A malformed file of an untrusted project is not an error, because its hooks do not run.
  Result.getOrThrow(malformed(may))
  const { urls, variables } = lists(counting)
  const folder = transcripts ?? join(home, ".belay", "transcripts")
  const systemOptions = {
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
    hooks: [
      // Rules run nothing and can only tighten, so they need neither trust nor hooks that are turned on.
      ...identified(permissionHooks(sources, { home, ...defined({ toolNames: options.toolNames }) }), sources, options),
      ...[...byDialect(systems).values()].flatMap((system) => {
        const loaded = may.filter(({ dialect }) => dialect === system.dialect)
        return identified(system.hooks(loaded, systemOptions), loaded, options)
      })
    ],
    warnings: [
      ...found.warnings.filter((warning) => !leftOut.some(({ config }) => config.warnings.includes(warning))),
      ...choice.warnings
    ],
    untrusted: project.untrusted,
    sources,
    silenced: sources.filter((one) => !counting.includes(one) && !leftOut.includes(one)),
    leftOut
  }
}

/** Hooks of the same files and options are one hook in a tree of agents. `sources` and `scopes` only choose files. */
const identified = (
  hooks: ReadonlyArray<AgentHook>,
  sources: ReadonlyArray<Discovery.Source>,
  { cwd: _cwd, scopes: _scopes, sources: _sources, ...options }: Options
): ReadonlyArray<AgentHook> => {
  const files = sources.map(({ path, text }) => ({ path, text }))
  return hooks.map((hook) => ({ ...hook, identity: { kind: `hook-files ${hook.name}`, options: { files, options } } }))
}

const pickPlaces = ({ managed, scopes, sources, systems }: Options) => defined({ managed, scopes, sources, systems })

interface Project {
  readonly cwd: string
  readonly home: string
  /** The folder in which decisions are stored. */
  readonly trust: string
  /** The files of the project that are loaded. */
  readonly sources: ReadonlyArray<Discovery.Source>
  /** The sources that no setting turns off. */
  readonly counting: ReadonlyArray<Discovery.Source>
  /** Reads the current sources. */
  readonly find: () => ReadonlyArray<Discovery.Source>
}

/**
 * Decides whether the hooks of the project may run. Throws a `ConfigError` if the folder `trust` is inside the project.
 */
const decide = ({ counting, cwd, find, home, sources, trust }: Project) => {
  const own = counting.filter(({ ofProject }) => ofProject)
  const entries = own.flatMap(({ config }) => config.handlers)
  const isAsked = entries.length > 0 || own.some(({ config }) => config.warnings.some(isOfPolicy))
  // If the project is the home folder, the default folder is inside of it, and nothing is trusted.
  if (isAsked && resolve(trust) !== resolve(cwd, ".belay", "trust")) Result.getOrThrow(outside(cwd, trust))
  const store = Trust.folder(trust)
  const before = isAsked ? Remembered.read(trust, cwd) : undefined
  const seen = Files.make(Remembered.known(before))
  const covered: Covered.Covered = isAsked ? Covered.of(cwd, sources, home, seen) : new Map()
  const fingerprint = Covered.print(cwd, covered)
  const isTrusted = isAsked && store.isTrusted(cwd, fingerprint)
  const files = new Set([...own.map(({ path }) => path), ...entries.map(({ file }) => file)])
  const watch = Watch.make({
    cwd,
    home,
    files: seen,
    sources,
    trusted: covered,
    find,
    isTrusted: (current) => store.isTrusted(cwd, current)
  })
  const changed = onceATick(watch.changed)
  /** Returns the reason why an entry of the project may not run now, or undefined if it may run. */
  const refuse = ({ file }: Pick<Discovery.Entry, "file">) => {
    const path = files.has(file) ? changed() : undefined
    return path === undefined
      ? undefined
      : `hooks of this project changed since they were trusted (${path}): review them, and run \`belay hooks trust\``
  }
  const textOf = (path: string) => Covered.textOf(sources, path)
  const untrusted: Untrusted = {
    project: real(cwd),
    commands: entries.map(untrustedEntry),
    fingerprint,
    trust: () => {
      Result.getOrThrow(outside(cwd, trust))
      store.trust(cwd, fingerprint)
      // The decision does not depend on it.
      Result.try(() => Remembered.write(trust, cwd, covered, seen, textOf))
    },
    changes: () => before === undefined ? undefined : Changes.between(before, covered, textOf)
  }
  return {
    isTrusted,
    untrusted: !isAsked || isTrusted ? [] : [untrusted],
    refuse: Object.assign(refuse, { ready: watch.ready })
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
 * Makes a source for `createAgent({ hookSources })`. It calls `load` when the agent is made, for the agent's folder.
 * Warnings and untrusted projects are written to the agent's log. Throws the same errors as `load`.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as HookFiles from "@belay/hook-files/HookFiles"
 *
 * declare const provider: LlmProvider
 * const agent = createAgent({
 *   provider,
 *   cwd: "/srv/app",
 *   hookSources: [HookFiles.source({ toolNames: { run: "Bash" } })]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const source = (options: Options = {}): HookSource => ({
  name: "hook-files",
  load: ({ cwd }) => {
    const { hooks, untrusted, warnings } = load({ cwd, ...options })
    const untrustedWarnings = untrusted.map(({ commands, project }) =>
      `${project}: ${commands.length} hooks do not run, because nobody has trusted the current files; review ` +
      "them, and run `belay hooks trust`"
    )
    return { hooks, warnings: [...warnings.map(show), ...untrustedWarnings] }
  }
})

/** Calls `look` at most once in a turn of the event loop, because all entries of one event start together. */
const onceATick = <A>(look: () => A): () => A => {
  let seen: { readonly found: A } | undefined
  return () => {
    if (seen === undefined) setImmediate(() => void (seen = undefined))
    return (seen ??= { found: look() }).found
  }
}

const outside = (cwd: string, trust: string): Result.Result<void, ConfigError> => {
  if (!isInside(cwd, resolve(trust)) && !isInside(real(cwd), real(resolve(trust)))) return Result.succeed(undefined)
  const message = `hook-files.trust: expected a folder outside of the project ${cwd}, found ${trust}`
  return Result.fail(new ConfigError({ key: "hook-files.trust", message }))
}
