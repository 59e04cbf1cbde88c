/** The format of a cassette, and the comparison of two requests. */
import type { Json, JsonObject } from "@belay/core/Json"

/** A request and its answer. */
export interface Interaction {
  readonly request: RecordedRequest
  readonly response: RecordedResponse
}

/** A request without its headers. */
export interface RecordedRequest {
  readonly method: string
  /** Path and query. The host can differ. */
  readonly path: string
  readonly body: Json
}

/** An answer byte by byte, in the parts in which it arrived. A part that is not text is stored as base64. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: ReadonlyArray<string | { readonly base64: string }>
}

/** The content of a cassette file. */
export interface Tape {
  readonly version: 1
  readonly interactions: ReadonlyArray<Interaction>
}

/** Converts a part of a body to its stored form. */
export const pack = (bytes: Uint8Array): RecordedResponse["chunks"][number] => {
  const text = Buffer.from(bytes).toString("utf8")
  return Buffer.from(text, "utf8").equals(bytes) ? text : { base64: Buffer.from(bytes).toString("base64") }
}

/** Returns the bytes of a stored part. */
export const unpack = (chunk: RecordedResponse["chunks"][number]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(typeof chunk === "string" ? Buffer.from(chunk, "utf8") : Buffer.from(chunk.base64, "base64"))

/** Replaces the ids of tool calls in a body by numbers, because servers generate them at random. */
export const normalise = (body: Json): Json => {
  const ids = new Map<string, string>()
  const renamed = (id: string): string => {
    const known = ids.get(id)
    if (known !== undefined) return known
    const name = `id-${ids.size + 1}`
    ids.set(id, name)
    return name
  }
  const walk = (value: Json, key: string, parent: string): Json => {
    if (typeof value === "string") {
      return key === "tool_call_id" || key === "call_id" || (key === "id" && parent === "tool_calls")
        ? renamed(value)
        : value
    }
    if (Array.isArray(value)) return value.map((item: Json) => walk(item, "", key))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, walk(inner, name, key === "" ? parent : key)])
    )
  }
  return walk(body, "", "")
}

/** Lists the differences of two values, one per line, at most `limit` lines. */
export const diff = (expected: Json, actual: Json, limit = 10): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const compare = (path: string, was: Json | undefined, is: Json | undefined): void => {
    if (lines.length >= limit || was === is) return
    if (isObject(was) && isObject(is)) {
      for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
        compare(path === "" ? key : `${path}.${key}`, was[key], is[key])
      }
    } else if (Array.isArray(was) && Array.isArray(is)) {
      for (let index = 0; index < Math.max(was.length, is.length); index++) {
        compare(`${path}[${index}]`, was[index], is[index])
      }
    } else {
      lines.push(`${path}: recorded ${show(was)}, asked ${show(is)}`)
    }
  }
  compare("", expected, actual)
  return lines
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const show = (value: Json | undefined): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value)
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
