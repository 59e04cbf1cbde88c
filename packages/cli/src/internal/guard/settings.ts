/** Where the settings of a system are, and which command its entries call. */
import { makeFolder } from "@belay/core/Folder"
import type { Wire } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { usageError } from "../flags.ts"
import type { Usage } from "../usage.ts"
import { messageOf } from "./run/refusal.ts"

/** The settings of a project or of a user. */
export const fileOf = (wire: Wire, scope: "project" | "user", folder: string): string =>
  join(folder, wire.settings[scope])

/** Returns the text of a file without a byte order mark, or an empty text if there is none. */
export const textOf = (path: string): Result.Result<string, Usage> =>
  Result.orElse(
    Result.try({ try: () => readFileSync(path, "utf8").replace(/^\uFEFF/, ""), catch: (error) => error }),
    (error) =>
      Object(error).code === "ENOENT"
        ? Result.succeed("")
        : Result.fail(usageError(`${path} cannot be read: ${messageOf(error)}`))
  )

/** Writes a file at once, so that an agent that starts at this moment reads all of it or nothing new. */
export const write = (path: string, text: string | undefined): Result.Result<void, Usage> =>
  Result.try({
    try: () => {
      const target = targetOf(path)
      if (text === undefined && target === path) return rmSync(path, { force: true })
      const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o644
      makeFolder(dirname(target))
      const temporary = `${target}.${process.pid}.tmp`
      writeFileSync(temporary, `${hasMark(target) ? "\uFEFF" : ""}${text ?? "{}\n"}`, { mode })
      renameSync(temporary, target)
    },
    catch: (error) => usageError(`${path} cannot be written: ${messageOf(error)}`)
  })

/** What a symbolic link points to, also if that does not exist. The link stays. */
const targetOf = (path: string): string => {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? targetOf(resolve(dirname(path), readlinkSync(path))) : path
}

const hasMark = (file: string): boolean => existsSync(file) && readFileSync(file, "utf8").startsWith("\uFEFF")

/** How a shell starts this program: `belay`, if the search path leads to it. */
export const programOf = (path: string): string => {
  const own = fileURLToPath(new URL("../../../bin/belay.mjs", import.meta.url))
  const named = path.split(delimiter).map((folder) => join(folder, "belay")).find((one) => existsSync(one))
  if (named !== undefined && realpathSync(named) === realpathSync(own)) return "belay"
  const quick = fileURLToPath(new URL("../../../bin/guard.cjs", import.meta.url))
  // Only the workspace has this file.
  const isWorkspace = existsSync(fileURLToPath(new URL("../../../tsconfig.build.json", import.meta.url)))
  return [process.execPath, isWorkspace ? own : quick].map((word) => JSON.stringify(word)).join(" ")
}
