/**
 * Finds skills (folders with a `SKILL.md`) where other tools keep them, and decides which may be used.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import { checkKinds, checkOptions, type OptionKinds } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { join, relative, resolve } from "node:path"
import type { Warning } from "../dialect/claude/config/HookConfig.ts"
import { isInside, real } from "../internal/files.ts"
import { managedFolder } from "../internal/managedFolder.ts"
import type { Change } from "../trust/Trust.ts"
import { findSkills } from "./internal/findSkills.ts"
import { withoutHidden } from "./internal/hidden.ts"
import { skillSystems } from "./internal/places.ts"
import type { Skill, SkillSystem } from "./internal/skill.ts"
import {
  makeReader,
  readResource,
  type Resource,
  resourcesOf,
  type SkillTree,
  whyUncovered
} from "./internal/skillFolder.ts"
import { decisionAbout } from "./internal/skillTrust.ts"

export type { Skill, SkillSystem } from "./internal/skill.ts"
export type { Resource } from "./internal/skillFolder.ts"

/** Options of `SkillFiles.load`. @category models @since 0.2.0 */
export interface Options {
  /** The folder of the project. Default: the current folder of the process. */
  readonly cwd?: string
  /** The user's home folder. Default: that of the user who runs the process. */
  readonly home?: string
  /** The folder of Claude Code's managed settings, which can enable plugins. Default: the one that it uses. */
  readonly managed?: string
  /**
   * The systems whose folders are searched, in the project and in the home folder: `agents` (`.agents/skills`),
   * `claude` (also the plugins that its settings enable), `codex`, `copilot` (`.github/skills`, `~/.copilot/skills`),
   * `cursor`, `factory`, `gemini`, `opencode`. Default: all.
   */
  readonly systems?: ReadonlyArray<SkillSystem>
  /** More folders whose subfolders are skills, absolute or relative to `cwd`. Default: none. */
  readonly folders?: ReadonlyArray<string>
  /**
   * The folder in which decisions about trust are stored. It must be outside of the project. Default `~/.belay/trust`.
   */
  readonly trust?: string
}

/**
 * The kinds of the options, for functions that take them together with their own.
 *
 * @category models
 * @since 0.2.0
 */
export const optionKinds: OptionKinds<Options> = {
  cwd: "text",
  home: "text",
  managed: "text",
  systems: "textList",
  folders: "textList",
  trust: "text"
}

/** A skill that may be used. @category models @since 0.2.0 */
export interface ReadySkill extends Skill {
  /** Returns why it must not be used now, because its files are no longer those that a person trusted. */
  readonly refuse: () => string | undefined
  /** Lists the paths of its files, without the `SKILL.md`. */
  readonly resources: () => ReadonlyArray<string>
  /**
   * Reads one of them: a text of at most 256 KiB, never through a link. Of a skill of a project, only what was trusted.
   */
  readonly read: (path: string) => Resource
  /** The text below the front matter, without invisible characters. */
  readonly text: string
}

/** A skill of the project that nobody has trusted in its current state. @category models @since 0.2.0 */
export interface UntrustedSkill {
  readonly skill: Skill
  /** Its files, by their path in the folder, with their execute bits and SHA-256. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly state: string }>
  /** Why it can never be trusted as it is. */
  readonly problem?: string
  /** Stores the decision that it may be used with exactly these files. Call `load` again to get it. */
  readonly trust: () => void
  /** Reads what changed since a person trusted it. Returns nothing if nobody has. */
  readonly changes: () => ReadonlyArray<Change> | undefined
}

/** The result of `load`. @category models @since 0.2.0 */
export interface Loaded {
  /** The skills that may be used, sorted by name. */
  readonly skills: ReadonlyArray<ReadySkill>
  readonly untrusted: ReadonlyArray<UntrustedSkill>
  /** Files that are not used, and why. */
  readonly warnings: ReadonlyArray<Warning>
}

/**
 * Finds the skills of the user, of plugins and of the project. Those of the project may be used only if a person has
 * trusted all of their files (`belay skills trust`); a change of one of them takes the trust away. Of two skills with
 * one name, the user's counts. At most 500 skills are read. Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as SkillFiles from "@belay/hook-files/SkillFiles"
 *
 * const { skills, untrusted } = SkillFiles.load({ cwd: "/srv/app", home: "/srv/ada", systems: ["agents", "claude"] })
 * const names = skills.map(({ name }) => name)
 * for (const { skill } of untrusted) console.warn(`${skill.path} is not used: run \`belay skills trust\``)
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const load = (options: Options = {}): Loaded => {
  Result.getOrThrow(checkKinds("SkillFiles.load", options, optionKinds))
  const { folders = [], home = homedir(), managed = managedFolder(), systems = skillSystems } = options
  Result.getOrThrow(checkOptions("SkillFiles.load", [
    "systems",
    systems,
    (names: ReadonlyArray<string>) => names.every((name) => skillSystems.some((known) => known === name)),
    `names of ${skillSystems.join(", ")}`
  ]))
  const cwd = resolve(options.cwd ?? process.cwd())
  const trust = resolve(options.trust ?? join(home, ".belay", "trust"))
  const where = { cwd, home: resolve(home), managed, systems, folders: folders.map((one) => resolve(cwd, one)) }
  const found = findSkills(where)
  if (found.skills.some(({ ofProject }) => ofProject)) Result.getOrThrow(outside(cwd, trust))
  const skills: Array<ReadySkill> = []
  const untrusted: Array<UntrustedSkill> = []
  for (const skill of found.skills) {
    const look = makeReader(skill.root)
    if (!skill.ofProject) {
      skills.push(ready(skill, look, undefined))
      continue
    }
    const decision = decisionAbout(skill, cwd, trust)
    const tree = look()
    // What was read is what was trusted, also if the file changed in between.
    if (decision.isTrusted(tree) && tree.get("SKILL.md")?.endsWith(skill.digest) === true) {
      skills.push(ready(skill, look, tree))
      continue
    }
    untrusted.push({
      skill,
      files: [...tree].map(([path, state]) => ({ path, state })),
      ...defined({ problem: whyUncovered(tree) }),
      trust: () => decision.trust(tree),
      changes: () => decision.changes(tree)
    })
  }
  return { skills, untrusted, warnings: found.warnings }
}

/** With `trusted`, only the files in this state may be used. */
const ready = (skill: Skill, look: () => SkillTree, trusted: SkillTree | undefined): ReadySkill => {
  const changed = (): string | undefined => {
    if (trusted === undefined) return undefined
    const now = look()
    return [...new Set([...trusted.keys(), ...now.keys()])].find((path) => trusted.get(path) !== now.get(path))
  }
  const refuse = () => {
    const path = changed()
    return path === undefined
      ? undefined
      : `the skill ${skill.name} changed since it was trusted (${
        withoutHidden(path).slice(0, 200)
      }): review it, and run \`belay skills trust\``
  }
  return {
    ...skill,
    text: withoutHidden(skill.body).trim(),
    refuse,
    resources: () => resourcesOf(trusted ?? look()),
    read: (path) => {
      const problem = refuse()
      return problem === undefined ? readResource(skill.root, path, trusted ?? look()) : { problem }
    }
  }
}

const outside = (cwd: string, trust: string): Result.Result<void, ConfigError> =>
  isInside(cwd, trust) || isInside(real(cwd), real(trust))
    ? Result.fail(
      new ConfigError({
        key: "SkillFiles.trust",
        message: `SkillFiles.trust: expected a folder outside of the project ${cwd}, found ${trust}`
      })
    )
    : Result.succeed(undefined)

/** A file of a skill. @category models @since 0.2.0 */
export interface SkillFile {
  /** Its path in the folder of the skill. */
  readonly path: string
  /** Its execute bits and SHA-256, such as `755 9f86…`; or what it is, if it was not read. */
  readonly state: string
  /** Its text. Absent for links, files of more than 256 KiB, and files with bytes that are not text. */
  readonly text?: string
}

/**
 * Reads all files of a skill, also of one that nobody has trusted, to show them to a person or to check them.
 *
 * @category reading
 * @since 0.2.0
 */
export const filesOf = checked(
  "SkillFiles.filesOf",
  ["skill"],
  ({ root }: Pick<Skill, "root">): ReadonlyArray<SkillFile> => {
    const tree = makeReader(root)()
    return [...tree].map(([path, state]) => {
      const read = readResource(root, path, tree)
      return "text" in read ? { path, state, text: read.text } : { path, state }
    })
  }
)

/**
 * Returns the path of a skill's folder: relative to the working folder, if it is in it.
 *
 * @category reading
 * @since 0.2.0
 */
export const folderOf = checked(
  "SkillFiles.folderOf",
  ["skill", "cwd"],
  ({ root }: Pick<Skill, "root">, cwd: string): string => {
    const short = relative(cwd, root)
    return (short === "" || short.startsWith("..") ? root : short).replaceAll("\\", "/")
  }
)
