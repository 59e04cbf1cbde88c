/**
 * Lists files and folders.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { pathPattern } from "./internal/pathPattern.ts"
import { type FolderOptions, resolveExisting, shownPath } from "./internal/resolvePath.ts"
import { walkFiles } from "./internal/walkFiles.ts"

const input = Schema.Struct({
  pattern: Schema.String.annotate({ description: "A glob relative to path, such as * or **/*.ts" }),
  path: Schema.String.annotate({ description: "The folder, absolute or relative to the working folder: . is that one" })
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Glob.make`. @category models @since 0.1.0 */
export interface Options extends FolderOptions {
  /** The most paths of one call. Default 1,000. */
  readonly maxPaths?: number
}

const optionKinds: OptionKinds<Options> = { root: "text", exclude: "textList", maxPaths: "number" }

/**
 * Makes the tool `Glob`: `pattern` and `path`. It returns one path a line, in order, and folders end with `/`. It is
 * read-only. `.git` and `node_modules` are left out unless `path` is inside of them, and symbolic links are not
 * followed. It visits at most 200,000 entries; a note at the end says when something is missing. `path` is required, so
 * that permission rules always see it. Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as Glob from "@belay/tools/Glob"
 *
 * const glob = Glob.make({ root: "src" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Glob", Args, Args> => {
  Result.getOrThrow(checkKinds("Glob", options, optionKinds))
  const { maxPaths = 1_000 } = options
  Result.getOrThrow(checkOptions("Glob", whole("maxPaths", maxPaths, 1, 100_000)))
  return defineTool({
    name: "Glob",
    description:
      "Lists the files and folders whose paths match a glob. Use * to list one folder, **/* for all below it.",
    input,
    readOnly: true,
    execute: Effect.fnUntraced(function*({ path, pattern }, { cwd, signal }) {
      const matches = yield* Effect.fromResult(pathPattern("Glob", pattern, false))
      const place = yield* resolveExisting("Glob", path, cwd, options)
      return yield* Effect.promise(async () => {
        const found: Array<string> = []
        let note: string | undefined
        const entries = walkFiles(place.path, () => note = "[there are too many entries: search in a smaller folder]")
        for await (const entry of entries) {
          if (signal.aborted) break
          if (!matches(entry.path) || place.isExcluded(entry.path)) continue
          if (found.length === maxPaths) {
            note = `[there are more than ${maxPaths} paths: use a narrower glob]`
            break
          }
          found.push(`${shownPath(cwd, join(place.path, entry.path))}${entry.kind === "folder" ? "/" : ""}`)
        }
        return [...found, ...(note === undefined ? [] : [note])].join("\n") || "[nothing matches]"
      })
    })
  })
}
