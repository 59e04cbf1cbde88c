/**
 * The messages of a conversation, as plain data.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Json } from "./Json.ts"

/** A JSON value as a Schema. @category schemas @since 0.1.0 */
export const JsonValue = Schema.Json as unknown as Schema.Codec<Json>

/**
 * Data that a vendor needs back unchanged in a later request, such as thought signatures, by provider name.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProviderMetadata = Schema.Record(Schema.String, JsonValue)

/** Text. @category models @since 0.1.0 */
export interface TextPart extends Schema.Schema.Type<typeof TextPart> {}
/** @category schemas @since 0.1.0 */
export const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

/** A picture or a document: a URL (`https:` or `data:`), with its media type. @category models @since 0.1.0 */
export interface FilePart extends Schema.Schema.Type<typeof FilePart> {}
/** @category schemas @since 0.1.0 */
export const FilePart = Schema.Struct({
  type: Schema.Literal("file"),
  mediaType: Schema.String,
  url: Schema.String,
  filename: Schema.optionalKey(Schema.String)
})

/**
 * A source that an answer names: a page, or a file of the vendor. `start` and `end` are positions in the text of the
 * answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Citation extends Schema.Schema.Type<typeof Citation> {}
/** @category schemas @since 0.1.0 */
export const Citation = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  /** The vendor's id of a file. */
  fileId: Schema.optionalKey(Schema.String),
  /** The text of the source, if the vendor sends it. */
  text: Schema.optionalKey(Schema.String),
  start: Schema.optionalKey(Schema.Finite),
  end: Schema.optionalKey(Schema.Finite)
})

/** Text or a file. @category models @since 0.1.0 */
export type ContentPart = TextPart | FilePart
/** @category schemas @since 0.1.0 */
export const ContentPart = Schema.Union([TextPart, FilePart])

/**
 * Who changed the arguments of a call before it ran: the names of hooks, and of the person who edited it.
 *
 * @category models
 * @since 0.2.0
 */
export interface ChangedArgs extends Schema.Schema.Type<typeof ChangedArgs> {}
/** @category schemas @since 0.2.0 */
export const ChangedArgs = Schema.Struct({
  by: Schema.Array(Schema.String),
  /**
   * The arguments that the model wrote. Present only if the call has metadata of a vendor, which may have signed it: a
   * provider sends that vendor these arguments, so that nothing signed is changed.
   */
  asked: Schema.optionalKey(JsonValue)
})

/**
 * A model's request to run a tool. `id` is unique in the session; `args` is the parsed JSON that the model wrote. In
 * the conversation, `args` of a call that ran are the arguments that the tool got.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}
/** @category schemas @since 0.1.0 */
export const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  args: JsonValue,
  /** The text of the model, set only when it was not valid JSON. `args` is then a repaired version of it, or `null`. */
  malformed: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(ProviderMetadata),
  /** Set in the conversation and in events if a hook or a person changed the arguments. */
  changed: Schema.optionalKey(ChangedArgs)
})

/** A message of a person or of the host program. @category models @since 0.1.0 */
export interface UserMessage extends Schema.Schema.Type<typeof UserMessage> {}
/** @category schemas @since 0.1.0 */
export const UserMessage = Schema.Struct({
  role: Schema.Literal("user"),
  content: Schema.Union([Schema.String, Schema.Array(ContentPart)]),
  /** Set when the user did not write the message: the name of the hook that injected it, or `summary`. */
  source: Schema.optionalKey(Schema.String),
  /** Pinned messages survive every compaction. */
  pinned: Schema.optionalKey(Schema.Boolean),
  /** The `key` of the `TurnInput` that had this message. */
  key: Schema.optionalKey(Schema.String)
})

/**
 * A message of the model: text, the tools that it asks for, and its reasoning when the vendor shows it.
 *
 * @category models
 * @since 0.1.0
 */
export interface AssistantMessage extends Schema.Schema.Type<typeof AssistantMessage> {}
/** @category schemas @since 0.1.0 */
export const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.String,
  toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
  reasoning: Schema.optionalKey(Schema.String),
  /** Pictures and sound that the model made. */
  files: Schema.optionalKey(Schema.Array(FilePart)),
  citations: Schema.optionalKey(Schema.Array(Citation)),
  metadata: Schema.optionalKey(ProviderMetadata)
})

/** The result of a tool call. Each tool call has exactly one. @category models @since 0.1.0 */
export interface ToolMessage extends Schema.Schema.Type<typeof ToolMessage> {}
/** @category schemas @since 0.1.0 */
export const ToolMessage = Schema.Struct({
  role: Schema.Literal("tool"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  /** Any JSON value. An array of content parts is sent as content parts. */
  content: JsonValue,
  isError: Schema.optionalKey(Schema.Boolean),
  /** What the model has to know about the call, such as who changed its arguments. Providers add it to the result. */
  note: Schema.optionalKey(Schema.String)
})

/** One message of the conversation. @category models @since 0.1.0 */
export type Message = UserMessage | AssistantMessage | ToolMessage
/** @category schemas @since 0.1.0 */
export const Message = Schema.Union([UserMessage, AssistantMessage, ToolMessage])

/** Makes a user message. @category constructors @since 0.1.0 */
export const user = (content: string | ReadonlyArray<ContentPart>): UserMessage => ({ role: "user", content })

/** Makes an assistant message. @category constructors @since 0.1.0 */
export const assistant = (content: string, toolCalls?: ReadonlyArray<ToolCall>): AssistantMessage =>
  (toolCalls?.length ?? 0) === 0
    ? { role: "assistant", content }
    : { role: "assistant", content, toolCalls: toolCalls! }

/**
 * Returns the text of a message; files and non-text results are left out. The text of anything that is not a message
 * is empty.
 *
 * @category reading
 * @since 0.1.0
 */
export const text = (message: Message): string => {
  const { content, role }: Partial<Message> = Object(message)
  if (typeof content === "string") return content
  if (role !== "user") return content === undefined ? "" : JSON.stringify(content)
  return Array.isArray(content) ? content.map((part: ContentPart) => isText(part) ? part.text : "").join("") : ""
}

const isText = (part: ContentPart | null): part is TextPart => part?.type === "text"

/**
 * Describes why a provider would refuse this transcript, or returns nothing if it is valid. In a valid transcript,
 * every tool call has exactly one result, the results follow their message directly and in the order of the calls,
 * every result belongs to a call, and ids are unique.
 *
 * @category checking
 * @since 0.1.0
 */
export const whyInvalid = (messages: ReadonlyArray<Message>): string | undefined => {
  if (!Array.isArray(messages)) return "the transcript is not a list of messages"
  const seen = new Set<string>()
  let open: Array<string> = []
  for (const [index, message] of (messages as ReadonlyArray<Message>).entries()) {
    if (typeof message !== "object" || message === null) return `message ${index} is not a message`
    if (message.role === "tool") {
      const expected = open.shift()
      if (expected === undefined) return `message ${index}: result of ${message.toolCallId} follows no tool call`
      if (expected !== message.toolCallId) {
        return `message ${index}: expected the result of ${expected}, found ${message.toolCallId}`
      }
      continue
    }
    if (open.length > 0) return `message ${index}: tool call ${open[0]} has no result`
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls ?? []) {
      if (seen.has(call.id)) return `message ${index}: tool call id ${call.id} is used twice`
      seen.add(call.id)
    }
    open = (message.toolCalls ?? []).map((call) => call.id)
  }
  return open.length > 0 ? `tool call ${open[0]} has no result` : undefined
}
