/** Server-sent events as endpoints really send them: bytes in, data payloads out. */

/** Receives the events of a stream. */
export interface SseHandlers {
  /** A data payload and the name of its event, which is mostly empty. */
  readonly onData: (data: string, event: string) => void
  /** A line or an event is longer than the limit. Nothing comes after this. */
  readonly onTooLong: () => void
}

/** Decodes a stream, whatever pieces it comes in. */
export interface SseDecoder {
  /** Takes bytes; true when they carried data, not only comments and blank lines. */
  readonly push: (bytes: Uint8Array) => boolean
  /** Ends the stream: what is complete but for its last line end still counts. */
  readonly end: () => void
}

/** Makes a decoder. Lines end with LF, CRLF or CR; `limit` is in characters. */
export const make = (handlers: SseHandlers, limit: number): SseDecoder => {
  const utf8 = new TextDecoder("utf-8")
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
  const take = (text: string) => {
    if (text === "") return dispatch()
    if (text.startsWith("data:")) {
      progress = true
      const payload = text.slice(text.charCodeAt(5) === 32 ? 6 : 5)
      data = data === undefined ? payload : `${data}\n${payload}`
      if (data.length > limit) tooLong()
    } else if (text.startsWith("event:")) {
      event = text.slice(6).trim()
    } else if (text.startsWith("error:")) {
      progress = true
      dispatch()
      handlers.onData(text.slice(6).trim(), "error")
    } else if (text === "data") {
      data = data === undefined ? "" : `${data}\n`
    }
  }
  const feed = (given: string) => {
    let text = given
    if (afterReturn && text.startsWith("\n")) text = text.slice(1)
    if (text !== "") afterReturn = text.endsWith("\r")
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n")
    let start = 0
    for (let at = text.indexOf("\n"); at >= 0 && !stopped; at = text.indexOf("\n", start)) {
      const rest = text.slice(start, at)
      start = at + 1
      const whole = line === "" ? rest : line + rest
      line = ""
      take(whole)
    }
    if (stopped) return
    if (start < text.length) line += start === 0 ? text : text.slice(start)
    if (line.length > limit) tooLong()
    else if (line !== "" && line.charCodeAt(0) !== 58) progress = true
  }
  return {
    push: (bytes) => {
      if (stopped) return false
      progress = false
      feed(utf8.decode(bytes, { stream: true }))
      return progress
    },
    end: () => {
      if (stopped) return
      feed(utf8.decode())
      if (stopped) return
      const last = line
      line = ""
      if (last !== "") take(last)
      if (!stopped) dispatch()
    }
  }
}
