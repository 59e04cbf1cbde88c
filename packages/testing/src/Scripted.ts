/**
 * A language model with prepared answers.
 *
 * @since 0.1.0
 */
import { assertArguments, checked } from "@belay/core/ArgumentCheck"
import type { Json } from "@belay/core/Json"
import { type LlmDelta, type LlmRequest, type LlmResponse, textResponse } from "@belay/core/LlmCall"
import { type DeltaSink, type LlmProvider } from "@belay/core/LlmProvider"
import { show } from "@belay/core/OptionCheck"
import { isProviderError, type ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"

/**
 * One answer: a text, a response, a failure, an Effect of a response, or a function of the request that returns one of
 * these.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry =
  | string
  | LlmResponse
  | ProviderError
  | Effect.Effect<LlmResponse, ProviderError>
  | ((request: LlmRequest) => string | LlmResponse | ProviderError | Effect.Effect<LlmResponse, ProviderError>)

/** A provider with a script. @category models @since 0.1.0 */
export interface Scripted extends LlmProvider {
  /** All requests in order. */
  readonly requests: ReadonlyArray<LlmRequest>
  /** Entries that were not used yet. */
  readonly remaining: () => number
  /** Throws if entries were not used. */
  readonly assertDone: () => void
}

/**
 * Creates a provider that answers with the entries of `script` in order. A call after the last entry is a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  script: ReadonlyArray<Entry>,
  options: { readonly name?: string; readonly model?: string; readonly pieceLength?: number } = {}
): Scripted => {
  assertArguments(Array.isArray(script), "Scripted.make", ["script"], [script])
  const name = options?.name ?? "scripted"
  const model = options?.model ?? "scripted"
  const requests: Array<LlmRequest> = []
  const next = (request: LlmRequest): Effect.Effect<LlmResponse, ProviderError> =>
    Effect.suspend(() => {
      requests.push(request)
      const entry = script[requests.length - 1]
      if (entry === undefined) {
        return Effect.die(
          new Error(
            `${name}: the script has ${script.length} entries, call ${requests.length} has none; its last message: ${
              JSON.stringify(request.messages.at(-1))
            }`
          )
        )
      }
      const found = typeof entry === "function" ? entry(request) : entry
      return isEntry(found) ? play(found, model) : Effect.die(
        new Error(
          `${name}: entry ${requests.length} of the script is ${show(found)}; expected a text, a response, ` +
            "a ProviderError, an Effect of a response, or a function that returns one of them"
        )
      )
    })
  const remaining = () => Math.max(0, script.length - requests.length)
  return {
    name,
    model,
    requests,
    complete: next,
    stream: (request, sink) =>
      Effect.flatMap(
        next(request),
        (response) => Effect.as(pour(deltas(response, options.pieceLength ?? 4), sink), response)
      ),
    remaining,
    assertDone: () => {
      if (remaining() > 0) throw new Error(`${name}: ${remaining()} of ${script.length} entries were not used`)
    }
  }
}

/** Returns a response that requests tools. @category constructors @since 0.1.0 */
export const toolCalls = checked("Scripted.toolCalls", ["calls"], (
  ...calls: ReadonlyArray<GivenCall>
): LlmResponse => {
  const wrong = calls.findIndex((call) => typeof call.name !== "string")
  assertArguments(wrong < 0, "Scripted.toolCalls", [`calls[${wrong}]`], [calls[wrong]])
  return toolCallsOf(calls)
})

interface GivenCall {
  readonly name: string
  readonly args?: Json
  readonly id?: string
}

const toolCallsOf = (calls: ReadonlyArray<GivenCall>): LlmResponse => ({
  model: "scripted",
  text: "",
  toolCalls: calls.map(({ args, id, name }, index) => ({
    id: id ?? `call_${name}_${++made}_${index}`,
    name,
    args: args ?? {}
  })),
  finishReason: "tool-calls",
  usage: { inputTokens: 10, outputTokens: 5 }
})

let made = 0

const isEntry = (entry: unknown): boolean =>
  typeof entry === "string" || isProviderError(entry) || Effect.isEffect(entry) ||
  (typeof entry === "object" && entry !== null && "text" in entry && "toolCalls" in entry)

const play = (entry: Exclude<Entry, Function>, model: string): Effect.Effect<LlmResponse, ProviderError> => {
  if (typeof entry === "string") return Effect.succeed(textResponse(entry, model))
  if (isProviderError(entry)) return Effect.fail(entry)
  return Effect.isEffect(entry) ? entry : Effect.succeed(entry)
}

const deltas = (response: LlmResponse, size: number): ReadonlyArray<LlmDelta> => [
  ...slices(response.reasoning ?? "", size).map((text) => ({ type: "reasoning", text }) as const),
  ...slices(response.text, size).map((text) => ({ type: "text", text }) as const),
  ...response.toolCalls.map(({ args, id, name }) =>
    ({ type: "tool-call", id, name, argsText: JSON.stringify(args) }) as const
  )
]

const slices = (text: string, size: number): ReadonlyArray<string> => {
  const points = Array.from(text)
  return Array.from(
    { length: Math.ceil(points.length / size) },
    (_, index) => points.slice(index * size, (index + 1) * size).join("")
  )
}

const pour = (pieces: ReadonlyArray<LlmDelta>, sink: DeltaSink): Effect.Effect<void> =>
  Effect.forEach(pieces, (piece) =>
    Effect.suspend(() => {
      const waiting = sink(piece)
      return waiting === undefined ? Effect.void : Effect.promise(() => Promise.resolve(waiting))
    }), { discard: true })
