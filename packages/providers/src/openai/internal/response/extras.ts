/**
 * Collects the parts of an answer that are not its text: sources, pictures, sound, probabilities, and what hosted tools
 * did.
 */
import type { JsonObject } from "@belay/core/Json"
import type { LlmResponse, TokenLogprob } from "@belay/core/LlmCall"
import type { Citation, FilePart } from "@belay/core/Message"
import { boundedJson, countOf, isObject, type Loose, textOf } from "../request/guards.ts"

/** The fields of a response that this file fills. */
type ExtraFields = Pick<LlmResponse, "citations" | "files" | "logprobs" | "hostedCalls">

/** Collects the extras of one answer. */
export interface Extras {
  /** Adds a list of annotations, as chat completions and Responses have them. */
  readonly addAnnotations: (list: unknown) => void
  /** Adds sources that are addresses, or objects with an address. */
  readonly addSources: (list: unknown) => void
  readonly addImages: (list: unknown) => void
  /** Adds a file by its `data:` URL. */
  readonly addFile: (url: string, mediaType: string) => void
  /** Adds sound, or a piece of it. Returns its text. */
  readonly addAudio: (audio: unknown) => string
  readonly addLogprobs: (list: unknown) => void
  readonly addHostedCall: (item: Loose) => void
  readonly fields: () => ExtraFields
}

const most = 10_000

/** Creates a collector. `audioFormat` is the format that was asked for. */
export const make = (audioFormat: string): Extras => {
  const citations = new Map<string, Citation>()
  const files = new Map<string, FilePart>()
  const logprobs: Array<TokenLogprob> = []
  const hostedCalls: Array<JsonObject> = []
  let sound = ""

  const addCitation = (given: Citation): void => {
    if (given.url === undefined && given.fileId === undefined) return
    if (citations.size < most) citations.set(`${given.url ?? given.fileId} ${given.start} ${given.end}`, given)
  }
  const addFile = (url: string, mediaType: string): void => {
    if (files.size < most) files.set(url, { type: "file", mediaType, url })
  }
  return {
    addAnnotations: (list) => {
      if (Array.isArray(list)) { for (const one of list) addCitation(citationOf(one)) }
    },
    addSources: (list) => {
      if (!Array.isArray(list)) return
      for (const one of list) {
        const url = isObject(one) ? textOf(one.url) ?? textOf(one.link) : textOf(one)
        const known = [...citations.values()].find((other) => other.url === url)
        if (url !== undefined && known === undefined) {
          addCitation({ url, ...(isObject(one) ? wordsOf(one) : {}) })
        }
      }
    },
    addImages: (list) => {
      if (!Array.isArray(list)) return
      for (const one of list) {
        const url = isObject(one) && isObject(one.image_url) ? textOf(one.image_url.url) : undefined
        if (url !== undefined) addFile(url, /^data:([\w/+.-]+)/.exec(url)?.[1] ?? "image/png")
      }
    },
    addFile,
    addAudio: (audio) => {
      if (!isObject(audio)) return ""
      sound += bytesIn(audio.data)
      return textOf(audio.transcript) ?? ""
    },
    addLogprobs: (list) => {
      if (!Array.isArray(list)) return
      for (const one of list) {
        const read = logprobOf(one)
        if (read !== undefined && logprobs.length < most * 10) logprobs.push(read)
      }
    },
    addHostedCall: (item) => {
      const json = boundedJson(item)
      // `boundedJson` has checked the object.
      if (isObject(json) && hostedCalls.length < most) hostedCalls.push(json as JsonObject)
    },
    fields: () => {
      const all = [...files.values()]
      if (sound !== "") {
        const mediaType = `audio/${audioFormat}`
        all.push({ type: "file", mediaType, url: `data:${mediaType};base64,${btoa(sound)}` })
      }
      return {
        ...(citations.size === 0 ? {} : { citations: [...citations.values()] }),
        ...(all.length === 0 ? {} : { files: all }),
        ...(logprobs.length === 0 ? {} : { logprobs }),
        ...(hostedCalls.length === 0 ? {} : { hostedCalls })
      }
    }
  }
}

/** Decodes a piece of sound. Each piece of a stream is encoded for itself, so the texts cannot be joined. */
const bytesIn = (base64: unknown): string => {
  try {
    return typeof base64 === "string" ? atob(base64) : ""
  } catch {
    return ""
  }
}

const citationOf = (annotation: unknown): Citation => {
  if (!isObject(annotation)) return {}
  const inner = [annotation.url_citation, annotation.file_citation, annotation.file].find(isObject) ?? annotation
  const url = textOf(inner.url)
  const fileId = textOf(inner.file_id)
  const start = countOf(inner.start_index)
  const end = countOf(inner.end_index)
  return {
    ...(url === undefined ? {} : { url }),
    ...(fileId === undefined ? {} : { fileId }),
    ...wordsOf(inner),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end })
  }
}

const wordsOf = (source: Loose): Citation => {
  const title = textOf(source.title) ?? textOf(source.filename)
  const text = textOf(source.content) ?? textOf(source.snippet)
  return { ...(title === undefined ? {} : { title }), ...(text === undefined ? {} : { text }) }
}

const logprobOf = (given: unknown): TokenLogprob | undefined => {
  const own = pairOf(given)
  if (own === undefined || !isObject(given)) return undefined
  const top = Array.isArray(given.top_logprobs) ? given.top_logprobs.flatMap((one) => pairOf(one) ?? []) : []
  return top.length === 0 ? own : { ...own, top }
}

const pairOf = (given: unknown): { readonly token: string; readonly logprob: number } | undefined =>
  isObject(given) && typeof given.token === "string" && Number.isFinite(given.logprob)
    // `isFinite` has checked the number.
    ? { token: given.token, logprob: given.logprob as number }
    : undefined

/**
 * Whether an item of the Responses API has no field of its own in a response: what hosted tools did, and what the
 * vendor asks of the program, such as an approval.
 */
export const isHostedCall = (item: Loose): boolean => typeof item.type === "string" && !ownTypes.has(item.type)

const ownTypes: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "image_generation_call"])
