/** Compiles the globs of a model. */
import * as Result from "effect/Result"
import { Minimatch } from "minimatch"
import { ToolError } from "../ToolError.ts"

const maxLength = 1_000

/** A compiled glob. A glob without `/` fits a name in any folder if `anywhere` is set. */
export const pathPattern = (
  tool: string,
  glob: string,
  anywhere: boolean
): Result.Result<(path: string) => boolean, ToolError> => {
  const invalid = (message: string) => Result.fail(new ToolError({ tool, reason: "arguments", message }))
  if (glob.length > maxLength) return invalid(`the glob has more than ${maxLength} characters`)
  if (glob.startsWith("/") || glob.split("/").includes("..")) {
    return invalid(`the glob ${glob} must be relative to path: pass the folder as path`)
  }
  const options = { dot: true, matchBase: anywhere, nocomment: true, nonegate: true, braceExpandMax: 1_000 }
  return Result.mapError(
    Result.try(() => {
      const compiled = new Minimatch(glob.replace(/^\.\//, ""), { ...options, maxGlobstarRecursion: 20 })
      return (path: string) => compiled.match(path)
    }),
    () => new ToolError({ tool, reason: "arguments", message: `the glob ${glob.slice(0, 100)} is not valid` })
  )
}
