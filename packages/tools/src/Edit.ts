/**
 * Replaces a part of a file.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readFileSync, statSync } from "node:fs"
import { replaceFile } from "./internal/replaceFile.ts"
import { type FolderOptions, type Place, resolvePath, systemError } from "./internal/resolvePath.ts"
import { ToolError } from "./ToolError.ts"

const input = Schema.Struct({
  file_path: Schema.String.annotate({ description: "The file, absolute or relative to the working folder" }),
  old_string: Schema.String.annotate({ description: "The text to replace, with enough lines around it" }),
  new_string: Schema.String.annotate({ description: "The text to put there" }),
  replace_all: Schema.optionalKey(Schema.Boolean.annotate({ description: "Replace every occurrence" }))
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Edit.make`. @category models @since 0.1.0 */
export interface Options extends FolderOptions {
  /** The most bytes of a file before and after the change. Default 10,000,000. */
  readonly maxBytes?: number
}

const optionKinds: OptionKinds<Options> = { root: "text", exclude: "textList", maxBytes: "number" }

/**
 * Makes the tool `Edit`: `file_path`, `old_string`, `new_string`, and optionally `replace_all`. Without `replace_all`
 * the old text must occur exactly once. In a file with Windows line ends, line ends of the texts are converted. It is
 * destructive, and runs alone. Paths that leave the folder, also through symbolic links, and files that are not UTF-8
 * are errors. Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as Edit from "@belay/tools/Edit"
 *
 * const edit = Edit.make({ root: "src" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Edit", Args, Args> => {
  Result.getOrThrow(checkKinds("Edit", options, optionKinds))
  const { maxBytes = 10_000_000 } = options
  Result.getOrThrow(checkOptions("Edit", whole("maxBytes", maxBytes, 1, 1_000_000_000)))
  return defineTool({
    name: "Edit",
    description: "Replaces a text in a file. The old text must be exactly as in the file and occur exactly once, " +
      "unless replace_all is true.",
    input,
    destructive: true,
    exclusive: true,
    execute: Effect.fnUntraced(function*(change, { cwd }) {
      if (change.old_string === "") return yield* problem("arguments", "old_string is empty: use Write for a new file")
      if (change.old_string === change.new_string) {
        return yield* problem("arguments", "old_string and new_string are the same")
      }
      const place = yield* resolvePath("Edit", change.file_path, cwd, options)
      // Synchronous, so that no other call of this process can change the file between reading and writing.
      return yield* Effect.try({
        try: () => replaceIn(place, change, maxBytes),
        catch: (error) => systemError("Edit", place.shown, error)
      }).pipe(Effect.flatten)
    })
  })
}

const problem = (reason: ToolError["reason"], message: string): Effect.Effect<never, ToolError> =>
  Effect.fail(new ToolError({ tool: "Edit", reason, message }))

const replaceIn = (
  { path, shown }: Place,
  { new_string, old_string, replace_all = false }: Args,
  maxBytes: number
): Effect.Effect<string, ToolError> => {
  const stat = statSync(path)
  if (!stat.isFile()) return problem("content", `${shown} is not a file`)
  if (stat.size > maxBytes) return problem("limit", `${shown} has ${stat.size} bytes, at most ${maxBytes} are allowed`)
  const text = Result.getOrUndefined(Result.try(() => decode(readFileSync(path))))
  if (text === undefined) return problem("content", `${shown} is not a text in UTF-8`)
  const adapt = (part: string) =>
    text.includes("\r\n") && !text.includes(old_string) ? part.replaceAll(/\r?\n/g, "\r\n") : part
  const parts = text.split(adapt(old_string))
  const count = parts.length - 1
  if (count === 0) return problem("content", `${shown} does not contain old_string: read the file and copy it exactly`)
  if (count > 1 && !replace_all) {
    return problem(
      "content",
      `${shown} contains old_string ${count} times: add lines around it, or set replace_all to true`
    )
  }
  const added = adapt(new_string)
  // Checked first, because the text could be larger than memory.
  const length = text.length + count * (added.length - adapt(old_string).length)
  const changed = length > maxBytes ? undefined : parts.join(added)
  if (changed === undefined || Buffer.byteLength(changed) > maxBytes) {
    return problem("limit", `${shown} would have more than ${maxBytes} bytes`)
  }
  replaceFile(path, changed)
  return Effect.succeed(`replaced ${count} ${count === 1 ? "occurrence" : "occurrences"} in ${shown}`)
}

/** Keeps a byte order mark, and throws if the bytes are not UTF-8. */
const decode = (bytes: Buffer): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
