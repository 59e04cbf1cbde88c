/**
 * Keeps large tool results out of the context window: they are stored as artifacts, and the model reads a preview and a
 * reference.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { keyOf } from "@belay/core/Artifact"
import { defineTool, type Tool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, type Expectation, oneOf, optionsIn, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { removeOldArtifacts } from "./internal/offloadedArtifacts.ts"
import { type Limits, Offloader } from "./internal/offloader.ts"
import { readExcerpt } from "./internal/readExcerpt.ts"

/** How much of a result the model reads. @category models @since 0.1.0 */
export interface Bounds {
  /** Results with at most this number of tokens stay as they are. Default 2500. */
  readonly maxResultTokens?: number
  /**
   * How many tokens of a larger result the model reads: two thirds from its beginning, one third from its end. At most
   * `maxResultTokens`. Default 1000.
   */
  readonly previewTokens?: number
}

/** Options of `ResultOffloader.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Bounds {
  /**
   * Other limits for some tools, by name; `*` stands for any characters, and the first pattern that matches counts.
   * `false`: the results of the tool stay as they are. Default none.
   */
  readonly perTool?: { readonly [pattern: string]: Bounds | false }
  /**
   * How many more turns an artifact is kept; 0 removes it when the next turn begins. Default: as long as the
   * conversation.
   */
  readonly evictAfterTurns?: number
  /**
   * What happens to files inside of a result (`data:` URLs): they stay (`keep`), or they are stored as artifacts too
   * (`offload`). They do not count as tokens. Default `keep`.
   */
  readonly media?: "keep" | "offload"
  /**
   * The tool with which the model reads artifacts. The preview names it, and its own results stay as they are; `false`
   * names no tool. Default `read_artifact`.
   */
  readonly readTool?: string | false
  /** Counts tokens. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  perTool: optionsIn<Bounds>("table", { maxResultTokens: "number", previewTokens: "number" }),
  evictAfterTurns: "number",
  media: "text",
  readTool: ["text", "flag"],
  tokenizer: "object",
  maxResultTokens: "number",
  previewTokens: "number"
}

/**
 * Replaces a tool result of more than `maxResultTokens` tokens by its beginning, its end and a reference to the whole
 * result, which is stored as an artifact of the conversation: a text as it is, other values as JSON. The hook runs
 * after the hooks that change results. A result that cannot be stored is cut to `maxResultTokens`, with a note. Throws
 * a `ConfigError` for invalid limits.
 *
 * @example
 * ```ts
 * import * as ResultOffloader from "@belay/hooks/ResultOffloader"
 *
 * const tools = [ResultOffloader.readTool()]
 * const offloader = ResultOffloader.make({
 *   maxResultTokens: 4_000,
 *   perTool: { "search_*": { maxResultTokens: 1_000, previewTokens: 300 }, read_policy: false },
 *   evictAfterTurns: 5
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("result-offloader", options, optionKinds)
  const { evictAfterTurns, media = "keep", name = "result-offloader", perTool = {}, tokenizer = byLength } = options
  const { readTool: reader = "read_artifact" } = options
  Result.getOrThrow(checkOptions(
    name,
    ...checkBounds("", options, 2_500),
    ...Object.entries(perTool).flatMap(([pattern, bounds]) =>
      bounds === false ? [] : checkBounds(`perTool["${pattern}"].`, bounds, options.maxResultTokens ?? 2_500)
    ),
    whole("evictAfterTurns", evictAfterTurns),
    oneOf("media", media, ["keep", "offload"])
  ))
  const boundsOf = boundsByTool(options)
  const offloader = new Offloader(reader, media === "offload", tokenizer)
  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      priority: 5,
      postToolCall: (event, ctx) => {
        if (event.call.name === reader) return undefined
        const bounds = boundsOf(event.call.name)
        const result = bounds && offloader.offload(event, bounds, ctx)
        return result && Effect.map(result, HookAction.transform)
      },
      preTurn: evictAfterTurns === undefined
        ? undefined
        : ({ part }, ctx) => part === undefined ? removeOldArtifacts(evictAfterTurns, ctx) : undefined
    })
  )
}

/** Returns the limits of a tool; `undefined` when its results stay as they are. */
const boundsByTool = (options: Options) => {
  const patterns = Object.entries(options.perTool ?? {}).map(([pattern, bounds]) => ({
    matches: matcher(pattern),
    bounds
  }))
  return (tool: string): Limits | undefined => {
    const bounds = patterns.find(({ matches }) => matches(tool))?.bounds
    if (bounds === false) return undefined
    const maxResultTokens = bounds?.maxResultTokens ?? options.maxResultTokens ?? 2_500
    const previewTokens = bounds?.previewTokens ?? options.previewTokens ?? 1_000
    return { maxResultTokens, previewTokens: Math.min(previewTokens, maxResultTokens) }
  }
}

const checkBounds = (
  prefix: string,
  { maxResultTokens, previewTokens }: Bounds,
  fallback: number
): ReadonlyArray<Expectation> => [
  whole(`${prefix}maxResultTokens`, maxResultTokens, 1),
  whole(`${prefix}previewTokens`, previewTokens, 0, maxResultTokens ?? fallback)
]

/** The arguments of the tool that reads artifacts. @category models @since 0.1.0 */
export interface ReadArgs extends Schema.Schema.Type<typeof ReadArgs> {}
/** The schema of these arguments. @category schemas @since 0.1.0 */
export const ReadArgs = Schema.Struct({
  ref: Schema.String.annotate({ description: "the reference, such as <artifact:hook:offload/t1-0123456789abcd>" }),
  offset: Schema.optionalKey(Schema.Finite.annotate({ description: "the first character to read, counted from 0" })),
  length: Schema.optionalKey(Schema.Finite.annotate({ description: "how many characters to read" })),
  search: Schema.optionalKey(
    Schema.String.annotate({ description: "search for this text instead, ignoring case, from `offset` on" })
  )
})

/** Options of `ResultOffloader.readTool`. @category models @since 0.1.0 */
export interface ReadOptions<Name extends string = string> {
  /** The name of the tool. The hook's `readTool` must be the same. Default `read_artifact`. */
  readonly name?: Name
  /**
   * The keys of the artifacts that may be read, without `hook:`; `*` stands for any characters, a leading `!` excludes.
   * Default: the artifacts of this hook and of the runtime.
   */
  readonly keys?: ReadonlyArray<string>
  /** The most characters of one answer, at least 100. Without `length` half of it is read. Default 8000. */
  readonly maxLength?: number
}

/**
 * Makes the tool with which the model reads artifacts. It returns an excerpt and the offset of the next one, or the
 * matches of a search. It reads only the artifacts of its conversation that `keys` allow.
 *
 * @example
 * ```ts
 * import * as ResultOffloader from "@belay/hooks/ResultOffloader"
 *
 * const tool = ResultOffloader.readTool({ keys: ["offload/*", "report::*"], maxLength: 4_000 })
 * ```
 * @category tools
 * @since 0.1.0
 */
export const readTool = checked("ResultOffloader.readTool", ["options"], <const Name extends string = "read_artifact">(
  options: ReadOptions<Name> = {}
): Tool<Name, ReadArgs> => {
  const { keys = ["offload/*", "load/*", "injection/*"], maxLength = 8_000, name = "read_artifact" as Name } = options
  Result.getOrThrow(checkOptions(name, whole("maxLength", maxLength, 100)))
  const isReadable = matcher(keys)
  return defineTool({
    name,
    description:
      "Reads a result that was too long to be shown: an excerpt of it, or the places where a text is found in it.",
    input: ReadArgs,
    readOnly: true,
    idempotent: true,
    execute: ({ ref, ...request }, ctx) =>
      Effect.gen(function*() {
        const key = ref.length > 1_000 ? "" : keyOf(ref)
        const text = key.startsWith("hook:") && isReadable(key.slice("hook:".length))
          ? yield* ctx.artifacts.read(key)
          : undefined
        if (text === undefined) {
          return yield* Effect.fail(
            `there is no artifact ${JSON.stringify(ref.slice(0, 100))} to read; it may have been removed`
          )
        }
        return readExcerpt(text, request, maxLength)
      })
  })
})
