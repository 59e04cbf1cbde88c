/**
 * Reads text files.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readLines } from "./internal/readLines.ts"
import { type FolderOptions, resolvePath } from "./internal/resolvePath.ts"

const input = Schema.Struct({
  file_path: Schema.String.annotate({ description: "The file, absolute or relative to the working folder" }),
  offset: Schema.optionalKey(Schema.Int.annotate({ description: "The first line to read, from 1" })),
  limit: Schema.optionalKey(Schema.Int.annotate({ description: "The number of lines to read" }))
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Read.make`. @category models @since 0.1.0 */
export interface Options extends FolderOptions {
  /** The most lines of one call. Default 2,000. */
  readonly maxLines?: number
  /** The most characters of one call. Default 100,000. */
  readonly maxCharacters?: number
}

const optionKinds: OptionKinds<Options> = {
  root: "text",
  exclude: "textList",
  maxLines: "number",
  maxCharacters: "number"
}

/**
 * Makes the tool `Read`: `file_path`, and optionally `offset` (the first line, from 1) and `limit` (the number of
 * lines). It is read-only. If it cannot show all lines, a note at the end says how to read the rest. Paths that leave
 * the folder, also through symbolic links, folders, devices and binary files are errors. Throws a `ConfigError` for a
 * wrong option.
 *
 * @example
 * ```ts
 * import * as Read from "@belay/tools/Read"
 *
 * const read = Read.make({ root: "docs", maxLines: 500 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Read", Args, Args> => {
  Result.getOrThrow(checkKinds("Read", options, optionKinds))
  const { maxCharacters = 100_000, maxLines = 2_000 } = options
  Result.getOrThrow(
    checkOptions("Read", whole("maxLines", maxLines, 1), whole("maxCharacters", maxCharacters, 1, 10_000_000))
  )
  return defineTool({
    name: "Read",
    description: "Reads a text file. Reads from the first line, or `limit` lines from line `offset` on.",
    input,
    readOnly: true,
    execute: Effect.fnUntraced(function*({ file_path, limit = maxLines, offset = 1 }, { cwd }) {
      const place = yield* resolvePath("Read", file_path, cwd, options)
      return yield* readLines(place, Math.max(1, offset), Math.min(Math.max(1, limit), maxLines), maxCharacters)
    })
  })
}
