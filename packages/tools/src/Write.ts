/**
 * Writes files.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { makeFolder } from "@belay/core/Folder"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import { replaceFile } from "./internal/replaceFile.ts"
import { type FolderOptions, resolvePath, systemError } from "./internal/resolvePath.ts"
import { ToolError } from "./ToolError.ts"

const input = Schema.Struct({
  file_path: Schema.String.annotate({ description: "The file, absolute or relative to the working folder" }),
  content: Schema.String.annotate({ description: "The whole new content" })
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Write.make`. @category models @since 0.1.0 */
export interface Options extends FolderOptions {
  /** The most characters of a file. Default 1,000,000. */
  readonly maxCharacters?: number
}

const optionKinds: OptionKinds<Options> = { root: "text", exclude: "textList", maxCharacters: "number" }

/**
 * Makes the tool `Write`: `file_path` and `content`. It creates the file and its folders, or replaces the whole file in
 * one step. It is destructive, and runs alone. Paths that leave the folder, also through symbolic links, are errors.
 * Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as Write from "@belay/tools/Write"
 *
 * const write = Write.make({ root: "output" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Write", Args, Args> => {
  Result.getOrThrow(checkKinds("Write", options, optionKinds))
  const { maxCharacters = 1_000_000 } = options
  Result.getOrThrow(checkOptions("Write", whole("maxCharacters", maxCharacters, 1, 100_000_000)))
  return defineTool({
    name: "Write",
    description: "Writes a file. Creates it, or replaces everything in it. To change a part of a file, use Edit.",
    input,
    destructive: true,
    idempotent: true,
    exclusive: true,
    execute: Effect.fnUntraced(function*({ content, file_path }, { cwd }) {
      const fail = (reason: ToolError["reason"], message: string) => new ToolError({ tool: "Write", reason, message })
      if (content.length > maxCharacters) {
        return yield* Effect.fail(
          fail("limit", `the content has ${content.length} characters, at most ${maxCharacters} are allowed`)
        )
      }
      const { path, shown } = yield* resolvePath("Write", file_path, cwd, options)
      return yield* Effect.try({
        try: () => {
          const before = statSync(path, { throwIfNoEntry: false })
          if (before !== undefined && !before.isFile()) return Effect.fail(fail("content", `${shown} is not a file`))
          makeFolder(dirname(path))
          replaceFile(path, content)
          return Effect.succeed(
            `${before === undefined ? "created" : "replaced"} ${shown}: ${content.length} characters`
          )
        },
        catch: (error) => systemError("Write", shown, error)
      }).pipe(Effect.flatten)
    })
  })
}
