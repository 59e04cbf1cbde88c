/** Decodes server-sent events as real endpoints send them. */
import { textOf } from "#platform"

/** Callbacks for the events of a stream. */
export interface SseHandlers {
  /** Called with a data payload and the name of its event, which is usually empty. */
  readonly onData: (data: string, event: string) => void
  /** Called if a line or an event is longer than the limit. No other callback follows. */
  readonly onTooLong: () => void
}

/** Decodes a stream that arrives in parts of any size. */
export interface SseDecoder {
  /** Adds bytes. Returns true if they contained data, and not only comments and blank lines. */
  readonly push: (bytes: Uint8Array) => boolean
  /** Ends the stream. A last line without a line end still counts. */
  readonly end: () => void
}

/** Creates a decoder. Lines end with LF, CRLF or CR. `limit` is in characters. */
export const make = (handlers: SseHandlers, limit: number): SseDecoder => {
  const text = decoder()
  let line = ""
  let data: string | undefined
  let event = ""
  let afterReturn = false
  let progress = false
  let stopped = false

  const tooLong = () => {
    stopped = true
    line = ""
    data = undefined
    handlers.onTooLong()
  }
  const dispatch = () => {
    const payload = data
    const name = event
    data = undefined
    event = ""
    if (payload !== undefined) handlers.onData(payload, name)
  }
  const take = (field: string) => {
    if (field === "") return dispatch()
    if (field.startsWith("data:")) {
      progress = true
      const payload = field.slice(field.charCodeAt(5) === 32 ? 6 : 5)
      data = data === undefined ? payload : `${data}\n${payload}`
      if (data.length > limit) tooLong()
    } else if (field.startsWith("event:")) {
      event = field.slice(6).trim()
    } else if (field.startsWith("error:")) {
      progress = true
      dispatch()
      handlers.onData(field.slice(6).trim(), "error")
    } else if (field === "data") {
      data = data === undefined ? "" : `${data}\n`
    }
  }
  const feed = (given: string) => {
    let lines = given
    if (afterReturn && lines.startsWith("\n")) lines = lines.slice(1)
    if (lines !== "") afterReturn = lines.endsWith("\r")
    if (lines.includes("\r")) lines = lines.replace(/\r\n?/g, "\n")
    let start = 0
    for (let at = lines.indexOf("\n"); at >= 0 && !stopped; at = lines.indexOf("\n", start)) {
      const rest = lines.slice(start, at)
      start = at + 1
      const whole = line === "" ? rest : line + rest
      line = ""
      take(whole)
    }
    if (stopped) return
    if (start < lines.length) line += start === 0 ? lines : lines.slice(start)
    if (line.length > limit) tooLong()
    else if (line !== "" && line.charCodeAt(0) !== 58) progress = true
  }
  return {
    push: (bytes) => {
      if (stopped) return false
      progress = false
      feed(text.push(bytes))
      return progress
    },
    end: () => {
      if (stopped) return
      feed(text.end())
      if (stopped) return
      const last = line
      line = ""
      if (last !== "") take(last)
      if (!stopped) dispatch()
    }
  }
}

/**
 * Decodes UTF-8 in parts. Bytes that end with an ASCII character leave no incomplete character, so they need no stream
 * state.
 */
const decoder = () => {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
  let isOpen = false
  let isFirst = true
  const bare = (text: string): string => {
    if (!isFirst || text === "") return text
    isFirst = false
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  return {
    push: (bytes: Uint8Array): string => {
      const isWhole = (bytes[bytes.length - 1] ?? 0) < 0x80
      const text = isWhole && !isOpen ? textOf(bytes) : utf8.decode(bytes, { stream: true })
      if (bytes.length > 0) isOpen = !isWhole
      return bare(text)
    },
    end: (): string => bare(utf8.decode())
  }
}
