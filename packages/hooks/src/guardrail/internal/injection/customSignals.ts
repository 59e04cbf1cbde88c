/** Signals that a user adds, and scores of long texts. */
import type { LlmRequest } from "@belay/core/LlmCall"
import { checkOptions, type Expectation, oneOf, within } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Options } from "../../PromptInjection.ts"
import { compileRe2 } from "../re2.ts"
import { InjectionScore, piece, type ScoredSignal } from "./injectionScore.ts"
import { rawSignals, signalNames, textSignals } from "./injectionSignals.ts"

/** Texts from this length on are searched in pieces, between which the process does other work. */
export const longText = 10 * piece

export const scoreInPieces = Effect.fnUntraced(function*(score: InjectionScore, text: string) {
  const pieces = score.inPieces(text)
  let next = pieces.next()
  while (next.done !== true) {
    yield* Effect.yieldNow
    next = pieces.next()
  }
  return next.value
})

/** Adds a note to the instructions of a request, once. */
export const withNote = (request: LlmRequest, note: string): LlmRequest => {
  const { instructions } = request
  if (instructions?.includes(note) === true) return request
  return { ...request, instructions: instructions ? `${instructions}\n\n${note}` : note }
}

const strategies: ReadonlyArray<string> = ["block", "warn", "filter", "rewrite", "off"]

export const compileSignals = (options: Options, name: string) => {
  const { detect = signalNames, input, signals: custom = [], spotlight, threshold, toolResults } = options
  const isThreshold: Expectation = [
    "threshold",
    threshold,
    (value: number) => value > 0 && value <= 1,
    "a number above 0, up to 1"
  ]
  return Result.gen(function*() {
    yield* checkOptions(
      name,
      oneOf("input", input, strategies),
      oneOf("toolResults", toolResults, strategies),
      isThreshold,
      oneOf("spotlight", spotlight, ["delimit", "datamark"]),
      ...detect.map((signal) => oneOf("detect", signal, signalNames)),
      ...custom.map(({ weight }, index) => within(`signals[${index}].weight`, weight, 0, 1))
    )
    const compiled = yield* Result.all(custom.map(({ name: signal, pattern, weight }, index) =>
      Result.map(
        compileRe2(pattern, `${name}.signals[${index}].pattern`),
        (regex): ScoredSignal => ({ name: signal, weight, raw: false, test: (text) => regex.test(text) })
      )
    ))
    const known: ReadonlyArray<ScoredSignal> = [
      ...textSignals.map((signal) => ({ ...signal, raw: false })),
      ...rawSignals.map((signal) => ({ ...signal, raw: true }))
    ]
    return [...known.filter((signal) => detect.includes(signal.name)), ...compiled]
  })
}
