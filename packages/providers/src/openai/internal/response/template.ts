/**
 * A fast path for streams. Most events of a stream differ only in a few characters of text, so that events with the
 * same frame need no JSON parsing.
 */
import { isObject, type Loose } from "../request/guards.ts"

/** Remembers the frame around the text of an event. */
export interface Template {
  /** Returns the text of an event with the remembered frame, and nothing for other events. */
  readonly match: (data: string) => string | undefined
  /** Remembers the frame of a parsed event. `choice` is the index of the selected choice. */
  readonly learn: (data: string, chunk: unknown, choice: unknown) => void
}

const mostLessons = 16
const marks = [`"content":"`, `"content": "`] as const

/** Creates a template for one stream. It stops trying if every event has a different frame. */
export const make = (): Template => {
  let before = ""
  let after = ""
  let lessons = 0
  return {
    match: (data) => {
      const end = data.length - after.length
      if (
        before === "" || end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after
      ) return undefined
      const text = data.slice(before.length, end)
      return text === "" || text.includes(`"`) || text.includes("\\") ? undefined : text
    },
    learn: (data, chunk, choice) => {
      if (lessons >= mostLessons) return
      const content = plainText(chunk, choice)
      if (content === undefined) return
      lessons++
      const mark = marks.find((one) => data.includes(one))
      if (
        mark === undefined ||
        marks.some((one) => data.indexOf(one) !== data.lastIndexOf(one) || (one !== mark && data.includes(one)))
      ) {
        return
      }
      const start = data.indexOf(mark) + mark.length
      if (
        !data.startsWith(content, start) || data[start + content.length] !== `"` || content.includes("\\") ||
        content.includes(`"`)
      ) {
        return
      }
      before = data.slice(0, start)
      after = data.slice(start + content.length)
    }
  }
}

/** Returns the text of a chunk that contains nothing else. */
const plainText = (chunk: unknown, choice: unknown): string | undefined => {
  if (!isObject(chunk) || !Array.isArray(chunk.choices) || chunk.choices.length !== 1) return undefined
  const only: unknown = chunk.choices[0]
  if (
    !isObject(only) || only.index !== choice || !isObject(only.delta) || typeof only.delta.content !== "string" ||
    only.delta.content === ""
  ) return undefined
  return isIdle(chunk, known.chunk) && isIdle(only, known.choice) && isIdle(only.delta, known.delta)
    ? only.delta.content
    : undefined
}

const known = {
  chunk: new Set([
    "id",
    "object",
    "created",
    "model",
    "service_tier",
    "system_fingerprint",
    "choices",
    "provider",
    "obfuscation"
  ]),
  choice: new Set(["index", "delta"]),
  delta: new Set(["content", "role"])
} as const

const isIdle = (value: Loose, ignored: ReadonlySet<string>): boolean =>
  Object.keys(value).every((key) => ignored.has(key) || value[key] === null || value[key] === "" || isEmpty(value[key]))

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
