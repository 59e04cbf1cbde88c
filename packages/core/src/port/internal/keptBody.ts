/**
 * The bodies of an event log in memory. A body is kept as JSON text: in it, a list of numbers takes a tenth of the
 * memory. The events of a turn have its answer in pieces, and twice as a whole, so long texts are kept beside the JSON,
 * each of them once.
 */
import type { Json } from "../../data/Json.ts"

/** A text of this length is long. */
const longLength = 256

/** What a text in the JSON begins with that stands for a long one. Short texts that begin with it get another one. */
const mark = "#"

/** A body that is kept. */
export interface KeptBody {
  readonly json: string
  readonly texts: Array<string>
}

/** Keeps a body. `earlier` are those of the same session, which share their texts with it. */
export const keepBody = (body: Json, earlier: ReadonlyArray<KeptBody>): KeptBody => {
  const texts: Array<string> = []
  const keepText = (text: string): string => {
    if (text.length < longLength) return text.startsWith(mark) ? mark + text : text
    texts.push(ownText(text, [...earlier, { texts }]))
    return mark + (texts.length - 1)
  }
  return { json: JSON.stringify(withTexts(body, keepText)), texts }
}

/** Returns the body. */
export const bodyOf = ({ json, texts }: KeptBody): Json =>
  withTexts(JSON.parse(json), (text) => {
    if (!text.startsWith(mark)) return text
    return text.startsWith(mark, 1) ? text.slice(1) : texts[Number(text.slice(1))]!
  })

/** Changes all texts of a value. Lists of numbers are long, and have none. */
const withTexts = (value: Json, change: (text: string) => string): Json => {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === "number") ? value : value.map((item) => withTexts(item, change))
  }
  if (typeof value !== "object" || value === null) return value
  if (typeof Object(value).toJSON === "function") {
    // The output of a tool may be a date.
    const json: string | undefined = JSON.stringify(value)
    return json === undefined ? value : withTexts(JSON.parse(json), change)
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withTexts(item, change)]))
}

type Texts = Pick<KeptBody, "texts">

/** Returns the same text, if it is kept already, or a copy: the given one may be a part of a longer one. */
const ownText = (text: string, earlier: ReadonlyArray<Texts>): string => {
  const known = earlier.findLast(({ texts }) => texts.includes(text))?.texts.find((one) => one === text)
  if (known !== undefined) return known
  const own = structuredClone(text)
  sharePieces(own, earlier)
  return own
}

/** Replaces texts that are the pieces of a whole, in their order, by parts of it, which need no memory of their own. */
const sharePieces = (whole: string, earlier: ReadonlyArray<Texts>): void => {
  let at = 0
  for (const { texts } of earlier) {
    for (const [index, text] of texts.entries()) {
      if (!whole.startsWith(text, at)) at = 0
      if (!whole.startsWith(text, at)) continue
      texts[index] = whole.slice(at, at + text.length)
      at += text.length
    }
  }
}
