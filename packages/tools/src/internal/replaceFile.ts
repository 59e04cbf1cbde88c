/** Replaces the content of a file in one step, so that a stopped process leaves the old or the new content. */
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"

/**
 * Writes beside the file, then renames. The file keeps its permissions. It is synchronous, so that no other call can
 * change the file meanwhile.
 */
export const replaceFile = (path: string, content: string): void => {
  const temporary = `${path}.${randomUUID()}.tmp`
  const before = statSync(path, { throwIfNoEntry: false })
  const written = Result.try(() => {
    writeFileSync(temporary, content, { flag: "wx", ...(before === undefined ? {} : { mode: before.mode }) })
    if (before !== undefined) chmodSync(temporary, before.mode)
    renameSync(temporary, path)
  })
  if (Result.isFailure(written)) rmSync(temporary, { force: true })
  Result.getOrThrow(written)
}
