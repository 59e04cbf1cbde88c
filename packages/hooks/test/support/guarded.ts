/**
 * What the tests of guardrails share: a scripted model, a stream in pieces as the runtime handles it, and numbers from
 * a seed.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookChain from "@belay/core/HookChain"
import type * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import { random } from "@belay/testing/SeededRandom"
import * as TestScope from "@belay/testing/TestScope"
import * as Effect from "effect/Effect"
import { answer } from "../../../../test/support/events.ts"

export type Line =
  | string
  | Partial<LlmResponse>
  | ProviderError.ProviderError
  | ((request: LlmRequest) => Partial<LlmResponse> | string)

/** Answers line by line, and streams every text in pieces. */
export const scripted = (lines: ReadonlyArray<Line>, size = 3) => {
  const requests: Array<LlmRequest> = []
  const next = (request: LlmRequest): Effect.Effect<LlmResponse, ProviderError.ProviderError> => {
    const found = lines[requests.push(request) - 1] ?? "the end"
    const line = typeof found === "function" ? found(request) : found
    if (ProviderError.isProviderError(line)) return Effect.fail(line)
    const said = typeof line === "string" ? { text: line } : line
    return Effect.succeed({
      model: "model-1",
      text: "",
      toolCalls: [],
      finishReason: said.toolCalls === undefined ? "stop" : "tool-calls",
      usage: { inputTokens: 1, outputTokens: 1 },
      ...said
    })
  }
  const provider: LlmProvider = {
    name: "scripted",
    complete: (request) => Effect.suspend(() => next(request)),
    stream: (request, sink) =>
      Effect.gen(function*() {
        const response = yield* next(request)
        const deltas = [
          ...pieces(response.reasoning ?? "", size).map((text) => ({ type: "reasoning" as const, text })),
          ...pieces(response.text, size).map((text) => ({ type: "text" as const, text })),
          ...response.toolCalls.flatMap(({ args, id, name }) =>
            pieces(JSON.stringify(args), size).map((argsText) => ({ type: "tool-call" as const, id, name, argsText }))
          )
        ]
        for (const delta of deltas) {
          const taken = sink(delta)
          if (taken !== undefined) yield* Effect.promise(async () => taken)
        }
        return response
      })
  }
  return { provider, requests }
}

let made = 0

export const asks = (
  ...calls: ReadonlyArray<readonly [name: string, args: LlmResponse["toolCalls"][number]["args"]]>
): Partial<LlmResponse> => ({
  toolCalls: calls.map(([name, args]) => ({ id: `call-${++made}`, name, args }))
})

const pieces = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))

/** Streams pieces as the runtime does: buffered text is sent again, in front of the next piece. */
export const stream = Effect.fnUntraced(function*(hook: AgentHook, given: ReadonlyArray<string>) {
  const chain = HookChain.makeUnsafe([hook])
  const { hold = "none" } = hook
  const buffered = (text: string): number => {
    if (typeof hold !== "object") return hold === "untilPass" ? Infinity : 0
    return hold.from === undefined ? hold.chars : Math.min(hold.chars, text.length - hold.from(text))
  }
  const scope = TestScope.make()
  let shown = ""
  let tail = ""
  for (const piece of given) {
    const { action, event } = yield* chain.run("onLlmDelta", { type: "text", text: tail + piece }, scope)
    if (action._tag === "Reject") return { shown, cut: true, text: "" }
    const text = event.type === "tool-call" ? "" : event.text
    const end = Math.max(0, text.length - buffered(text))
    shown += text.slice(0, end)
    tail = text.slice(end)
  }
  const { action, event } = yield* chain.run("postLlmCall", answer({ text: shown + tail }), scope)
  return { shown, cut: action._tag === "Reject", text: event.response.text }
})

/** The part of a context that `revealText` and `wrapToolCall` of a guardrail read. */
export const contextOf = (scope: TestScope.TestScope, hook: string) => ({
  ...scope,
  hook,
  state: {
    ...scope.state,
    set: <A>(key: HookState.StateKey<A>, value: A) => scope.state.write(key, value, hook)
  },
  root: { sessionId: scope.sessionId, turnNumber: scope.turnNumber, signal: scope.signal }
})

/** Cuts a text at random places, also inside surrogate pairs. */
export const chunks = (text: string, seed: number, most: number): ReadonlyArray<string> => {
  const { below } = random(seed)
  const all: Array<string> = []
  for (let at = 0; at < text.length;) {
    const end = at + 1 + below(most)
    all.push(text.slice(at, end))
    at = end
  }
  return all
}
