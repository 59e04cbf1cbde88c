/** Reads reasoning, for which vendors use different fields. */
import { isObject, type Loose, textOf } from "./guards.ts"

/** Fields with reasoning text, in the order of preference. Some vendors send the same text in several of them. */
const fields = ["reasoning_content", "reasoning", "reasoning_text"] as const

/** A part of reasoning, and the field that it came in. */
export interface Reasoning {
  readonly text: string
  readonly field: string
}

/** Reads the reasoning of a delta or a message. */
export const readReasoning = (message: Loose): Reasoning | undefined => {
  for (const field of fields) {
    const text = textOf(message[field])
    if (text !== undefined) return { text, field }
  }
  if (Array.isArray(message.reasoning_details)) {
    const text = message.reasoning_details.map((detail) =>
      isObject(detail) ? textOf(detail.text) ?? textOf(detail.summary) ?? "" : ""
    )
      .join("")
    if (text !== "") return { text, field: "reasoning_details" }
  }
  return undefined
}

/** Joins streamed parts of `reasoning_details`. The parts of one entry become one, so that it can be sent back. */
export const joinDetails = (joined: Array<Record<string, unknown>>, pieces: unknown): void => {
  if (!Array.isArray(pieces)) return
  for (const piece of pieces) {
    if (!isObject(piece) || joined.length >= 1000) continue
    const last = joined.at(-1)
    if (
      last === undefined || last.type !== piece.type || last.index !== piece.index || last.id !== (piece.id ?? last.id)
    ) {
      joined.push({ ...piece })
      continue
    }
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined || key === "__proto__") continue
      const before = last[key]
      last[key] = grows.has(key) && typeof before === "string" && typeof value === "string" ? before + value : value
    }
  }
}

const grows: ReadonlySet<string> = new Set(["text", "summary", "data"])
