/**
 * Marks of values in a stream that were replaced before their end was known. The rest of such a value is removed when
 * it arrives. A mark is never shown: the text from it on is buffered until the value has ended.
 */
import type { Detector } from "./detector.ts"

/** The mark of values of one kind. */
export interface CutMark extends Pick<Detector, "ending" | "kind"> {
  /** What stands for the value, and a character that says that it may continue. */
  readonly marker: string
  /** A sticky pattern for the rest of the value. */
  readonly more: RegExp
}

/** Stands behind what replaces a value. It is a noncharacter of Unicode, which no text should have. */
const open = "\uFDD0"

/** Returns the marks of the detectors that can recognize the rest of a value. */
export const cutMarks = (
  detectors: ReadonlyArray<Detector>,
  marker: (kind: string) => string
): ReadonlyArray<CutMark> =>
  detectors.flatMap(({ ending, kind, more }) =>
    more === undefined ? [] : [{ kind, marker: marker(kind) + open, more, ...(ending === undefined ? {} : { ending }) }]
  )

/** Returns the mark for a value that may continue; nothing if it has ended, or its rest cannot be recognized. */
export const markOf = (cuts: ReadonlyArray<CutMark>, kind: string, value: string): string | undefined => {
  const cut = cuts.find((one) => one.kind === kind)
  return cut?.ending?.whole?.test(value) === true ? undefined : cut?.marker
}

/** Removes the rests of values that were cut. A mark stays as long as its value may continue. */
export const withoutRests = (text: string, cuts: ReadonlyArray<CutMark>): string =>
  text.includes(open) ? cuts.reduce(withoutRestsOf, text) : text

const withoutRestsOf = (text: string, { ending, marker, more }: CutMark): string => {
  let output = ""
  let at = 0
  for (let mark = text.indexOf(marker); mark >= 0; mark = text.indexOf(marker, at)) {
    const start = mark + marker.length
    more.lastIndex = start
    const end = start + (more.exec(text)?.[0].length ?? 0)
    const after = text.slice(end)
    const continues = ending?.whole?.test(text.slice(start, end)) !== true &&
      (after === "" || ending?.begun.test(after) === true)
    output += text.slice(at, continues ? start : start - open.length)
    at = end
  }
  return output + text.slice(at)
}

/** Removes what says that values may continue, from a text that has ended. */
export const withoutMarks = (text: string, cuts: ReadonlyArray<CutMark>): string =>
  text.includes(open)
    ? cuts.reduce((left, { marker }) => left.replaceAll(marker, marker.slice(0, -open.length)), text)
    : text
