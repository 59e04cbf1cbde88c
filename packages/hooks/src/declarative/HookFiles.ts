/**
 * Settings files with hooks, from where they are to one hook for an agent.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import * as ClaudeCode from "./dialect/ClaudeCode.ts"
import * as Discovery from "./Discovery.ts"
import type { EventName, Warning } from "./HookConfig.ts"
import { isInside, real } from "./internal/files.ts"
import * as Trust from "./Trust.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<ClaudeCode.Options, "handlers" | "projectDir" | "refuse">, Partial<Discovery.Places> {
  /** The folder of the project. Default: the folder of the process. */
  readonly cwd?: string
  /** The folder of decisions, outside of the project. Default `~/.belay/trust`. */
  readonly trust?: string
}

/** A project whose hooks do not run, because nobody decided about them as they are now. @category models @since 0.1.0 */
export interface Untrusted {
  readonly project: string
  /** What would run, to be shown before anybody decides. The texts are the project's: print them with care. */
  readonly commands: ReadonlyArray<{
    readonly event: EventName
    readonly file: string
    readonly key: string
    readonly command: string
    readonly args?: ReadonlyArray<string>
  }>
  readonly fingerprint: string
  /** Writes down that these files, as they were read, may run. They do when they are loaded again. */
  readonly trust: () => void
}

/** What was loaded. @category models @since 0.1.0 */
export interface Loaded {
  /** One hook, or none where there are no commands that may run. */
  readonly hooks: ReadonlyArray<AgentHook>
  readonly warnings: ReadonlyArray<Warning>
  readonly untrusted: ReadonlyArray<Untrusted>
}

/**
 * Loads the settings files of the user, the project and this checkout. Files that the project could have written count only when a person trusted them, with the scripts they name; when one of them changes afterwards,
 * nothing of the project runs any more. `disableAllHooks` of the project silences the project's own hooks only. Throws a `ConfigError` where decisions would be kept inside the project.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as HookConfig from "@belay/hooks/HookConfig"
 * import * as HookFiles from "@belay/hooks/HookFiles"
 *
 * declare const provider: LlmProvider
 * const { hooks, untrusted, warnings } = HookFiles.load({ toolNames: { run: "Bash" } })
 * for (const warning of warnings) console.warn(HookConfig.show(warning))
 * for (const { commands, project } of untrusted) console.warn(`${project} has ${commands.length} hooks that do not run`)
 * const agent = createAgent({ provider, hooks })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const load = (options: Options = {}): Loaded => {
  const { files, home = homedir(), sources: scopes, trust = join(home, ".belay", "trust"), ...rest } = options
  const cwd = resolve(options.cwd ?? process.cwd())
  const { sources, warnings } = Discovery.find({
    cwd,
    home,
    ...(scopes === undefined ? {} : { sources: scopes }),
    ...(files === undefined ? {} : { files })
  })
  const own = sources.filter(({ ofProject }) => !ofProject)
  const theirs = sources.filter(({ ofProject }) => ofProject)
  const silenced = own.some(({ config }) => config.disableAllHooks)
  const muted = silenced || theirs.some(({ config }) => config.disableAllHooks)
  const project = muted ? [] : theirs.flatMap(({ config }) => config.handlers)
  Result.getOrThrow(check(project.length === 0 ? undefined : cwd, trust))
  const store = Trust.folder(trust)
  const print = project.length === 0 ? "" : Trust.fingerprint(cwd, theirs)
  const trusted = project.length > 0 && store.isTrusted(cwd, print)
  const handlers = [...silenced ? [] : own.flatMap(({ config }) => config.handlers), ...trusted ? project : []]
  const ofProject = new Set(project)
  const changed = "files of the project changed since they were trusted"
  return {
    hooks: handlers.length === 0 ? [] : [
      ClaudeCode.make({
        ...rest,
        home,
        handlers,
        projectDir: cwd,
        refuse: (handler) => ofProject.has(handler) && Trust.fingerprint(cwd, theirs.map(Discovery.again)) !== print ? changed : undefined
      })
    ],
    warnings,
    untrusted: project.length === 0 || trusted ? [] : [{
      project: real(cwd),
      commands: project.map(({ command: { args, command }, event, file, key }) => ({
        event,
        file,
        key,
        command,
        ...(args === undefined ? {} : { args })
      })),
      fingerprint: print,
      trust: () => store.trust(cwd, print)
    }]
  }
}

const check = (cwd: string | undefined, trust: string): Result.Result<void, ConfigError> =>
  cwd !== undefined && (isInside(cwd, resolve(trust)) || isInside(real(cwd), real(resolve(trust))))
    ? Result.fail(
      new ConfigError({
        key: "hook-files.trust",
        message: `hook-files.trust: expected a folder outside of the project ${cwd}, found ${trust}`
      })
    )
    : Result.succeed(undefined)
