/** Stores tool results as artifacts, and replaces them by a preview and a reference. */
import { messageOf } from "@belay/core/ErrorMessage"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { ContentPart, type FilePart } from "@belay/core/Message"
import type { Tokenizer } from "@belay/core/Tokenizer"
import { failure, type PostToolCallEvent, success, type ToolResult } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Excerpt from "./excerpt.ts"
import { writeArtifact } from "./offloadedArtifacts.ts"

/** How much of a result the model reads, in tokens. */
export interface Limits {
  readonly maxResultTokens: number
  readonly previewTokens: number
}

/** Stores results and replaces them. A class: its methods share the options. */
export class Offloader {
  private readonly reader: string | false
  private readonly offloadsFiles: boolean
  private readonly tokenizer: Tokenizer

  constructor(reader: string | false, offloadsFiles: boolean, tokenizer: Tokenizer) {
    this.reader = reader
    this.offloadsFiles = offloadsFiles
    this.tokenizer = tokenizer
  }

  /** Returns the result that replaces a long one; `undefined` when the result stays as it is. */
  offload(event: PostToolCallEvent, bounds: Limits, ctx: HookContext): Effect.Effect<ToolResult> | undefined {
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
    bounds: Limits,
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

/** Returns the beginning and the end of a text, and between them the number of characters that are left out. */
const shorten = (text: string, tokens: number, tokenizer: Tokenizer): string => {
  const endTokens = Math.floor(tokens / 3)
  const start = Excerpt.head(text, tokens - endTokens, tokenizer)
  const end = Excerpt.tail(text.slice(start.length), endTokens, tokenizer)
  return `${start}\n\n[... ${text.length - start.length - end.length} characters left out ...]\n\n${end}`
}
