/** Reads the answer of an MCP tool as the output of a tool. */
import { type Json, whyNot } from "@belay/core/Json"
import type { ContentPart } from "@belay/core/Message"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Said = Schema.Struct({
  content: Schema.optional(Schema.Array(Schema.Unknown)),
  structuredContent: Schema.optional(Schema.Unknown),
  isError: Schema.optional(Schema.Boolean)
})

const Resource = Schema.Struct({
  uri: Schema.String,
  mimeType: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  blob: Schema.optional(Schema.String)
})

const Content = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literals(["image", "audio"]), data: Schema.String, mimeType: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("resource_link"),
    uri: Schema.String,
    name: Schema.optional(Schema.String),
    title: Schema.optional(Schema.String),
    description: Schema.optional(Schema.String),
    mimeType: Schema.optional(Schema.String)
  }),
  Schema.Struct({ type: Schema.Literal("resource"), resource: Resource })
])

/** Returns the output, or the error text of the server. All texts together are cut to `max` characters. */
export const readAnswer = (answer: unknown, max: number): Result.Result<Json, string> => {
  const decoded = Schema.decodeUnknownResult(Said)(answer)
  if (Result.isFailure(decoded)) {
    return Result.fail(`the server's answer is not a tool result: ${decoded.failure.message}`)
  }
  const { content = [], isError = false, structuredContent } = decoded.success
  if (structuredContent !== undefined && !isError) return readStructured(structuredContent, max)
  const parts = partsOf(content, max)
  const files = parts.filter(({ type }) => type === "file")
  const text = parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
  if (isError) return Result.fail(cut(text === "" ? "the tool failed and did not say why" : text, max))
  if (files.length === 0) return Result.succeed(cut(text, max))
  let left = max
  return Result.succeed(parts.map((part): Json => {
    const before = left
    left = Math.max(0, left - (part.type === "text" ? part.text.length : part.url.length))
    if (part.type === "text") return { type: "text", text: cut(part.text, before) }
    return part.url.length <= before
      ? { ...part }
      : { type: "text", text: `[a file of type ${part.mediaType} was too large: ${part.url.length} characters]` }
  }))
}

const readStructured = (value: unknown, max: number): Result.Result<Json, string> => {
  const why = whyNot(value)
  if (why !== undefined) return Result.fail(`the server's structured content is not JSON: ${why}`)
  const text = JSON.stringify(value)
  // `whyNot` has checked that it is JSON.
  return Result.succeed(text.length <= max ? value as Json : cut(text, max))
}

/** Reads parts until they are longer than the result may be. */
const partsOf = (content: ReadonlyArray<unknown>, max: number): ReadonlyArray<ContentPart> => {
  const parts: Array<ContentPart> = []
  let length = 0
  for (const one of content) {
    const part = partOf(one)
    parts.push(part)
    length += part.type === "text" ? part.text.length + 1 : part.url.length
    if (length > max) break
  }
  return parts
}

const decodeContent = Schema.decodeUnknownResult(Content)

const partOf = (one: unknown): ContentPart => {
  const decoded = decodeContent(one)
  if (Result.isFailure(decoded)) return text("[content that cannot be read]")
  const said = decoded.success
  switch (said.type) {
    case "text":
      return text(said.text)
    case "image":
    case "audio":
      return file(said.mimeType, said.data)
    case "resource_link":
      return text(linkOf(said))
    case "resource": {
      const { blob, mimeType = "application/octet-stream", text: own, uri } = said.resource
      return own !== undefined ? text(own) : blob === undefined ? text(`[resource: ${uri}]`) : file(mimeType, blob)
    }
  }
}

/** `[Report (text/csv): file:///report.csv] What was sold in May` */
const linkOf = ({ description, mimeType, name = "resource", title = name, uri }: Link): string => {
  const type = mimeType === undefined ? "" : ` (${mimeType})`
  const link = `[${title}${type}: ${uri}]${description === undefined ? "" : ` ${description}`}`
  // It stays one line.
  return link.replaceAll(/\s+/g, " ")
}

type Link = Extract<typeof Content.Type, { readonly type: "resource_link" }>

const text = (content: string): ContentPart => ({ type: "text", text: content })
const file = (mediaType: string, data: string): ContentPart => ({
  type: "file",
  mediaType,
  url: `data:${mediaType};base64,${data}`
})

const cut = (content: string, max: number): string =>
  content.length <= max
    ? content
    : `${content.slice(0, max).toWellFormed()}\n[cut: ${content.length - max} more characters]`
