/**
 * Keeps large tool results out of the model's window: they become artifacts, and the model reads a preview and a
 * reference.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Artifact, keyOf } from "@belay/core/Artifact"
import { until } from "@belay/core/Deadline"
import { defineTool, type Tool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json } from "@belay/core/Json"
import { ContentPart, type FilePart } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import { failure, type PostToolCallEvent, success, type ToolResult } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import * as Excerpt from "./internal/excerpt.ts"
import * as Piece from "./internal/piece.ts"

/** How much of a result the model reads. @category models @since 0.1.0 */
export interface Bounds {
  /** Tokens up to which a result is left as it is. Default 2500. */
  readonly maxResultTokens?: number
  /**
   * Tokens of a larger result that the model reads, two thirds from its beginning and one third from its end. Default
   * 1000, and at most `maxResultTokens`.
   */
  readonly previewTokens?: number
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Bounds {
  /**
   * Other bounds for some tools, by name (`*` stands for any characters; the first that fits counts); `false` leaves a
   * tool's results as they are.
   */
  readonly perTool?: { readonly [pattern: string]: Bounds | false }
  /**
   * For how many turns beyond its own a result is kept; 0 removes it when the next turn begins. Default: as long as the
   * conversation.
   */
  readonly evictAfterTurns?: number
  /**
   * Whether files within a result (`data:` URLs) stay in it or become artifacts, too. They count for no tokens. Default
   * `keep`.
   */
  readonly media?: "keep" | "offload"
  /**
   * The tool that the model is told to read with, and whose own results stay as they are; `false` names none. Default
   * `read_artifact`.
   */
  readonly readTool?: string | false
  /** Default: four characters a token. */
  readonly tokenizer?: Tokenizer
}

/**
 * Replaces a tool result of more than `maxResultTokens` tokens by its beginning, its end and a reference to the whole,
 * which is an artifact of the
 * conversation: text as it is, everything else as JSON. It comes after the hooks that change results. A result that
 * cannot be kept is cut to
 * `maxResultTokens`, and says so. Throws a `ConfigError` for bounds that make no sense.
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
  const {
    evictAfterTurns,
    media = "keep",
    name = "result-offloader",
    perTool = {},
    readTool: reader = "read_artifact",
    tokenizer = byLength
  } = options
  Result.getOrThrow(checkOptions(
    name,
    ...checks("", options, 2_500),
    ...Object.entries(perTool).flatMap(([pattern, bounds]) =>
      bounds === false ? [] : checks(`perTool["${pattern}"].`, bounds, options.maxResultTokens ?? 2_500)
    ),
    whole("evictAfterTurns", evictAfterTurns),
    oneOf("media", media, ["keep", "offload"])
  ))
  const table = Object.entries(perTool).map(([pattern, bounds]) => ({ fits: matcher(pattern), bounds }))
  const boundsOf = (tool: string): Required<Bounds> | undefined => {
    const own = table.find(({ fits }) => fits(tool))?.bounds
    if (own === false) return undefined
    const { maxResultTokens = 2_500, previewTokens = 1_000 } = {
      ...defined(options),
      ...(own === undefined ? {} : defined(own))
    }
    return { maxResultTokens, previewTokens: Math.min(previewTokens, maxResultTokens) }
  }

  /** Keeps a text, and gives what the model reads instead. */
  const kept = (
    text: string,
    tokens: number,
    bounds: Required<Bounds>,
    mimeType: string,
    { call }: PostToolCallEvent,
    ctx: HookContext
  ) => {
    const about = `${call.name} is too long to be read at once: ${text.length} characters, about ${tokens} tokens.`
    return write(text, mimeType, call.id, "text", ctx).pipe(
      Effect.map(({ ref }) => {
        if (ctx.events.active) {
          ctx.events.emit("result-offloaded", { tool: call.name, ref, tokens, characters: text.length })
        }
        const how = reader === false ? "" : `; read on with ${reader}`
        return `${cut(text, bounds.previewTokens, tokenizer)}\n\n[This result of ${about} All of it is ${ref}${how}.]`
      }),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.sync(() => {
          ctx.warn(`a result of ${call.name} could not be kept, and was cut: ${messageOf(Cause.squash(cause))}`)
          return `${
            cut(text, bounds.maxResultTokens, tokenizer)
          }\n\n[This result of ${about} It could not be kept: what was left out is lost.]`
        })
      )
    )
  }

  const file = (part: FilePart, index: number, { call }: PostToolCallEvent, ctx: HookContext): Effect.Effect<Json> =>
    write(part.url, part.mediaType, call.id, `file-${index}`, ctx).pipe(
      Effect.map(({ ref }): Json => ({
        type: "text",
        text: `[A file of type ${part.mediaType} was here. It is ${ref}.]`
      })),
      Effect.catchCause((cause) =>
        Effect.sync((): Json => {
          ctx.warn(
            `a file of ${call.name} could not be kept, and stays in the result: ${messageOf(Cause.squash(cause))}`
          )
          return { ...part }
        })
      )
    )

  const offloaded = (
    event: PostToolCallEvent,
    bounds: Required<Bounds>,
    ctx: HookContext
  ): Effect.Effect<ToolResult> | undefined => {
    const { result } = event
    const output = result.ok ? result.output : result.error
    const parts = isParts(output) ? output : undefined
    const text = typeof output === "string"
      ? output
      : parts === undefined
      ? JSON.stringify(output)
      : parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n")
    const tokens = tokenizer.count(text)
    const isLong = tokens > bounds.maxResultTokens
    const mimeType = typeof output === "string" || parts !== undefined ? "text/plain" : "application/json"
    const short = isLong ? kept(text, tokens, bounds, mimeType, event, ctx) : undefined
    if (parts === undefined) return short && Effect.map(short, (shown) => result.ok ? success(shown) : failure(shown))
    const leaves = (part: ContentPart): part is FilePart =>
      media === "offload" && part.type === "file" && part.url.startsWith("data:")
    if (short === undefined && !parts.some(leaves)) return undefined
    return Effect.gen(function*() {
      const texts: ReadonlyArray<Json> = short === undefined ? [] : [{ type: "text", text: yield* short }]
      const rest = parts.filter(({ type }) => short === undefined || type === "file")
      const files = yield* Effect.forEach(
        rest,
        (part, index) => leaves(part) ? file(part, index, event, ctx) : Effect.succeed({ ...part } as Json),
        { concurrency: "unbounded" }
      )
      return success([...texts, ...files])
    })
  }

  return HookDefaults.apply(options, {
    name,
    priority: 5,
    postToolCall: (event, ctx) => {
      if (event.call.name === reader) return undefined
      const bounds = boundsOf(event.call.name)
      const result = bounds && offloaded(event, bounds, ctx)
      return result && Effect.map(result, HookAction.transform)
    },
    ...(evictAfterTurns === undefined ? {} : { preTurn: (_input, ctx) => evict(evictAfterTurns, ctx) })
  })
}

const isParts = Schema.is(Schema.NonEmptyArray(ContentPart))

const checks = (prefix: string, { maxResultTokens, previewTokens }: Bounds, fallback: number) => {
  const max = maxResultTokens ?? fallback
  const fits = (tokens: number) => Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= max
  return [
    whole(`${prefix}maxResultTokens`, maxResultTokens, 1),
    [`${prefix}previewTokens`, previewTokens, fits, `a whole number from 0 to maxResultTokens (${max})`] as const
  ]
}

const defined = ({ maxResultTokens, previewTokens }: Bounds): Bounds => ({
  ...(maxResultTokens === undefined ? {} : { maxResultTokens }),
  ...(previewTokens === undefined ? {} : { previewTokens })
})

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/**
 * The key says the turn, so that the text can be removed after some of them; ids of calls are the model's, and not to
 * be trusted in a key.
 */
const write = (
  text: string,
  mimeType: string,
  toolCallId: string,
  part: string,
  ctx: HookContext
): Effect.Effect<Artifact, unknown> =>
  Effect.suspend(() => {
    const id = digest([ctx.hook, ctx.sessionId, ctx.turnNumber, toolCallId, part])
    const writing = ctx.artifacts.write(`offload/t${ctx.root.turnNumber}-${id}`, text, { mimeType, toolCallId })
    let due: number | undefined
    return until(writing, (now) =>
      due ??= now + patience, () =>
      Effect.fail("the store did not answer within 10 seconds"))
  })

/** Milliseconds: less than hooks have, which would let the whole result pass. */
const patience = 10_000

const evict = (turns: number, ctx: HookContext): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (const { by, key } of yield* ctx.artifacts.list) {
      const turn = /^hook:offload\/t(\d+)-/.exec(key)?.[1]
      if (turn === undefined || by !== ctx.hook || ctx.root.turnNumber - Number(turn) <= turns) continue
      yield* ctx.artifacts.remove(key)
    }
  }).pipe(Effect.catch(({ message }) => Effect.sync(() => ctx.warn(`old results could not be removed: ${message}`))))

/** The beginning and the end, and between them how much is missing. */
const cut = (text: string, tokens: number, tokenizer: Tokenizer): string => {
  const end = Math.floor(tokens / 3)
  const first = Excerpt.head(text, tokens - end, tokenizer)
  const last = Excerpt.tail(text.slice(first.length), end, tokenizer)
  return `${first}\n\n[... ${text.length - first.length - last.length} characters left out ...]\n\n${last}`
}

/** What the reading tool takes. @category models @since 0.1.0 */
export interface ReadArgs extends Schema.Schema.Type<typeof ReadArgs> {}
/** @category schemas @since 0.1.0 */
export const ReadArgs = Schema.Struct({
  ref: Schema.String.annotate({ description: "the reference, such as <artifact:hook:offload/t1-0123456789abcd>" }),
  offset: Schema.optionalKey(Schema.Finite.annotate({ description: "where to begin, in characters from 0" })),
  length: Schema.optionalKey(Schema.Finite.annotate({ description: "how many characters to read" })),
  search: Schema.optionalKey(
    Schema.String.annotate({ description: "find this text instead, whatever its case; from `offset` on" })
  )
})

/** @category models @since 0.1.0 */
export interface ReadOptions<Name extends string = string> {
  /** Default `read_artifact`; the hook's `readTool` has to say the same. */
  readonly name?: Name
  /**
   * Artifacts that may be read, by key without `hook:` (`*` stands for any characters, a leading `!` excludes).
   * Default: what was kept out of the window, by this hook and by the runtime.
   */
  readonly keys?: ReadonlyArray<string>
  /** Most characters of one answer. Default 8000; half of it is read when the model does not say how much. */
  readonly maxLength?: number
}

/**
 * Makes the tool with which the model reads on: a piece from `offset`, and where the next begins; or the places where a
 * text is found. It reads
 * artifacts of its own conversation alone, and none but those that `keys` allow.
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
    description: "Reads what was too long to be shown: a piece of it, or the places where a text is found in it.",
    input: ReadArgs,
    readOnly: true,
    idempotent: true,
    execute: ({ ref, ...asked }, ctx) =>
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
        return Piece.read(text, asked, maxLength)
      })
  })
}
