/** The folders in which tools keep skills. */
import { join } from "node:path"
import { enabledPlugins } from "../../dialect/claude/plugin/plugins.ts"
import { list } from "../../dialect/shared/system.ts"
import { isInside, real } from "../../internal/files.ts"
import type { Skill, SkillSystem } from "./skill.ts"

/** Where each system keeps skills: below the folder of the project, and below the home folder. */
const folders: { readonly [System in SkillSystem]: readonly [project: string, user: string] } = {
  agents: [".agents/skills", ".agents/skills"],
  claude: [".claude/skills", ".claude/skills"],
  codex: [".codex/skills", ".codex/skills"],
  copilot: [".github/skills", ".copilot/skills"],
  cursor: [".cursor/skills", ".cursor/skills"],
  factory: [".factory/skills", ".factory/skills"],
  gemini: [".gemini/skills", ".gemini/skills"],
  opencode: [".opencode/skills", ".config/opencode/skills"]
}

/** The names of all systems. */
export const skillSystems = Object.keys(folders) as ReadonlyArray<SkillSystem>

/** A folder that may have a `SKILL.md`. */
export interface SkillPlace extends Pick<Skill, "root" | "scope" | "ofProject" | "source"> {
  /** The name of the plugin, which is a part of the name of its skills. */
  readonly plugin?: string
}

/** Where to look. */
export interface SkillWhere {
  readonly cwd: string
  readonly home: string
  readonly managed: string
  readonly systems: ReadonlyArray<SkillSystem>
  /** More folders of skills, absolute. */
  readonly folders: ReadonlyArray<string>
}

/** Lists the places: those of the user before those of the project, so that a project cannot replace a user's skill. */
export const skillPlaces = (where: SkillWhere): ReadonlyArray<SkillPlace> => {
  const { cwd, home, systems } = where
  const atHome = real(cwd) === real(home)
  const isOfProject = (path: string) => !atHome && (isInside(cwd, path) || isInside(real(cwd), real(path)))
  const below = (folder: string, source: string, given: "user" | "project", plugin?: string) =>
    list(folder).map((name): SkillPlace => {
      const root = join(folder, name)
      const ofProject = !atHome && (given === "project" || isOfProject(root))
      return {
        root,
        source,
        ofProject,
        scope: ofProject ? "project" : "user",
        ...(plugin === undefined ? {} : { plugin })
      }
    })
  const named = where.folders.flatMap((folder) => below(folder, folder, isOfProject(folder) ? "project" : "user"))
  const ofUser = systems.flatMap((system) => below(join(home, folders[system][1]), system, "user"))
  const plugins = !systems.includes("claude")
    ? []
    : enabledPlugins(where).flatMap(({ name, root, scope }) =>
      root === undefined || !/^[\w.-]{1,64}$/.test(name)
        ? []
        : below(join(root, "skills"), `plugin ${name}`, scope === "project" ? "project" : "user", name)
    )
  const ofProject = atHome ? [] : systems.flatMap((system) => below(join(cwd, folders[system][0]), system, "project"))
  return [...named, ...ofUser, ...plugins, ...ofProject].sort((a, b) => Number(a.ofProject) - Number(b.ofProject))
}
