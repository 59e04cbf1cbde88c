/** The laws of providers. */
import { freeze, type Json } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { isProviderError, isRetryable, type ProviderError, retryAfterMs } from "@belay/core/ProviderError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Answer } from "../../Brain.ts"
import { soon } from "./hooks.ts"
import { broken, holds, type Law, same, short } from "./law.ts"

/** What the model of a provider does with one call. @category models @since 0.1.0 */
export type Scene =
  | { readonly type: "answer"; readonly answer: Answer }
  /**
   * `rate-limited` asks to wait two seconds. `garbage` does not follow the protocol. `cut` breaks the connection in the
   * middle.
   */
  | { readonly type: "fail"; readonly how: "rate-limited" | "unauthorized" | "server" | "garbage" | "cut" }
  /** No answer arrives. */
  | { readonly type: "silence" }

/** A provider and the model behind it. @category models @since 0.1.0 */
export interface Subject {
  readonly provider: LlmProvider
  /** How many calls reached the model. If it is known, the laws check that nothing is retried. */
  readonly calls?: () => number
  readonly dispose?: () => Promise<void> | void
}

/** Creates a provider whose model plays these scenes, one per call. @category models @since 0.1.0 */
export type Make = (scenes: ReadonlyArray<Scene>) => Promise<Subject>

const request: LlmRequest = freeze({
  instructions: "Answer.",
  messages: [{ role: "user", content: "hello" }],
  tools: [
    { name: "look", description: "Looks", inputSchema: { type: "object", properties: { at: { type: "string" } } } },
    { name: "deploy", description: "Deploys", inputSchema: { type: "object" } }
  ],
  parameters: {}
})

/** Milliseconds for each law. */
const patience = 60_000

/** Ways to make one call. */
interface Way {
  readonly name: "complete" | "stream"
  readonly call: (provider: LlmProvider, given?: LlmRequest) => Effect.Effect<LlmResponse, ProviderError>
}
const complete: Way = { name: "complete", call: ({ complete }, given = request) => complete(given) }
const stream: Way = {
  name: "stream",
  call: (provider, given = request) =>
    provider.stream?.(given, () => {}) ?? Effect.die(new Error("the provider cannot stream"))
}

const answer = (given: Answer): Scene => ({ type: "answer", answer: given })

const callOf = async (
  way: Way,
  { provider }: Subject,
  given?: LlmRequest
): Promise<Exit.Exit<LlmResponse, ProviderError>> =>
  soon(patience, `${way.name} took more than ${patience} ms`, Effect.runPromiseExit(way.call(provider, given)))

const response = async (way: Way, subject: Subject, given?: LlmRequest): Promise<LlmResponse> => {
  const exit = await callOf(way, subject, given)
  return Exit.isSuccess(exit) ? exit.value : broken(`${way.name} failed: ${short(Cause.squash(exit.cause))}`)
}

/** Returns the typed error of a call. The law does not hold if there is none. */
const errorOf = async (way: Way, subject: Subject): Promise<ProviderError> => {
  const exit = await callOf(way, subject)
  if (Exit.isSuccess(exit)) return broken(`${way.name} answered ${short(exit.value)} where the model failed`)
  const error: unknown = Cause.squash(exit.cause)
  if (!isProviderError(error)) return broken(`${way.name} failed with ${short(error)}, which is no ProviderError`)
  same(error.provider, subject.provider.name, "the provider that an error names")
  holds(error.message !== "", "an error says what happened")
  return error
}

const long = `${"0123456789abcdef".repeat(8)} `.repeat(800)
const unicode = "👩‍👩‍👧‍👦 🇩🇪 e\u0301 שלום \u2028 日本語 \u0000 end"

/** One law. `ways` are the ways to make a call in which it is checked. */
interface ProviderLaw {
  readonly name: string
  readonly scenes: ReadonlyArray<Scene>
  readonly prove: (subject: Subject, way: Way) => Promise<void>
  readonly ways: ReadonlyArray<Way>
}

const law = (
  name: string,
  scenes: ReadonlyArray<Scene>,
  prove: ProviderLaw["prove"],
  ways: ReadonlyArray<Way> = [complete, stream]
): ProviderLaw => ({ name, scenes, prove, ways })

/** The law for one kind of failure. */
const failing = (
  how: Extract<Scene, { readonly type: "fail" }>["how"],
  tags: ReadonlyArray<string>,
  retries: boolean
) =>
  law(
    `a model that fails (${how}) is a typed error, and is asked once`,
    [{ type: "fail", how }, answer({ text: "second" })],
    async (subject, way) => {
      const error = await errorOf(way, subject)
      holds(tags.includes(error._tag), `the error is ${error._tag}, expected ${tags.join(" or ")}`)
      holds(isRetryable(error) === retries, `the error may ${retries ? "" : "not "}be tried again`)
      if (how === "rate-limited") same(retryAfterMs(error), 2000, "milliseconds that the vendor asks to wait")
      if (subject.calls !== undefined) same(subject.calls(), 1, "calls that reached the model")
    }
  )

const calls = [{ id: "call-a", name: "look", args: { at: "here", deep: [{ n: 1.5 }, null] } as Json }, {
  id: "call-b",
  name: "deploy",
  args: {}
}]

const laws: ReadonlyArray<ProviderLaw> = [
  law("a text is returned", [answer({ text: "hello there" })], async (subject, way) => {
    const { finishReason, text, toolCalls } = await response(way, subject)
    same(
      { text, toolCalls, finishReason },
      { text: "hello there", toolCalls: [], finishReason: "stop" },
      "the response"
    )
  }),
  law(
    "tool calls are returned with their arguments, in order",
    [answer({ text: "wait", toolCalls: calls })],
    async (subject, way) => {
      const { finishReason, text, toolCalls } = await response(way, subject)
      same(toolCalls.map(({ args, id, name }) => ({ id, name, args })), calls, "tool calls")
      same([text, finishReason], ["wait", "tool-calls"], "text and reason")
    }
  ),
  law("every text is returned unchanged", [answer({ text: unicode })], async (subject, way) => {
    holds((await response(way, subject)).text === unicode, "the text came back changed")
  }),
  law("a text can be long", [answer({ text: long })], async (subject, way) => {
    same((await response(way, subject)).text.length, long.length, "characters")
  }),
  law(
    "an empty answer is an empty text or a typed error",
    [answer({ text: "" })],
    async (subject, way) => {
      const exit = await callOf(way, subject)
      if (Exit.isSuccess(exit)) same([exit.value.text, exit.value.toolCalls], ["", []], "the response")
      else holds(isProviderError(Cause.squash(exit.cause)), "it failed with no ProviderError")
    }
  ),
  law("reported usage is returned", [
    answer({ text: "hi", usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })
  ], async (subject, way) => {
    const { usage } = await response(way, subject)
    same([usage?.inputTokens, usage?.outputTokens], [7, 3], "input and output tokens")
  }),
  law(
    "usage that is not reported is absent, never zero",
    [answer({ text: "hi", usage: null as never })],
    async (subject, way) => {
      same((await response(way, subject)).usage, undefined, "usage")
    }
  ),
  ...["{\"at\":", "{'at': here}", "not json at all"].map((args) =>
    law(
      `arguments that are not JSON (${args}) are marked, or a typed error`,
      [answer({ toolCalls: [{ id: "call-a", name: "look", args }] })],
      async (subject, way) => {
        const exit = await callOf(way, subject)
        if (Exit.isSuccess(exit)) {
          const { toolCalls: [call, ...more] } = exit.value
          same([call?.name, more], ["look", []], "the call")
          same(call?.malformed, args, "the model's own text, in `malformed`")
        } else holds(isProviderError(Cause.squash(exit.cause)), "it failed with no ProviderError")
      }
    )
  ),
  failing("rate-limited", ["RateLimited"], true),
  failing("unauthorized", ["Auth"], false),
  failing("server", ["ServerError", "Overloaded"], true),
  failing("garbage", ["Malformed"], true),
  failing("cut", ["Connection", "Malformed"], true),
  law("a cancelled call ends at once", [{ type: "silence" }], async (subject, way) => {
    const fiber = Effect.runFork(way.call(subject.provider))
    for (let turns = 0; turns < 100 && (subject.calls?.() ?? 0) === 0; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    await soon(
      3000,
      "the call went on for three seconds after it was cancelled",
      Effect.runPromise(Fiber.interrupt(fiber))
    )
    const exit = await Effect.runPromise(Fiber.await(fiber))
    holds(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause), `a cancelled call ended as ${short(exit)}`)
  }),
  law(
    "nothing happens before the Effect is run",
    [answer({ text: "one" }), answer({ text: "two" })],
    async (subject, way) => {
      const later = way.call(subject.provider)
      // A request that was sent too early has arrived when a complete call is over.
      same((await response(way, subject)).text, "one", "the answer of the first that is run")
      if (subject.calls !== undefined) same(subject.calls(), 1, "calls that reached the model")
      same(
        (await response({ ...way, call: () => later }, subject)).text,
        "two",
        "the answer of the second that is run"
      )
    }
  ),
  law(
    "calls at once do not mix",
    Array.from({ length: 20 }, (_, index) => answer({ text: `${index} `.repeat(500) })),
    async (subject, way) => {
      const all = await Promise.all(Array.from({ length: 20 }, () => response(way, subject)))
      for (const { text } of all) {
        holds(new Set(text.trim().split(" ")).size === 1, `an answer is mixed: ${short(text)}`)
      }
      same(new Set(all.map(({ text }) => text)).size, 20, "different answers")
    }
  ),
  law("the response is the same as that of complete, and its parts are its text", [
    answer({ text: unicode, toolCalls: calls }),
    answer({ text: unicode, toolCalls: calls })
  ], async (subject) => {
    const deltas: Array<LlmDelta> = []
    const whole = await response(complete, subject)
    const streamed = await response({
      name: "stream",
      call: ({ stream: call }) =>
        call?.(request, (delta) => void deltas.push(delta)) ?? Effect.die(new Error("the provider cannot stream"))
    }, subject)
    const facts = ({ finishReason, text, toolCalls }: LlmResponse) => ({ finishReason, text, toolCalls })
    same(facts(streamed), facts(whole), "the streamed response")
    holds(
      deltas.map((delta) => delta.type === "text" ? delta.text : "").join("") === streamed.text,
      "the pieces are not the text"
    )
    holds(deltas.length > 1, "all of it came as one piece")
  }, [stream]),
  law(
    "a busy reader gets no more deltas",
    [answer({ text: "0123456789abcdef ".repeat(200) })],
    async ({ provider }) => {
      let busy = 0
      let most = 0
      const call = provider.stream?.(request, async () => {
        most = Math.max(most, ++busy)
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
        busy--
      })
      await soon(
        patience,
        "it did not end",
        Effect.runPromise(call ?? Effect.die(new Error("the provider cannot stream")))
      )
      same(most, 1, "pieces at once")
    },
    [stream]
  )
]

/** Returns the laws for providers that `make` creates. */
export const providerLaws = (make: Make): ReadonlyArray<Law> =>
  laws.flatMap(({ name, prove, scenes, ways }) =>
    ways.map((way) => ({
      name: `${way.name}: ${name}`,
      run: async () => {
        const subject = await make(scenes)
        try {
          await prove(subject, way)
        } finally {
          await subject.dispose?.()
        }
      }
    }))
  )
