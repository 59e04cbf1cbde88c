import * as Json from "@belay/core/Json"
import { LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Codec from "../../src/internal/codec.ts"
import * as Errors from "../../src/openai/internal/response/errors.ts"
import { request, scripted, stream } from "../support/support.ts"

/** The same numbers for the same seed. */
const dice = (seed: number) => {
  let state = seed
  return (sides: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * sides)
  }
}

const keys = (
  "choices delta message content text type tool_calls function name arguments index id call_id item_id finish_reason usage prompt_tokens " +
  "completion_tokens total_tokens error code detail model object reasoning reasoning_content reasoning_details summary thinking refusal " +
  "function_call extra_content x_groq cost __proto__ constructor toString status response output item output_index incomplete_details metadata raw"
).split(" ")
const words = [
  "",
  "stop",
  "tool_calls",
  "length",
  "error",
  "<think>",
  "</think>",
  "{",
  "{}",
  `{"a":1}`,
  "\ud800",
  "message",
  "function_call",
  "reasoning",
  "response",
  "response.completed",
  "response.output_item.added",
  "response.output_item.done",
  "response.function_call_arguments.delta",
  "response.output_text.delta",
  "output_text",
  "\u0000",
  "0",
  "-1"
]
const atoms = [null, true, false, 0, -1, 1e8, 1.5, 1e308]

const anything = (roll: (sides: number) => number, depth: number): unknown => {
  const kind = roll(depth > 6 ? 2 : 5)
  if (kind === 0) return words[roll(words.length)]
  if (kind === 1) return atoms[roll(atoms.length)]
  if (kind === 2) return Array.from({ length: roll(4) }, () => anything(roll, depth + 1))
  const value: Array<readonly [string, unknown]> = Array.from(
    { length: roll(6) },
    () => [keys[roll(keys.length)] ?? "", anything(roll, depth + 1)]
  )
  return JSON.parse(`{${value.map(([key, inner]) => `${JSON.stringify(key)}:${JSON.stringify(inner)}`).join(",")}}`)
}

/** Mostly the shape of a chunk, so that the deeper places are reached too. */
const chunk = (roll: (sides: number) => number): unknown => {
  const wild = () => anything(roll, 2)
  if (roll(4) === 0) return anything(roll, 0)
  if (roll(2) === 0) {
    return {
      type: words[roll(words.length)],
      item: { type: "function_call", call_id: wild(), id: wild(), name: wild(), arguments: wild() },
      delta: wild(),
      output_index: wild(),
      item_id: wild(),
      response: { status: wild(), output: [wild(), { type: "message", content: [wild()] }] }
    }
  }
  return {
    choices: [{
      index: roll(3) === 0 ? wild() : 0,
      finish_reason: wild(),
      delta: {
        content: wild(),
        reasoning_details: [wild()],
        tool_calls: [{ index: wild(), id: wild(), function: { name: wild(), arguments: wild() } }]
      }
    }],
    usage: wild()
  }
}

describe("for every answer of an endpoint,", () => {
  for (const [name, codec] of Object.entries({ chat: Codec.chat, responses: Codec.responses })) {
    it(`the ${name} answer is valid or an error`, () => {
      const isResponse = Schema.is(LlmResponse)
      let answers = 0
      for (let seed = 1; seed <= 1500; seed++) {
        const roll = dice(seed)
        const assembler = codec.assembler(request(), "vendor", () => {})
        for (let n = roll(6); n >= 0; n--) assembler.push(chunk(roll))
        assert.isString(assembler.partial().text)
        const outcome = assembler.end(roll(2) === 0)
        if (outcome.type !== "response") continue
        answers++
        assert.isTrue(isResponse(outcome.response), `seed ${seed}: ${JSON.stringify(outcome.response)}`)
        assert.isUndefined(Json.whyNot(outcome.response.metadata ?? {}), `seed ${seed}`)
        assert.lengthOf(new Set(outcome.response.toolCalls.map(({ id }) => id)), outcome.response.toolCalls.length)
      }
      assert.isAbove(answers, 50)
      assert.isUndefined(Reflect.get(Object.prototype, "a"))
    })
  }

  it("its errors are typed", () => {
    for (let seed = 1; seed <= 1500; seed++) {
      const roll = dice(seed)
      const text = JSON.stringify(roll(2) === 0 ? { error: anything(roll, 1) } : anything(roll, 0))
      const status = [200, 301, 400, 401, 404, 429, 500, 503][roll(8)] ?? 0
      const error = Errors.classify({ provider: "vendor", model: undefined, secrets: [""] }, {
        status,
        headers: { "retry-after": String(atoms[roll(atoms.length)]) },
        text
      })
      assert.isTrue(isProviderError(error))
      assert.isBelow(error.message.length, 1000)
    }
  })

  it.live("it does no harm over HTTP", () =>
    Effect.gen(function*() {
      const roll = dice(4711)
      const bodies = Array.from({ length: 100 }, () => ({
        chunks: Array.from({ length: 5 }, () => `data: ${JSON.stringify(chunk(roll))}\n\n`)
      }))
      const { provider } = yield* scripted(bodies)
      for (let n = 0; n < bodies.length; n++) {
        const { result } = yield* stream(provider)
        assert.isTrue(result._tag === "Success" || isProviderError(result.failure))
      }
    }))
})
