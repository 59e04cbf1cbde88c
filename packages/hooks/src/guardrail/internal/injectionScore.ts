/** Scores texts by the signals of injections, and removes suspicious sentences. */
import type { Json } from "@belay/core/Json"
import { normalizeText, type Signal } from "./injectionSignals.ts"
import { textsOf } from "./responseTexts.ts"
import * as Spotlight from "./spotlight.ts"

/** A signal; `raw` ones are searched for in the original text, the others in the normalized one. */
export type ScoredSignal = Signal & { readonly raw: boolean }

/** The score of a text from 0 to 1, with the names of the signals in it. */
interface Score {
  readonly value: number
  readonly found: ReadonlyArray<string>
}

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

  of(text: string): Score {
    const normalized = normalizeText(text)
    const found = this.signals.filter((signal) => signal.test(signal.raw ? text : normalized))
    return {
      value: 1 - found.reduce((rest, { weight }) => rest * (1 - weight), 1),
      found: found.map(({ name }) => name)
    }
  }

  /** Replaces the sentences with signals; if the rest is still suspicious, the whole text. */
  rewrite(text: string): string {
    const sentences = text.match(/[^.!?\n]*(?:[.!?\n]+|$)/g) ?? []
    const rest = sentences.map((sentence) => {
      if (this.of(sentence).found.length === 0) return sentence
      const indent = sentence.slice(0, sentence.length - sentence.trimStart().length)
      return `${indent}${this.note}${sentence.endsWith("\n") ? "\n" : ""}`
    }).join("")
    return this.of(rest).value < this.threshold ? rest : this.note
  }

  /** Rewrites each text of a JSON value. When only the texts together are suspicious, the note replaces the value. */
  rewriteJson(value: Json): Json {
    const rewritten = Spotlight.mapResult(value, (text) => this.rewrite(text))
    return this.of(textsOf(rewritten).join("\n")).value >= this.threshold ? this.note : rewritten
  }
}
