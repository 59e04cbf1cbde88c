/** The decisions of people about skills of a project. They are stored like those about hook files. */
import * as Result from "effect/Result"
import { join, relative } from "node:path"
import { real, sha256 } from "../../internal/files.ts"
import * as Changes from "../../trust/internal/changes.ts"
import type * as Covered from "../../trust/internal/covered.ts"
import * as Files from "../../trust/internal/files.ts"
import * as Remembered from "../../trust/internal/remembered.ts"
import type { Change } from "../../trust/Trust.ts"
import * as TrustStore from "../../trust/TrustStore.ts"
import type { Skill } from "./skill.ts"
import { type SkillTree, whyUncovered } from "./skillFolder.ts"

/** What is known about the trust of one skill. */
export interface SkillDecision {
  /** Whether a person has trusted the skill with exactly these files. */
  readonly isTrusted: (tree: SkillTree) => boolean
  readonly trust: (tree: SkillTree) => void
  /** What changed since a person trusted it. Undefined if nobody has. */
  readonly changes: (tree: SkillTree) => ReadonlyArray<Change> | undefined
}

/** Returns the decisions about a skill of the project in `cwd`, in the folder of decisions `folder`. */
export const decisionAbout = ({ root }: Pick<Skill, "root">, cwd: string, folder: string): SkillDecision => {
  const store = TrustStore.folder(folder)
  const place = relative(real(cwd), real(root)).replaceAll("\\", "/")
  // The store separates decisions by spaces and colons.
  const key = `skill-${sha256(place).slice(0, 32)}`
  const printOf = (tree: SkillTree) => `${key}:${sha256(JSON.stringify([real(cwd), place, [...tree]]))}`
  const coveredOf = (tree: SkillTree): Covered.Covered =>
    new Map([[
      key,
      new Map([...tree].map(([path, state]) => {
        const full = join(root, path)
        return [full, { real: full, state }]
      }))
    ]])
  return {
    isTrusted: (tree) => whyUncovered(tree) === undefined && store.isTrusted(cwd, printOf(tree)),
    trust: (tree) => {
      store.trust(cwd, printOf(tree))
      // The decision does not depend on it.
      Result.try(() => Remembered.write(folder, cwd, coveredOf(tree), Files.make(), () => undefined))
    },
    changes: (tree) => {
      const before = Remembered.read(folder, cwd)?.[key]
      return before === undefined ? undefined : Changes.between({ [key]: before }, coveredOf(tree), () => undefined)
    }
  }
}
