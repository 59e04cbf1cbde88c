/** The rules of a scan, and what a stream has to hold back until it is known. */
import type { Json } from "@belay/core/Json"
import { CleanTexts } from "../cleanTexts.ts"
import { type CutMark, cutMarks } from "../cutMarks.ts"
import { type Detector, findAll, quickTest } from "../detector.ts"
import { kindLabel } from "../placeholderStore.ts"

/** What happens to a value. */
type Strategy = "block" | "redact" | "mask" | "hash" | "placeholder" | "warn"

/** The values to search for, and what happens to them. */
export interface ScanRules {
  readonly detectors: ReadonlyArray<Detector>
  readonly strategy: (kind: string) => Strategy
  /** The text that replaces a redacted value. */
  readonly marker: (kind: string) => string
  /** Values that stay. */
  readonly isAllowed: (value: string) => boolean
  /** The kind of texts that only look like placeholders. */
  readonly lookalike: string
  /** Matches the placeholders of these rules; `undefined` when no strategy is `placeholder`. */
  readonly placeholders: RegExp | undefined
  /** What values leave behind in a stream that were cut. */
  readonly cuts: ReadonlyArray<CutMark>
  /** A text that it does not match contains no value. Absent when every text may contain one. */
  readonly quick: RegExp | undefined
  /**
   * Whether a part of a stream may have a value, a marker or a placeholder. Called twice for each part: for its text,
   * and to know how much of it to buffer.
   */
  readonly mayHaveValue: (text: string) => boolean
  /** Texts in which the detectors found nothing. */
  readonly cleanTexts: CleanTexts
  /** Lists and objects in which nothing was found, with the number of values that were known then. */
  readonly cleanValues: WeakMap<object, number>
  /** Whether the texts of a value can be searched together. Custom detectors expect each text alone. */
  readonly searchesBatches: boolean
  /** Whether the values of a session are needed: to replace them by placeholders, or by a digest with its key. */
  readonly needsSession: boolean
}

/** Makes the rules of a scan. `detectors` must not be empty. */
export const scanRules = (
  detectors: ReadonlyArray<Detector>,
  options: Pick<ScanRules, "strategy" | "isAllowed" | "lookalike"> & { readonly marker?: ScanRules["marker"] }
): ScanRules => {
  const kinds = [...new Set([...detectors.map(({ kind }) => kind), options.lookalike])]
  const marker = options.marker ?? ((kind: string) => `[${kindLabel(kind)}]`)
  const cuts = cutMarks(detectors, marker)
  const hasPlaceholders = kinds.some((kind) => options.strategy(kind) === "placeholder")
  const needsSession = hasPlaceholders || kinds.some((kind) => options.strategy(kind) === "hash")
  return {
    ...options,
    marker,
    cuts,
    mayHaveValue: rememberLast(hasPlaceholders ? undefined : quickTest(detectors, cuts.map((cut) => cut.marker))),
    detectors,
    quick: quickTest(detectors),
    cleanTexts: new CleanTexts(),
    cleanValues: new WeakMap(),
    searchesBatches: detectors.every(({ isCustom }) => isCustom !== true),
    needsSession,
    placeholders: hasPlaceholders
      ? new RegExp(`<(?:${kinds.map(kindLabel).join("|")})_\\d{1,9}>`, "gi")
      : undefined
  }
}

const rememberLast = (pattern: RegExp | undefined): ScanRules["mayHaveValue"] => {
  if (pattern === undefined) return () => true
  let last = ""
  let matches = pattern.test(last)
  return (text) => {
    if (text !== last) {
      last = text
      matches = pattern.test(text)
    }
    return matches
  }
}

/** Whether a value has no sign of a secret, so that no scan has to be made. */
export const isWithoutSigns = ({ cleanTexts, placeholders, quick }: ScanRules, value: Json): boolean => {
  if (placeholders !== undefined || quick === undefined) return false
  if (typeof value === "string") return cleanTexts.isWithout(quick, value)
  if (typeof value === "number") return String(value).length < minKnownLength
  return value === null || typeof value === "boolean"
}

/** How many characters after a value are needed to know where it ends. */
export const margin = 32

/** How many characters of a streamed text to buffer, so that every character is checked before it is shown. */
export const minimumHold = (detectors: ReadonlyArray<Detector>): number =>
  Math.max(0, ...detectors.map(({ reach }) => reach)) + margin

/**
 * Returns where the first finding begins that may not have ended at the end of a streamed text, or a marker whose rest
 * may follow. Returns the length of the text if there is none.
 */
export const openFindingIn = ({ cuts, detectors, mayHaveValue }: ScanRules, text: string): number => {
  if (!mayHaveValue(text)) return text.length
  let start = text.length
  for (const { marker } of cuts) {
    const at = text.lastIndexOf(marker)
    if (at >= 0 && at + marker.length >= text.length - maxRestStart) start = Math.min(start, at)
  }
  for (const found of findAll(detectors, text)) {
    if (found.end <= text.length - margin) continue
    // What stands in front of a value may be the reason why it is one.
    const reach = detectors.find(({ kind }) => kind === found.kind)?.reach ?? 0
    return Math.max(0, Math.min(start, found.start - reach))
  }
  return start
}

/** The longest part of a rest, in characters, that is not recognized as one until more of it is known. */
const maxRestStart = 96

/** Known values that are shorter are only found by detectors. */
export const minKnownLength = 6
