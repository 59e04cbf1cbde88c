import type { Message } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, readFile, request, stream, success, textOf } from "../../support/support.ts"

const foreign = Effect.acquireRelease(
  Effect.promise(async () => {
    const mock = new LLMock({ port: 0, logLevel: "silent" })
    await mock.start()
    return { mock, provider: OpenAiCompatible.make({ baseUrl: `${mock.url}/v1`, apiKey: "test-key", model: "gpt-4o" }) }
  }),
  ({ mock }) => Effect.promise(() => mock.stop())
)

describe("an independent server", () => {
  it.live("streams the same text as it answers without streaming", () =>
    Effect.gen(function*() {
      const { mock, provider } = yield* foreign
      mock.onMessage("hello", { content: "Grüße from a server nobody here wrote 👋" })
      const plain = yield* provider.complete(request("hello"))
      const { deltas, result } = yield* stream(provider, request("hello"))
      assert.strictEqual(plain.text, "Grüße from a server nobody here wrote 👋")
      assert.strictEqual(success(result).text, plain.text)
      assert.strictEqual(textOf(deltas), plain.text)
      assert.strictEqual(success(result).finishReason, "stop")
      assert.isDefined(success(result).usage)
    }))

  it.live("requests a tool and reads its result", () =>
    Effect.gen(function*() {
      const { mock, provider } = yield* foreign
      mock.on({ userMessage: "read a.txt", hasToolResult: false }, {
        toolCalls: [{ name: "read_file", arguments: `{"path":"a.txt"}` }]
      })
      mock.on({ userMessage: "read a.txt", hasToolResult: true }, { content: "It says 42." })
      const first: Message = { role: "user", content: "read a.txt" }
      const { deltas, result } = yield* stream(provider, request("", { messages: [first], tools: [readFile] }))
      const asked = success(result)
      assert.strictEqual(asked.finishReason, "tool-calls")
      assert.deepStrictEqual(asked.toolCalls.map(({ args, name }) => ({ args, name })), [{
        name: "read_file",
        args: { path: "a.txt" }
      }])
      assert.strictEqual(
        deltas.map((delta) => delta.type === "tool-call" ? delta.argsText : "").join(""),
        `{"path":"a.txt"}`
      )
      const messages: ReadonlyArray<Message> = [
        first,
        { role: "assistant", content: asked.text, toolCalls: asked.toolCalls },
        { role: "tool", toolCallId: asked.toolCalls[0]?.id ?? "", toolName: "read_file", content: "42" }
      ]
      assert.strictEqual(
        success((yield* stream(provider, request("", { messages, tools: [readFile] }))).result).text,
        "It says 42."
      )
    }))

  it.live("can be overloaded, limit the rate and fail", () =>
    Effect.gen(function*() {
      const { mock, provider } = yield* foreign
      mock.onMessage("hello", { content: "hi" })
      for (
        const [status, tag] of [[503, "Overloaded"], [429, "RateLimited"], [401, "Auth"], [500, "ServerError"]] as const
      ) {
        mock.nextRequestError(status, { message: "no", type: "server_error" })
        assert.strictEqual(failure((yield* stream(provider, request("hello"))).result)._tag, tag)
      }
      assert.strictEqual(success((yield* stream(provider, request("hello"))).result).text, "hi")
    }))

  it.live("has reasoning", () =>
    Effect.gen(function*() {
      const { mock, provider } = yield* foreign
      mock.onMessage("why", { content: "because", reasoning: "let me see" })
      const { result } = yield* stream(provider, request("why"))
      assert.strictEqual(success(result).reasoning, "let me see")
      assert.strictEqual(success(result).text, "because")
    }))
})
