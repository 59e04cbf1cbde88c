/** The versions of packages that a program has installed. */
import * as Result from "effect/Result"

/**
 * Returns the version of a package in a `node_modules` folder around a file. Returns undefined where it cannot be
 * known: in a bundle, in a browser, or if the package is somewhere else.
 */
export const installed = (name: string, from: string = import.meta.url): string | undefined => {
  const read = Result.try(() => {
    const { existsSync, readFileSync } = process.getBuiltinModule("node:fs")
    const folders = process.getBuiltinModule("node:module").createRequire(from).resolve.paths(name) ?? []
    const file = folders.map((folder) => `${folder}/${name}/package.json`).find((path) => existsSync(path))
    const { version } = Object(file === undefined ? {} : JSON.parse(readFileSync(file, "utf8"))) as {
      readonly version?: unknown
    }
    return typeof version === "string" ? version : undefined
  })
  return Result.isSuccess(read) ? read.success : undefined
}
