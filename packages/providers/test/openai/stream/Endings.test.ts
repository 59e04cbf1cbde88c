import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { JsonObject } from "@belay/core/Json"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { failure, request, scripted, stream, success } from "../../support/support.ts"
import { call, calls, chunk, completion, finish, pathArgs, pathCall, runTable, sse, usage } from "../../support/wire.ts"

const choice = (more: JsonObject): JsonObject => ({
  id: "c",
  model: "m-1",
  choices: [{ index: 0, finish_reason: "stop", ...more }]
})

runTable({
  "a plain answer with an empty delta beside its message": {
    "keeps the text (Perplexity)": {
      body: choice({ delta: { role: "assistant", content: "" }, message: { role: "assistant", content: "42" } }),
      expect: { text: "42", finishReason: "stop" }
    },
    "keeps the tool calls (ModelScope)": {
      body: choice({
        delta: { role: null, content: "", tool_calls: null },
        message: { role: "assistant", content: "", tool_calls: [call(pathArgs)] },
        finish_reason: "tool_calls"
      }),
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "keeps the text when the delta is an empty object": {
      body: choice({ delta: {}, message: { content: "hi", reasoning_content: "so" } }),
      expect: { text: "hi", reasoning: "so" }
    }
  },
  "a stream with the whole message beside each delta": {
    "counts the deltas only (Perplexity)": {
      chunks: [
        chunk({ content: "" }, { message: { role: "assistant", content: "" } }),
        chunk({ content: "he" }, { message: { role: "assistant", content: "he" } }),
        chunk({ content: "llo" }, { message: { role: "assistant", content: "hello" } }),
        chunk({ content: "" }, { message: { role: "assistant", content: "hello" }, finish_reason: "stop" })
      ],
      expect: { text: "hello" }
    },
    "counts the last message if all deltas are empty": {
      chunks: [
        chunk({}, { message: { role: "assistant", content: "he" } }),
        chunk({}, { message: { role: "assistant", content: "hello" }, finish_reason: "stop" })
      ],
      expect: { text: "hello" }
    }
  },
  "content that is an object": {
    "is the text as JSON (Cloudflare's JSON mode)": {
      body: completion({ content: { title: "Apples", pages: [1, 2] } }),
      expect: { text: `{"title":"Apples","pages":[1,2]}` }
    },
    "is a part if it has the form of one": {
      body: completion({ content: { type: "text", text: "hi" } }),
      expect: { text: "hi" }
    },
    "is the text as JSON when it is a list of data": {
      body: completion({ content: [{ title: "Apples" }] }),
      expect: { text: `[{"title":"Apples"}]` }
    }
  },
  "the id of the vendor": {
    "is the id of the response": {
      chunks: [chunk({ content: "hi" }), finish("stop")],
      body: completion({ content: "hi" }),
      expect: { id: "c" }
    }
  }
})

describe("an end of reasoning that nothing began", () => {
  const answers: Record<string, readonly [content: string, expected: object]> = {
    "ends the reasoning at the end of a paragraph": [
      "The user says hi.</think>\n\nHello",
      { text: "Hello", reasoning: "The user says hi." }
    ],
    "is left out at the end of the text": ["The answer is 42.\n</think>", { text: "The answer is 42." }],
    "is left out at the end of a line": ["The answer is 42.</think>\n", { text: "The answer is 42." }],
    "is text within a sentence": ["Close it with </think> and go on.", { text: "Close it with </think> and go on." }]
  }
  for (const [name, [content, expected]] of Object.entries(answers)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([
          { chunks: [sse([chunk({ content }), finish("stop")])] },
          { status: 200, body: completion({ content }) }
        ])
        for (const answer of [success((yield* stream(provider)).result), yield* provider.complete(request())]) {
          assert.deepInclude(answer, expected)
          assert.strictEqual(answer.reasoning !== undefined, "reasoning" in expected)
        }
      }))
  }
})

describe("a full context", () => {
  const words = ["model_context_window_exceeded", "context_length_exceeded", "context_window_exceeded", "context_limit"]
  for (const word of words) {
    it.live(`is an overflow if the finish reason is ${word}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([
          { chunks: [sse([chunk({ content: "he" }), finish(word)])] },
          { status: 200, body: completion({ content: "he" }, word) }
        ])
        const streamed = failure((yield* stream(provider)).result)
        assert.strictEqual(streamed._tag, "ContextOverflow")
        assert.strictEqual(streamed.partial?.text, "he")
        assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "ContextOverflow")
      }))
  }
})

describe("reasoning with an end and no begin, because the server's template began it", () => {
  const pieces = ["Okay, the user", " says hi.\n</thi", "nk>\n\nHello"]

  it.live("is reasoning, streamed and plain", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([
        { chunks: [sse([...pieces.map((content) => chunk({ content })), finish("stop")])] },
        { status: 200, body: completion({ content: pieces.join("") }) }
      ])
      const expected = { text: "Hello", reasoning: "Okay, the user says hi." }
      assert.deepInclude(success((yield* stream(provider)).result), expected)
      assert.deepInclude(yield* provider.complete(request()), expected)
    }))

  it("is retracted in the stream of an agent", async () => {
    await using endpoint = await Endpoint.start({
      script: [{ chunks: [sse([...pieces.map((content) => chunk({ content })), finish("stop")])] }]
    })
    const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, model: "m" })
    await using agent = createAgent({ provider })
    const run = agent.stream("hi")
    let shown = ""
    for await (const event of run) {
      if (event.type === "retract") shown = ""
      if (event.type === "text-delta") shown += event.text
    }
    assert.strictEqual(shown, "Hello")
    assert.strictEqual((await run.result).text, "Hello")
  })
})

describe("an end mark", () => {
  const counted = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
  const cut: Record<string, ReadonlyArray<JsonObject>> = {
    "usage in every chunk (Databricks)": [
      chunk({ content: "he" }, {}, { usage: counted }),
      chunk({ content: "l" }, {}, { usage: counted })
    ],
    "usage in a first chunk without text": [
      chunk({ role: "assistant", content: "" }, {}, { usage: counted }),
      chunk({ content: "he" })
    ],
    "usage in a chunk with text": [chunk({ content: "he" }), chunk({ content: "l" }, {}, { usage: counted })],
    "usage of a choice in every chunk": [chunk({ content: "he" }, { usage: counted })],
    "usage before any text": [{ choices: [], usage: counted }],
    "usage alone, after a text": [chunk({ content: "he" }), { choices: [], usage: counted }]
  }
  for (const [name, chunks] of Object.entries(cut)) {
    it.live(`is not ${name}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ chunks: [sse(chunks, false)] }])
        assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
      }))
  }

  it.live("can have blanks around it", () =>
    Effect.gen(function*() {
      const marks = ["data: [DONE] \n\n", "data:  [DONE]\n\n", "data: [DONE]\t\r\n\r\n"]
      const { provider } = yield* scripted(
        marks.map((mark) => ({ chunks: [sse([chunk({ content: "hi" }), mark], false)] }))
      )
      for (const mark of marks) assert.strictEqual(success((yield* stream(provider)).result).text, "hi", mark)
    }))
})

describe("a tool call without arguments so far", () => {
  const started = calls({ index: 0, id: "a", type: "function", function: { name: "delete_files", arguments: "" } })
  const outer = { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } }
  const endings: Record<string, string> = {
    "the model ran out of tokens": sse([started, finish("length")]),
    "the filter stopped the model": sse([started, finish("content_filter")]),
    "the model reached its length (Mistral)": sse([started, finish("model_length")]),
    "the server gave up (SGLang)": sse([started, finish("abort")]),
    "the model repeated itself (MiniMax)": sse([started, finish("repetition_truncation")]),
    "the reason is not known": sse([started, finish("something_new")]),
    "there is no reason, only [DONE]": sse([started]),
    "the stream ends after usage": sse([{ ...started, ...outer }], false),
    "the stream ends after a chunk of usage": sse([started, { choices: [], ...outer }], false),
    "the stream ends": sse([started], false)
  }
  const ran: Array<unknown> = []
  const tool = defineTool({
    name: "delete_files",
    description: "Deletes files; without a path, all",
    input: Schema.Struct({ path: Schema.optionalKey(Schema.String) }),
    execute: (input) => {
      ran.push(input)
      return "deleted"
    }
  })
  for (const [name, body] of Object.entries(endings)) {
    it(`does not run when ${name}`, async () => {
      ran.length = 0
      await using endpoint = await Endpoint.start({ script: Array.from({ length: 5 }, () => ({ chunks: [body] })) })
      const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "test-key", model: "m" })
      await using agent = createAgent({ provider, tools: [tool], limits: { attempts: 1 } })
      const run = agent.stream("x")
      await (async () => {
        for await (const _ of run);
      })().catch(() => {})
      await run.result.catch(() => {})
      assert.deepStrictEqual(ran, [])
    })
  }

  it.live("runs when the stream says that it is complete", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [sse([started, finish("tool_calls")], false)] }])
      assert.deepStrictEqual(success((yield* stream(provider)).result).toolCalls, [
        { id: "a", name: "delete_files", args: {} }
      ])
    }))

  it.live("is kept when it is whole, whatever ended the answer", () =>
    Effect.gen(function*() {
      for (const reason of ["length", "content_filter", "abort", ""]) {
        const { provider } = yield* scripted([{ chunks: [sse([calls(call(pathArgs)), finish(reason)])] }])
        assert.deepStrictEqual(success((yield* stream(provider)).result).toolCalls, pathCall)
      }
    }))
})

describe("the words of vendors for the end of an answer", () => {
  const words = {
    stop: "stop eos eos_token end_turn complete completed stop_sequence stop_token STOP",
    length: "length max_tokens max_output_tokens model_length max_length MAX_TOKENS",
    "content-filter": "content_filter content_filtered safety sensitive recitation blocklist prohibited_content spii " +
      "image_safety guardrail_intervened SAFETY content-filter",
    unknown: "tired"
  }
  for (const [reason, all] of Object.entries(words)) {
    it.live(`mean ${reason}`, () =>
      Effect.gen(function*() {
        for (const word of all.split(" ")) {
          const { provider } = yield* scripted([{ status: 200, body: completion({ content: "hi" }, word) }])
          assert.strictEqual((yield* provider.complete(request())).finishReason, reason, word)
        }
      }))
  }

  it.live("mean that tools are called", () =>
    Effect.gen(function*() {
      for (const word of "tool_calls tool_call tool_use function_call function_calls".split(" ")) {
        const { provider } = yield* scripted([{
          status: 200,
          body: completion({ tool_calls: [call(pathArgs)] }, word)
        }])
        assert.strictEqual((yield* provider.complete(request())).finishReason, "tool-calls", word)
      }
    }))

  it.live("mean that there is no answer", () =>
    Effect.gen(function*() {
      const tags = {
        error: "ServerError",
        network_error: "ServerError",
        insufficient_system_resource: "Overloaded",
        function_call_filter: "ToolUseFailed",
        malformed_function_call: "ToolUseFailed",
        unexpected_tool_call: "ToolUseFailed",
        model_context_window_exceeded: "ContextOverflow"
      }
      const found: Record<string, string> = {}
      for (const word of Object.keys(tags)) {
        const { provider } = yield* scripted([{ status: 200, body: completion({}, word, { usage }) }])
        found[word] = (yield* Effect.flip(provider.complete(request())))._tag
      }
      assert.deepStrictEqual(found, tags)
    }))
})

describe("an empty answer is an error with its reason when", () => {
  const reasons: Record<string, readonly [string, string]> = {
    "the filter stopped it": ["content_filter", "ContentFiltered"],
    "it recites (Gemini)": ["content_filter: RECITATION", "ContentFiltered"],
    "it is prohibited (Gemini)": ["content_filter: PROHIBITED_CONTENT", "ContentFiltered"],
    "the model wrote a call that the vendor cannot read (Gemini)": [
      "function_call_filter: MALFORMED_FUNCTION_CALL",
      "ToolUseFailed"
    ],
    "it is not safe": ["SAFETY", "ContentFiltered"]
  }
  for (const [name, [reason, tag]] of Object.entries(reasons)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const bare = { model: "m-1", choices: [{ index: 0, finish_reason: reason }], usage }
        const { provider } = yield* scripted([
          { chunks: [sse([finish(reason, { usage })])] },
          { status: 200, body: completion({}, reason, { usage }) },
          { status: 200, body: bare }
        ])
        const errors = [
          failure((yield* stream(provider)).result),
          yield* Effect.flip(provider.complete(request())),
          yield* Effect.flip(provider.complete(request()))
        ]
        for (const error of errors) {
          assert.strictEqual(error._tag, tag)
          assert.include(error.message, reason)
          assert.strictEqual(error.partial?.usage?.inputTokens, 10)
        }
      }))
  }

  it.live("but not when the filter stopped an answer that had begun", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ status: 200, body: completion({ content: "hi" }, "content_filter") }])
      const response = yield* provider.complete(request())
      assert.deepInclude(response, { text: "hi", finishReason: "content-filter" })
    }))
})
