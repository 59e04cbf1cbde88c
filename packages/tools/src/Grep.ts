/**
 * Searches in files.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Pattern from "@belay/hooks/Pattern"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pathPattern } from "./internal/pathPattern.ts"
import { type FolderOptions, resolveExisting } from "./internal/resolvePath.ts"
import { type Mode, searchFiles } from "./internal/searchFiles.ts"
import { ToolError } from "./ToolError.ts"

const input = Schema.Struct({
  pattern: Schema.String.annotate({ description: "A regular expression in the syntax of RE2: no lookaround" }),
  path: Schema.String.annotate({
    description: "A file or folder, absolute or relative to the working folder: . is that one"
  }),
  glob: Schema.optionalKey(Schema.String.annotate({ description: "Only files that match it, such as *.ts or src/**" })),
  output_mode: Schema.optionalKey(
    Schema.Literals(["content", "files_with_matches", "count"]).annotate({
      description: "What to show: the lines (default), the files, or the number of lines for each file"
    })
  ),
  "-i": Schema.optionalKey(Schema.Boolean.annotate({ description: "Ignore upper and lower case" })),
  head_limit: Schema.optionalKey(Schema.Int.annotate({ description: "The most lines to show" }))
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/** Options of `Grep.make`. @category models @since 0.1.0 */
export interface Options extends FolderOptions {
  /** The most lines of an answer. Default 500. */
  readonly maxLines?: number
  /** The most milliseconds of a search. Default 20,000. */
  readonly timeoutMs?: number
}

const maxPatternLength = 1_000

const optionKinds: OptionKinds<Options> = { root: "text", exclude: "textList", maxLines: "number", timeoutMs: "number" }

/**
 * Makes the tool `Grep`: `pattern` and `path`, and optionally `glob`, `output_mode`, `-i` and `head_limit`. Lines are
 * shown as `file:line:text`. It is read-only. Patterns take linear time (RE2). Binary files, files of more than 5 MB,
 * `.git`, `node_modules` and symbolic links are left out; a note at the end says when the search ended early. Throws a
 * `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import * as Grep from "@belay/tools/Grep"
 *
 * const grep = Grep.make({ root: "src", maxLines: 100 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"Grep", Args, Args> => {
  Result.getOrThrow(checkKinds("Grep", options, optionKinds))
  const { maxLines = 500, timeoutMs = 20_000 } = options
  Result.getOrThrow(
    checkOptions("Grep", whole("maxLines", maxLines, 1, 100_000), whole("timeoutMs", timeoutMs, 1, 3_600_000))
  )
  return defineTool({
    name: "Grep",
    description: "Searches for a regular expression in a file, or in all files below a folder.",
    input,
    readOnly: true,
    execute: Effect.fnUntraced(function*(args, { cwd, signal }) {
      const matches = yield* Effect.fromResult(linePattern(args))
      const isWanted = args.glob === undefined
        ? () => true
        : yield* Effect.fromResult(pathPattern("Grep", args.glob, true))
      const place = yield* resolveExisting("Grep", args.path, cwd, options)
      const mode: Mode = args.output_mode ?? "content"
      const limit = Math.min(Math.max(1, args.head_limit ?? maxLines), maxLines)
      return yield* Effect.promise(() => searchFiles({ place, cwd, matches, isWanted, mode, limit, signal, timeoutMs }))
    })
  })
}

const linePattern = (args: Args): Result.Result<(text: string) => boolean, ToolError> => {
  const invalid = (message: string) => new ToolError({ tool: "Grep", reason: "arguments", message })
  const { "-i": ignoreCase = false, pattern } = args
  if (pattern === "") return Result.fail(invalid("the pattern is empty"))
  if (pattern.length > maxPatternLength) {
    return Result.fail(invalid(`the pattern has more than ${maxPatternLength} characters`))
  }
  return Pattern.compile([ignoreCase ? `(?i)${pattern}` : pattern], "Grep.pattern").pipe(
    Result.map(({ test }) => test),
    Result.mapError(({ message }) => invalid(message))
  )
}
