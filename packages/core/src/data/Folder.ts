/**
 * Makes folders.
 *
 * @since 0.2.0
 */
import * as Result from "effect/Result"

/**
 * Makes a folder and those above it that are missing. Throws the error of Node if one cannot be made. The option
 * `recursive` of Node would try for ever where no folder can be made, for example below `/proc`, or on a network disk
 * that is away.
 *
 * @example
 * ```ts
 * import { makeFolder } from "@belay/core/Folder"
 *
 * makeFolder("data/answers", 0o700)
 * ```
 * @category operations
 * @since 0.2.0
 */
export const makeFolder = (path: string, mode = 0o777): void => {
  // Programs of runtimes without these modules do not call this.
  const files = process.getBuiltinModule("node:fs")
  const paths = process.getBuiltinModule("node:path")
  if (files.existsSync(path)) return
  const above = paths.dirname(path)
  if (above !== path) makeFolder(above, mode)
  const made = Result.try(() => files.mkdirSync(path, { mode }))
  // Another process may have made it.
  if (!files.existsSync(path)) Result.getOrThrow(made)
}
