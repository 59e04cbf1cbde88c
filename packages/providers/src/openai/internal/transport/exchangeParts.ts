/** What an exchange is asked for, its limits, and the bytes that it reads. */
import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import { parse } from "../request/guards.ts"
import * as Errors from "../response/errors.ts"
import type { Assembler } from "../response/stream.ts"

/** Time limits of one exchange, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  readonly firstEventMs: number
  readonly idleMs: number
  readonly totalMs?: number
}

/** The request, and how to read its answer. */
export interface Exchange<A> {
  readonly request: LlmRequest
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly source: Errors.Source
  readonly timeouts: Timeouts
  readonly sink: DeltaSink | undefined
  readonly assembler: (
    request: LlmRequest,
    provider: string,
    emit: ((delta: LlmDelta) => void) | undefined
  ) => Assembler<A>
}

export const longestEvent = 8 * 1024 * 1024

export const longestAnswer = 64 * 1024 * 1024

export const longestStream = 256 * 1024 * 1024

export const longestError = 64 * 1024

/** Longer timers fire immediately. */
export const longestTimer = 2 ** 31 - 1

/** Whether an event marks the end. Some servers write blanks around the mark. */
export const isEnd = (data: string): boolean => data.length < 12 && data.trim() === "[DONE]"

/**
 * Returns the chunks of an event. If a server sends no blank lines, each line is one chunk. `undefined` stands for text
 * that is not JSON.
 */
export const chunksIn = (data: string): ReadonlyArray<unknown> => {
  const chunk = parse(data)
  if (chunk !== undefined) return [chunk]
  if (data.trim() === "") return []
  return data.includes("\n")
    ? data.split("\n").filter((line) => line.trim() !== "" && !isEnd(line)).map(parse)
    : [undefined]
}

export const join = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Returns the first character that is not blank. A byte order mark is blank. */
export const firstCharacter = (bytes: Uint8Array): string | undefined => {
  for (const byte of bytes) {
    const isBlank = byte === 32 || (byte >= 9 && byte <= 13) || byte === 0xef || byte === 0xbb || byte === 0xbf
    if (!isBlank) return String.fromCharCode(byte)
  }
  return undefined
}
