/** Scores texts by the signals of injections, and removes suspicious sentences with what they ask for. */
import type { Json } from "@belay/core/Json"
import { textsOf } from "../responseTexts.ts"
import * as Spotlight from "../spotlight.ts"
import { normalizeText, type Signal } from "./injectionSignals.ts"
import { isOrder, isPlain } from "./orders.ts"

/** A signal; `raw` ones are searched for in the original text, the others in the normalized one. */
export type ScoredSignal = Signal & { readonly raw: boolean }

/** The score of a text from 0 to 1, with the names of the signals in it. */
export interface Score {
  readonly value: number
  readonly found: ReadonlyArray<string>
}

/** Signals add up when they stand as near as this. */
const near = 1_000

/** Texts from this length on are searched in pieces of this length. */
export const piece = 100_000

/** A class: its methods share the signals and the threshold. */
export class InjectionScore {
  readonly threshold: number
  /** The note that replaces suspicious text. */
  readonly note = "[removed: it looked like an instruction]"
  private readonly signals: ReadonlyArray<ScoredSignal>

  constructor(signals: ReadonlyArray<ScoredSignal>, threshold: number) {
    this.signals = signals
    this.threshold = threshold
  }

  /** The score of a text. That of a long text is the score of its worst part. */
  of(text: string): Score {
    const whole = this.sum(text, this.signals)
    if (text.length <= near || whole.value < this.threshold || whole.strongest >= this.threshold) return whole
    const present = this.signals.filter(({ name }) => whole.found.includes(name))
    let worst: Score = { value: 0, found: [] }
    for (let from = 0; from < text.length; from += near / 2) {
      const part = this.sum(text.slice(from, from + near), present)
      if (part.value > worst.value) worst = part
    }
    return worst
  }

  /**
   * Scores a long text in pieces, so that a reader can do other work between two of them. The pieces overlap. Ends at
   * the first suspicious piece.
   */
  *inPieces(text: string): Generator<undefined, Score> {
    let worst: Score = { value: 0, found: [] }
    for (let from = 0; from < text.length; from += piece) {
      const part = this.of(text.slice(from, from + piece + near))
      if (part.value >= this.threshold) return part
      if (part.value > worst.value) worst = part
      yield undefined
    }
    return worst
  }

  private sum(text: string, signals: ReadonlyArray<ScoredSignal>): Score & { readonly strongest: number } {
    const normalized = normalizeText(text)
    const found = signals.filter((signal) => signal.test(signal.raw ? text : normalized))
    return {
      value: 1 - found.reduce((rest, { weight }) => rest * (1 - weight), 1),
      found: found.map(({ name }) => name),
      strongest: Math.max(0, ...found.map(({ weight }) => weight))
    }
  }

  /**
   * Replaces the sentences with signals, and the orders around them in the same paragraph. If the rest is still
   * suspicious, the note replaces the whole text.
   */
  rewrite(text: string): string {
    const rest = text.split(/(\n[^\S\n]*\n)/).map((paragraph) => this.rewriteParagraph(paragraph)).join("")
    return this.of(rest).value < this.threshold ? rest : this.note
  }

  private rewriteParagraph(paragraph: string): string {
    const sentences = sentencesOf(paragraph)
    const signs = sentences.map((one) => this.sum(one, this.signals).found.length > 0)
    const first = signs.indexOf(true)
    if (first < 0) return paragraph
    return sentences.map((one, index) => {
      const goes = signs[index] === true || (index > first ? !isPlain(one) : isOrder(one))
      if (!goes) return one
      const indent = one.slice(0, one.length - one.trimStart().length)
      return `${indent}${this.note}${one.endsWith("\n") ? "\n" : ""}`
    }).join("").replaceAll(repeated, "$1")
  }

  /** Rewrites each text of a JSON value. When only the texts together are suspicious, the note replaces the value. */
  rewriteJson(value: Json): Json {
    const rewritten = Spotlight.mapResult(value, (text) => this.rewrite(text))
    return this.of(textsOf(rewritten).join("\n")).value >= this.threshold ? this.note : rewritten
  }
}

/** The end of a sentence. A dot inside a host name, a file name or a number is none. */
const end = /(?:[.!?](?=[\s"')\]]|$)|[。！？])["')\]]{0,2}\n*|\n+/gu

const sentencesOf = (text: string): ReadonlyArray<string> => {
  const sentences: Array<string> = []
  let from = 0
  for (const { 0: mark, index } of text.matchAll(end)) {
    sentences.push(text.slice(from, index + mark.length))
    from = index + mark.length
  }
  return from < text.length ? [...sentences, text.slice(from)] : sentences
}

const repeated = /(\[removed: it looked like an instruction\])(?:\s{1,3}\[removed: it looked like an instruction\])+/g
