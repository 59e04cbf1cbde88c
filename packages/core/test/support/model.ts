/** A model that reads its lines from a script, writes down what it was asked, and streams in pieces of any size. */
import * as Effect from "effect/Effect"
import type { Json } from "../../src/data/Json.ts"
import type { LlmRequest, LlmResponse } from "../../src/data/LlmCall.ts"
import type { ToolCall } from "../../src/data/Message.ts"
import { isProviderError, type ProviderError } from "../../src/data/ProviderError.ts"
import type { DeltaSink, LlmProvider } from "../../src/port/LlmProvider.ts"

/**
 * What the model says: text, a response, an error (its partial text is streamed before), or a function of what it was
 * asked.
 */
export type Line =
  | string
  | Partial<LlmResponse>
  | ProviderError
  | ((request: LlmRequest, call: number) => Line | Effect.Effect<Line>)

export interface Model {
  readonly provider: LlmProvider
  /** As they were when they were made. */
  readonly requests: Array<LlmRequest>
  /** Calls that are open now. */
  readonly open: () => number
}

export interface ModelOptions {
  readonly name?: string
  readonly model?: string
  /** Characters a delta. Default 3. */
  readonly piece?: number
  /** Cuts the text by hand. */
  readonly cut?: (text: string) => ReadonlyArray<string>
  /** False: the model cannot stream. */
  readonly streams?: boolean
  /** Waits before every line and piece. */
  readonly pause?: Effect.Effect<void>
  /** When the script is over. Default `"the end"`. */
  readonly after?: Line
}

/** Makes a model of a script. */
export const scripted = (lines: ReadonlyArray<Line>, options: ModelOptions = {}): Model => {
  const { after = "the end", model = "model-1", name = "one", pause = Effect.void, piece = 3 } = options
  const cut = options.cut ?? ((text: string) => pieces(text, piece))
  const requests: Array<LlmRequest> = []
  let open = 0
  const read = (line: Line, request: LlmRequest, call: number): Effect.Effect<Partial<LlmResponse> | ProviderError> => {
    if (typeof line === "string") return Effect.succeed({ text: line })
    if (typeof line !== "function") return Effect.succeed(line)
    const said = line(request, call)
    return Effect.isEffect(said) && !isProviderError(said)
      ? Effect.flatMap(said as Effect.Effect<Line>, (next) => read(next, request, call))
      : read(said as Line, request, call)
  }
  const say = (request: LlmRequest, sink?: DeltaSink): Effect.Effect<LlmResponse, ProviderError> =>
    Effect.acquireUseRelease(
      Effect.sync(() => void open++),
      Effect.fnUntraced(function*() {
        const call = requests.push({ ...request, messages: [...request.messages] })
        yield* pause
        const line = yield* read(lines[call - 1] ?? after, request, call)
        const failed = isProviderError(line)
        const text = (failed ? line.partial?.text : line.text) ?? ""
        const reasoning = failed ? undefined : line.reasoning
        if (sink !== undefined) {
          if (reasoning !== undefined) yield* taken(sink({ type: "reasoning", text: reasoning }))
          for (const part of cut(text)) {
            yield* taken(sink({ type: "text", text: part }))
            yield* pause
          }
          if (!failed) {
            for (const { args, id, name: tool } of line.toolCalls ?? []) {
              yield* taken(sink({ type: "tool-call", id, name: tool, argsText: JSON.stringify(args) }))
            }
          }
        }
        if (failed) return yield* line
        return {
          model,
          toolCalls: [],
          finishReason: line.toolCalls === undefined ? "stop" : "tool-calls",
          ...line,
          text
        } as LlmResponse
      }),
      () => Effect.sync(() => void open--)
    )
  return {
    requests,
    open: () => open,
    provider: {
      name,
      model,
      complete: (request) => say(request),
      ...(options.streams === false ? {} : { stream: (request: LlmRequest, sink: DeltaSink) => say(request, sink) })
    }
  }
}

const taken = (wait: void | PromiseLike<void>): Effect.Effect<void> =>
  wait === undefined ? Effect.void : Effect.promise(async () => wait)

/** Cuts text into pieces of a size. */
export const pieces = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))

/** A response that asks for tools; ids are `c1`, `c2`, ... where none is given. */
export const asks = (
  ...calls: ReadonlyArray<readonly [name: string, args?: Json, id?: string]>
): Partial<LlmResponse> => ({
  toolCalls: calls.map(([name, args = {}, id]): ToolCall => ({ id: id ?? `c${++made}`, name, args }))
})

let made = 0
