/** Reads files of projects that nobody has vouched for: only regular ones, and never more than they may be. */
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs"
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path"

/** What is at a path: nothing, a text or why there is none. */
export type Content = { readonly bytes: Buffer; readonly mode: number } | "absent" | { readonly problem: string }

/** A pipe does not block, and what is looked at is what is read. */
export const read = (path: string, maxBytes: number): Content => {
  const opened = Result.try({
    try: () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
    catch: (error) => error
  })
  if (Result.isFailure(opened)) {
    const { code, message } = opened.failure as NodeJS.ErrnoException
    return code === "ENOENT" || code === "ENOTDIR" ? "absent" : { problem: message }
  }
  const content = Result.try({
    try: (): Content => {
      const { mode, mtimeMs, size, ...stat } = fstatSync(opened.success)
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) return { problem: "is no regular file" }
      if (size > maxBytes) return { problem: `is larger than ${maxBytes} bytes (${size} of ${mtimeMs}, ${stat.ino})` }
      return { bytes: readFileSync(opened.success), mode: mode & 0o777 }
    },
    catch: (error) => ({ problem: error instanceof Error ? error.message : String(error) })
  })
  closeSync(opened.success)
  return Result.merge(content)
}

/** The path behind links, also of what is not there yet. */
export const real = (path: string): string =>
  Result.getOrElse(
    Result.try(() => realpathSync.native(path)),
    () => dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  )

/** Whether a path is in a folder, or is the folder. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

export const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex")
