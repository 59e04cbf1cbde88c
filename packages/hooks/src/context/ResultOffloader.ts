/**
 * Keeps large tool results out of the context window: they are stored as artifacts, and the model reads a preview and a
 * reference.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { keyOf } from "@belay/core/Artifact"
import { defineTool, type Tool } from "@belay/core/defineTool"
import { messageOf } from "@belay/core/ErrorMessage"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { ContentPart, type FilePart } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, type Expectation, oneOf, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import { failure, type PostToolCallEvent, success, type ToolResult } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import * as Excerpt from "./internal/excerpt.ts"
import { removeOldArtifacts, writeArtifact } from "./internal/offloadedArtifacts.ts"
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
   * For how many turns after its own an artifact is kept; 0 removes it when the next turn begins. Default: as long as the
   * conversation.
   */
  readonly evictAfterTurns?: number
  /**
   * Whether files inside of a result (`data:` URLs) stay in it (`keep`) or are stored as artifacts too (`offload`). They
   * do not count as tokens. Default `keep`.
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

/**
 * Replaces a tool result of more than `maxResultTokens` tokens by its beginning, its end and a reference to the whole
 * result, which is stored as an artifact of the conversation: a text as it is, other values as JSON. The hook runs after
 * the hooks that change results. A result that cannot be stored is cut to `maxResultTokens`, with a note. Throws a
 * `ConfigError` for invalid limits.
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
        : (_input, ctx) => removeOldArtifacts(evictAfterTurns, ctx)
    })
  )
}

/** Returns the limits of a tool; `undefined` when its results stay as they are. */
const boundsByTool = (options: Options) => {
  const patterns = Object.entries(options.perTool ?? {}).map(([pattern, bounds]) => ({
    matches: matcher(pattern),
    bounds
  }))
  return (tool: string): Required<Bounds> | undefined => {
    const bounds = patterns.find(({ matches }) => matches(tool))?.bounds
    if (bounds === false) return undefined
    const maxResultTokens = bounds?.maxResultTokens ?? options.maxResultTokens ?? 2_500
    const previewTokens = bounds?.previewTokens ?? options.previewTokens ?? 1_000
    return { maxResultTokens, previewTokens: Math.min(previewTokens, maxResultTokens) }
  }
}

/** Stores results and replaces them. A class: its methods share the options. */
class Offloader {
  private readonly reader: string | false
  private readonly offloadsFiles: boolean
  private readonly tokenizer: Tokenizer

  constructor(reader: string | false, offloadsFiles: boolean, tokenizer: Tokenizer) {
    this.reader = reader
    this.offloadsFiles = offloadsFiles
    this.tokenizer = tokenizer
  }

  /** Returns the result that replaces a long one; `undefined` when the result stays as it is. */
  offload(event: PostToolCallEvent, bounds: Required<Bounds>, ctx: HookContext): Effect.Effect<ToolResult> | undefined {
    const { result } = event
    const output = result.ok ? result.output : result.error
    const parts = isParts(output) ? output : undefined
    const text = textOf(output, parts)
    const tokens = this.tokenizer.count(text)
    const isText = typeof output === "string" || parts !== undefined
    const mimeType = isText ? "text/plain" : "application/json"
    const preview = tokens > bounds.maxResultTokens
      ? this.offloadText({ text, tokens, mimeType }, bounds, event, ctx)
      : undefined
    if (parts !== undefined) return this.offloadParts(parts, preview, event, ctx)
    return preview && Effect.map(preview, (shown) => result.ok ? success(shown) : failure(shown))
  }

  /** Stores a text and returns its preview. A text that cannot be stored is cut. */
  private offloadText(
    { mimeType, text, tokens }: { readonly text: string; readonly tokens: number; readonly mimeType: string },
    bounds: Required<Bounds>,
    { call }: PostToolCallEvent,
    ctx: HookContext
  ): Effect.Effect<string> {
    const about = `${call.name} is too long to be read at once: ${text.length} characters, about ${tokens} tokens.`
    return writeArtifact({ text, mimeType, toolCallId: call.id, part: "text" }, ctx).pipe(
      Effect.map(({ ref }) => {
        if (ctx.events.active) {
          ctx.events.emit("result-offloaded", { tool: call.name, ref, tokens, characters: text.length })
        }
        const how = this.reader === false ? "" : `; read on with ${this.reader}`
        const preview = shorten(text, bounds.previewTokens, this.tokenizer)
        return `${preview}\n\n[This result of ${about} All of it is ${ref}${how}.]`
      }),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.sync(() => {
          ctx.warn(`a result of ${call.name} could not be stored, and was cut: ${messageOf(Cause.squash(cause))}`)
          const start = shorten(text, bounds.maxResultTokens, this.tokenizer)
          return `${start}\n\n[This result of ${about} It could not be stored: what was left out is lost.]`
        })
      )
    )
  }

  /** Replaces the texts of a content by their preview, and files by references. */
  private offloadParts(
    parts: ReadonlyArray<ContentPart>,
    preview: Effect.Effect<string> | undefined,
    event: PostToolCallEvent,
    ctx: HookContext
  ): Effect.Effect<ToolResult> | undefined {
    const isOffloaded = (part: ContentPart): part is FilePart =>
      this.offloadsFiles && part.type === "file" && part.url.startsWith("data:")
    if (preview === undefined && !parts.some(isOffloaded)) return undefined
    return Effect.gen(function*() {
      const texts: ReadonlyArray<Json> = preview === undefined ? [] : [{ type: "text", text: yield* preview }]
      const rest = parts.filter(({ type }) => preview === undefined || type === "file")
      const files = yield* Effect.forEach(
        rest,
        (part, index): Effect.Effect<Json> =>
          isOffloaded(part) ? offloadFile(part, index, event, ctx) : Effect.succeed({ ...part }),
        { concurrency: "unbounded" }
      )
      return success([...texts, ...files])
    })
  }
}

/** Stores a file and returns the reference that replaces it. A file that cannot be stored stays. */
const offloadFile = (
  part: FilePart,
  index: number,
  { call }: PostToolCallEvent,
  ctx: HookContext
): Effect.Effect<Json> =>
  writeArtifact({ text: part.url, mimeType: part.mediaType, toolCallId: call.id, part: `file-${index}` }, ctx).pipe(
    Effect.map(({ ref }): Json => ({
      type: "text",
      text: `[A file of type ${part.mediaType} was here. It is ${ref}.]`
    })),
    Effect.catchCause((cause) =>
      Effect.sync((): Json => {
        const problem = messageOf(Cause.squash(cause))
        ctx.warn(`a file of ${call.name} could not be stored, and stays in the result: ${problem}`)
        return { ...part }
      })
    )
  )

const isParts = Schema.is(Schema.NonEmptyArray(ContentPart))

const textOf = (output: Json, parts: ReadonlyArray<ContentPart> | undefined): string => {
  if (typeof output === "string") return output
  if (parts === undefined) return JSON.stringify(output)
  return parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n")
}

const checkBounds = (
  prefix: string,
  { maxResultTokens, previewTokens }: Bounds,
  fallback: number
): ReadonlyArray<Expectation> => [
  whole(`${prefix}maxResultTokens`, maxResultTokens, 1),
  whole(`${prefix}previewTokens`, previewTokens, 0, maxResultTokens ?? fallback)
]

/** The beginning and the end of a text, and between them how much is left out. */
const shorten = (text: string, tokens: number, tokenizer: Tokenizer): string => {
  const endTokens = Math.floor(tokens / 3)
  const start = Excerpt.head(text, tokens - endTokens, tokenizer)
  const end = Excerpt.tail(text.slice(start.length), endTokens, tokenizer)
  return `${start}\n\n[... ${text.length - start.length - end.length} characters left out ...]\n\n${end}`
}

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
export const readTool = <const Name extends string = "read_artifact">(
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
          ? yield* Effect.tryPromise({ try: () => ctx.artifacts.read(key), catch: (error) => error })
          : undefined
        if (text === undefined) {
          return yield* Effect.fail(
            `there is no artifact ${JSON.stringify(ref.slice(0, 100))} to read; it may have been removed`
          )
        }
        return readExcerpt(text, request, maxLength)
      })
  })
}
