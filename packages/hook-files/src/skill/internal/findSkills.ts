/** Finds skills and reads their `SKILL.md`. It runs nothing. */
import * as Result from "effect/Result"
import { basename, dirname, join } from "node:path"
import type { Warning } from "../../dialect/claude/config/HookConfig.ts"
import { isInside, read, real, sha256 } from "../../internal/files.ts"
import { readSkill } from "./frontMatter.ts"
import { type SkillPlace, skillPlaces, type SkillWhere } from "./places.ts"
import type { Skill } from "./skill.ts"

/** The most bytes of a `SKILL.md`, and the most skills. */
const maxBytes = 262_144
const maxSkills = 500

/** The skills that were found, and what is wrong with others. */
export interface FoundSkills {
  readonly skills: ReadonlyArray<Skill>
  readonly warnings: ReadonlyArray<Warning>
}

/** Reads the skills of all places. Of two with one name, the first counts. */
export const findSkills = (where: SkillWhere): FoundSkills => {
  const skills = new Map<string, Skill>()
  const warnings: Array<Warning> = []
  const seen = new Set<string>()
  let tries = 0
  for (const place of skillPlaces(where)) {
    const path = join(place.root, "SKILL.md")
    const root = real(place.root)
    if (seen.has(root)) continue
    seen.add(root)
    if (tries >= maxSkills) {
      warnings.push({
        file: dirname(place.root),
        key: "",
        reason: `there are more than ${maxSkills} skills, and the others are not read: ` +
          "name the folders that you need with the option `folders`, or remove some"
      })
      break
    }
    const found = skillAt(place, path, where.cwd)
    if (found === undefined) continue
    tries++
    if ("reason" in found) {
      warnings.push(found)
      continue
    }
    const first = skills.get(found.name)
    if (first === undefined) skills.set(found.name, found)
    else if (first.body !== found.body || first.description !== found.description) {
      warnings.push({
        file: path,
        key: "name",
        reason: `is not used: ${first.path} has the name "${found.name}" too, and comes first`
      })
    }
  }
  return { skills: [...skills.values()].sort((a, b) => a.name < b.name ? -1 : 1), warnings }
}

const skillAt = (place: SkillPlace, path: string, cwd: string): Skill | Warning | undefined => {
  const { ofProject, plugin, root, scope, source } = place
  const content = read(path, maxBytes)
  if (content === "absent") return undefined
  const problem = (key: string, reason: string): Warning => ({ file: path, key, reason })
  if ("problem" in content) return problem("", `cannot be read: ${content.problem}`)
  // A project must not make skills of files elsewhere, and a link would change without a change of the skill.
  if (ofProject && isInside(cwd, root) && !isInside(real(cwd), real(root))) {
    return problem("", "is not used: its folder is a link that leads out of the project")
  }
  if (real(path) !== join(real(root), "SKILL.md")) return problem("", "is not used: it is a link")
  const said = readSkill(content.bytes.toString("utf8"), basename(root))
  if (Result.isFailure(said)) return problem(said.failure.key, `${said.failure.reason}, so the skill is not used`)
  const name = plugin === undefined ? said.success.name : `${plugin}:${said.success.name}`
  return { ...said.success, name, path, root, digest: sha256(content.bytes), scope, ofProject, source }
}
