/** Streams of the AI SDK: reads one to its end, and makes one from an answer. */
import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult
} from "@ai-sdk/provider"

type Part<Type extends LanguageModelV4StreamPart["type"]> = Extract<LanguageModelV4StreamPart, { readonly type: Type }>

/** Receives what may be shown while the answer is not complete. */
export interface Sink {
  readonly send: (part: LanguageModelV4StreamPart) => void
  /** Passes a piece of text or of reasoning through the hooks. */
  readonly pass: (text: string, type: "text" | "reasoning") => Promise<string>
}

/** What is shown at once: everything but calls of tools and the end, which wait for the hooks. */
const isHeld = (part: LanguageModelV4StreamPart): boolean =>
  part.type === "finish" || part.type.startsWith("tool-input-") ||
  (part.type === "tool-call" && part.providerExecuted !== true)

/** Reads a stream to its end. An error in it fails. */
export const collect = async (
  { request, response, stream }: LanguageModelV4StreamResult,
  sink?: Sink
): Promise<LanguageModelV4GenerateResult> => {
  const content: Array<LanguageModelV4Content> = []
  const texts = new Map<string, OpenText>()
  const changed = new Set<string>()
  let finish: Part<"finish"> | undefined
  let warnings: Part<"stream-start">["warnings"] = []
  let metadata: Partial<Part<"response-metadata">> = {}
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const part = sink === undefined ? value : await passed(sink, value, changed)
      if (part.type === "error") throw part.error
      if (part.type === "finish") finish = part
      else if (part.type === "stream-start") warnings = part.warnings
      else if (part.type === "response-metadata") metadata = part
      else keep(content, texts, changed, part)
      if (sink !== undefined && !isHeld(part)) sink.send(part)
    }
  } finally {
    // If the reading ends early, the request of the vendor ends too.
    await reader.cancel().catch(() => {})
  }
  const { type: _type, ...ids } = metadata
  return {
    content,
    finishReason: finish?.finishReason ?? { unified: "other", raw: undefined },
    usage: finish?.usage ?? { inputTokens: none, outputTokens: noneOut },
    warnings,
    ...metadataOf(finish),
    ...(request === undefined ? {} : { request }),
    response: { ...ids, ...response }
  }
}

/** Passes a piece through the hooks. What the vendor has signed is no longer what is shown, if hooks change it. */
const passed = async (
  sink: Sink,
  part: LanguageModelV4StreamPart,
  changed: Set<string>
): Promise<LanguageModelV4StreamPart> => {
  const type = part.type.startsWith("reasoning-") ? "reasoning" : "text"
  const isPiece = part.type === "text-delta" || part.type === "reasoning-delta"
  const delta = isPiece && part.delta !== "" ? await sink.pass(part.delta, type) : ""
  if (isPiece && delta !== part.delta) changed.add(`${type} ${part.id}`)
  if (!("id" in part) || !changed.has(`${type} ${part.id}`)) return part
  const { providerMetadata: _signed, ...rest } = part as Part<"text-delta">
  return isPiece ? { ...rest, delta } : rest
}

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const noneOut = { total: undefined, text: undefined, reasoning: undefined }

/** A text that is being read. */
interface OpenText {
  readonly type: "text" | "reasoning"
  text: string
  providerMetadata?: NonNullable<Part<"finish">["providerMetadata"]>
}

/** What the vendor says about a part, for example the signature of reasoning. */
const metadataOf = (part: Pick<Part<"finish">, "providerMetadata"> = {}) =>
  part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }

const keep = (
  content: Array<LanguageModelV4Content>,
  texts: Map<string, OpenText>,
  changed: ReadonlySet<string>,
  part: LanguageModelV4StreamPart
): void => {
  switch (part.type) {
    case "text-start":
    case "reasoning-start": {
      const made: OpenText = { type: part.type === "text-start" ? "text" : "reasoning", text: "", ...metadataOf(part) }
      texts.set(part.id, made)
      content.push(made)
      return
    }
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end": {
      const open = texts.get(part.id)
      if (open === undefined) return
      // The signature of reasoning comes last.
      if (changed.has(`${open.type} ${part.id}`)) delete open.providerMetadata
      else Object.assign(open, metadataOf(part))
      if ("delta" in part) open.text += part.delta
      return
    }
    case "tool-call":
    case "tool-result":
    case "source":
    case "file":
    case "custom":
    case "reasoning-file":
    case "tool-approval-request":
      content.push(part)
      return
    default:
      return
  }
}

/** Makes a stream of a whole answer. */
export const replay = (answer: LanguageModelV4GenerateResult): ReadableStream<LanguageModelV4StreamPart> =>
  new ReadableStream({
    start(controller) {
      const { content, response, warnings } = answer
      controller.enqueue({ type: "stream-start", warnings })
      if (response !== undefined) {
        const { body: _body, headers: _headers, ...metadata } = response
        controller.enqueue({ type: "response-metadata", ...metadata })
      }
      for (const part of partsOf(content)) controller.enqueue(part)
      controller.enqueue(endOf(answer))
      controller.close()
    }
  })

const partsOf = (content: ReadonlyArray<LanguageModelV4Content>): ReadonlyArray<LanguageModelV4StreamPart> =>
  content.flatMap((part, index): ReadonlyArray<LanguageModelV4StreamPart> => {
    const id = String(index)
    const more = metadataOf(part)
    if (part.type === "text") {
      return [
        { type: "text-start", id, ...more },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id, ...more }
      ]
    }
    if (part.type === "reasoning") {
      return [
        { type: "reasoning-start", id, ...more },
        { type: "reasoning-delta", id, delta: part.text },
        { type: "reasoning-end", id, ...more }
      ]
    }
    return [part]
  })

const endOf = (answer: LanguageModelV4GenerateResult): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: answer.finishReason,
  usage: answer.usage,
  ...metadataOf(answer)
})

/**
 * Streams an answer while the guard decides about it. What the guard says at the end comes last: the calls of tools, an
 * answer of its own, or an error.
 */
export const streamAnswer = (
  run: (send: (part: LanguageModelV4StreamPart) => void) => Promise<LanguageModelV4GenerateResult>
): ReadableStream<LanguageModelV4StreamPart> =>
  new ReadableStream({
    async start(controller) {
      let hasStarted = false
      let hasText = false
      /** The parts that have begun, with what ends them. */
      const open = new Map<string, LanguageModelV4StreamPart>()
      try {
        const answer = await run((part) => {
          hasStarted ||= part.type === "stream-start"
          hasText ||= part.type === "text-delta"
          if (part.type === "text-start") open.set(`text ${part.id}`, { type: "text-end", id: part.id })
          if (part.type === "reasoning-start") open.set(`reasoning ${part.id}`, { type: "reasoning-end", id: part.id })
          if (part.type === "text-end") open.delete(`text ${part.id}`)
          if (part.type === "reasoning-end") open.delete(`reasoning ${part.id}`)
          controller.enqueue(part)
        })
        if (!hasStarted) controller.enqueue({ type: "stream-start", warnings: answer.warnings })
        for (const end of open.values()) controller.enqueue(end)
        const isStopped = answer.finishReason.raw === "guard: stopped"
        const rest = answer.content.flatMap((part): ReadonlyArray<LanguageModelV4Content> => {
          if (part.type === "text" && hasText) return isStopped ? [{ ...part, text: `\n\n${part.text}` }] : []
          return part.type === "text" || (part.type === "tool-call" && part.providerExecuted !== true) ? [part] : []
        })
        for (const part of partsOf(rest)) controller.enqueue(part)
        controller.enqueue(endOf(answer))
      } catch (error) {
        controller.enqueue({ type: "error", error })
      }
      controller.close()
    }
  })
