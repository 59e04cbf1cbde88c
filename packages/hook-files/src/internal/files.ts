/** Reads files of projects that nobody has vouched for: only regular ones, and never more than they may be. */
import { makeFolder } from "@belay/core/Folder"
import * as Result from "effect/Result"
import { hash, randomUUID } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  writeFileSync
} from "node:fs"
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
      return { bytes: bytesOf(opened.success, size), mode: mode & 0o777 }
    },
    catch: (error) => ({ problem: error instanceof Error ? error.message : String(error) })
  })
  closeSync(opened.success)
  return Result.merge(content)
}

/** Files of `/proc` have no size. */
const bytesOf = (fd: number, size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const more = readSync(fd, bytes, length, size - length, null)
    if (more === 0) break
    length += more
  }
  return size === 0 ? readFileSync(fd) : bytes.subarray(0, length)
}

/** The path behind links, also of what is not there yet. */
export const real = (path: string): string =>
  Result.getOrElse(
    Result.try(() => realpathSync.native(path)),
    () => dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  )

/** Whether a path is in a folder, or is the folder. */
export const isInside = (folder: string, path: string): boolean => {
  // Thousands of paths are compared, and most are plain.
  if (path.startsWith(folder) && path[folder.length] === sep && !path.includes("..")) return true
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

export const sha256 = (content: string | Buffer): string => hash("sha256", content, "hex")

/** Writes a file that only its owner can read, at once. */
export const write = (path: string, text: string): void => {
  const temporary = `${path}.${randomUUID()}.tmp`
  makeFolder(dirname(path), 0o700)
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, path)
}
