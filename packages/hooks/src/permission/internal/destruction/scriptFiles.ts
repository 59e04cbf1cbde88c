/** Searches the scripts that a line runs, if they can be read now. */
import type { Place } from "../pathSpellings.ts"
import { readText } from "../scriptTexts.ts"
import { decompose, type Decomposed } from "../shell/decompose.ts"
import { findDestructions, type FoundDestruction } from "./destructive.ts"
import { destructiveStatement, sqlFilesOf } from "./sql.ts"

const maxDepth = 3

/** What the scripts of a line destroy, and why it cannot be known. */
export interface ScriptFindings {
  readonly found: ReadonlyArray<FoundDestruction>
  readonly unknown: string | undefined
}

/** Reads the shell scripts and SQL files that a line runs. A shell script that does not exist does nothing. */
export const findInScripts = (line: Decomposed, place: Place, depth = 0): ScriptFindings => {
  const found: Array<FoundDestruction> = []
  let unknown: string | undefined
  if (depth >= maxDepth) return { found, unknown }
  for (const path of sqlFilesOf(line)) {
    const text = readText(path, line, place)
    const statement = text === undefined ? undefined : destructiveStatement(text)
    if (text === undefined) unknown ??= `it runs statements from ${path}, which cannot be read`
    if (statement !== undefined) found.push(["sql-drop", statement])
  }
  for (const { path, type } of line.scripts) {
    if (type === "code") continue
    const text = readText(path, line, place)
    if (text === undefined || (type === "program" && !/^#!.*sh\b/.test(text))) continue
    const inner = decompose(text)
    found.push(...findDestructions(inner, text), ...findInScripts(inner, place, depth + 1).found)
  }
  return { found, unknown }
}
