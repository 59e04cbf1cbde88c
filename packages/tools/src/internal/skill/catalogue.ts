/** The catalogue of skills in the instructions: names and descriptions, within a number of tokens. */
import type { ReadySkill } from "@belay/hook-files/SkillFiles"

/** An estimate that holds for all models: words of English have about four letters a token. */
const lettersOfToken = 4

const head =
  "Skills are instructions for certain tasks. Before you do a task that a skill describes, call load_skill " +
  "with its name, and follow what it says."

/**
 * Writes the catalogue. It depends on nothing but the skills, so the beginning of every request stays the same. If it
 * is too long, all descriptions are cut to the same length, and then names are left out.
 */
export const catalogueOf = (skills: ReadonlyArray<ReadySkill>, maxTokens: number): string | undefined => {
  if (skills.length === 0) return undefined
  const most = maxTokens * lettersOfToken
  for (const length of [1_024, 400, 200, 100, 50]) {
    const text = write(skills.map(({ description, name }) => `- ${name}: ${cut(description, length)}`))
    if (text.length <= most) return text
  }
  const lines: Array<string> = []
  let size = head.length + 40
  for (const { name } of skills) {
    size += name.length + 3
    if (size > most) break
    lines.push(`- ${name}`)
  }
  const left = skills.length - lines.length
  return write(left === 0 ? lines : [...lines, `and ${left} more`])
}

const write = (lines: ReadonlyArray<string>): string => [head, ...lines].join("\n")

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed().trimEnd()}…`
