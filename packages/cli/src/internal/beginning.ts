/** Reads the beginning of a file. */
import * as Result from "effect/Result"
import { closeSync, constants, openSync, readSync } from "node:fs"

const maxScript = 262_144

/** Returns the beginning of a file as text. */
export const beginning = (path: string): string =>
  Result.getOrElse(
    Result.try(() => {
      const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      const buffer = Buffer.alloc(maxScript)
      const size = readSync(file, buffer, 0, maxScript, 0)
      closeSync(file)
      return buffer.toString("utf8", 0, size)
    }),
    () => ""
  )
