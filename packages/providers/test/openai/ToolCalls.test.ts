import type { LlmResponse } from "@belay/core/LlmCall"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile, request, scripted, stream, success } from "../support/support.ts"
import {
  call,
  calls,
  chunk,
  completion,
  counted,
  finish,
  pathArgs,
  pathCall,
  runTable,
  sse,
  usage
} from "../support/wire.ts"

runTable({
  "a tool call": {
    "comes without index and type (Mistral)": {
      chunks: [
        calls({ id: "call_a", function: { name: "read_file", arguments: `{"pa` } }),
        calls({ id: "call_a", function: { name: "", arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes without index and without id after its first piece": {
      chunks: [
        calls({ id: "call_a", function: { name: "read_file", arguments: `{"pa` } }),
        calls({ function: { arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "has 1 as its first index (Anthropic gateways)": {
      chunks: [
        calls({ ...call(""), index: 1 }),
        calls({ index: 1, function: { arguments: "" } }),
        calls({ index: 1, function: { arguments: pathArgs } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "shares its index with another id": {
      chunks: [calls(call(pathArgs)), calls(call(`{"path":"b"}`, { id: "call_b" })), finish("tool_calls")],
      expect: { toolCalls: [...pathCall, { id: "call_b", name: "read_file", args: { path: "b" } }] }
    },
    "shares its index with another that has no id (Gemini)": {
      chunks: [calls(call(pathArgs, { id: "" })), calls(call(`{"path":"b"}`, { id: "" })), finish("stop")],
      body: completion({ tool_calls: [call(pathArgs, { id: "" }), call(`{"path":"b"}`, { id: "" })] }),
      expect: { finishReason: "tool-calls" }
    },
    "has an empty id in later pieces (Alibaba)": {
      chunks: [
        calls(call("")),
        calls({ index: 0, id: "", function: { arguments: pathArgs } }),
        calls({ index: 0, id: "", function: { arguments: "" } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "repeats id and name in every piece and has no finish reason (Kimi)": {
      chunks: [calls(call(`{"pa`)), calls(call(`th":`)), calls(call(`"a"}`)), chunk({ content: "" }, {}, { usage })],
      expect: { toolCalls: pathCall, finishReason: "tool-calls", usage: counted }
    },
    "has its name after the arguments": {
      chunks: [
        calls({ index: 0, id: "call_a", function: { arguments: `{"p` } }),
        calls({ index: 0, function: { arguments: `a` } }),
        calls({ index: 0, function: { name: "read_file", arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "has null as arguments": {
      chunks: [calls(call(null)), finish("tool_calls")],
      body: completion({ tool_calls: [call(null)] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: {} }] }
    },
    "has no arguments key (OpenRouter)": {
      chunks: [calls({ index: 0, id: "call_a", function: { name: "read_file" } }), finish("tool_calls")],
      body: completion({ tool_calls: [{ id: "call_a", function: { name: "read_file" } }] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: {} }] }
    },
    "has an object as arguments": {
      chunks: [calls(call({ path: "a" })), finish("tool_calls")],
      body: completion({ tool_calls: [call({ path: "a" })] }, "tool_calls"),
      expect: { toolCalls: pathCall }
    },
    "begins with an empty object": {
      chunks: [calls(call("{}")), calls({ index: 0, function: { arguments: pathArgs } }), finish("tool_calls")],
      body: completion({ tool_calls: [call(`{}${pathArgs}`)] }, "tool_calls"),
      expect: { toolCalls: pathCall }
    },
    "comes letter by letter (llama.cpp)": {
      chunks: [
        chunk({ role: "assistant", content: null }),
        calls(call("")),
        ...Array.from(pathArgs, (letter) => calls({ index: 0, function: { arguments: letter } })),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "comes whole in one chunk (Ollama)": {
      chunks: [
        chunk({ role: "assistant", content: "", reasoning: "hm", tool_calls: [call(pathArgs)] }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall, reasoning: "hm" }
    },
    "is interleaved with another": {
      chunks: [
        calls(call(`{"pa`), call(`{"pa`, { index: 1, id: "call_b" })),
        calls({ index: 1, function: { arguments: `th":"b"}` } }),
        calls({ index: 0, function: { arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: [...pathCall, { id: "call_b", name: "read_file", args: { path: "b" } }] }
    },
    "comes with stop as finish reason": {
      chunks: [calls(call(pathArgs)), finish("stop")],
      body: completion({ tool_calls: [call(pathArgs)] }, "stop"),
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes with an empty finish reason (Snowflake)": {
      chunks: [calls(call(pathArgs)), finish("")],
      body: completion({ tool_calls: [call(pathArgs)] }, ""),
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes as a legacy function_call": {
      chunks: [
        chunk({ function_call: { name: "read_file", arguments: "" } }),
        chunk({ function_call: { arguments: pathArgs } }),
        finish("function_call")
      ],
      body: completion({ function_call: { name: "read_file", arguments: pathArgs } }, "function_call"),
      expect: { finishReason: "tool-calls" }
    },
    "is nameless and empty (Snowflake)": {
      chunks: [chunk({ content: "hi", function_call: { name: "", arguments: "" } }), finish("stop")],
      body: completion({ content: "hi", function_call: { name: "", arguments: "" } }),
      expect: { text: "hi", toolCalls: [], finishReason: "stop" }
    },
    "carries a thought signature (Gemini)": {
      chunks: [
        calls(call(pathArgs, { extra_content: { google: { thought_signature: "sig" } } })),
        finish("tool_calls")
      ],
      body: completion(
        { tool_calls: [call(pathArgs, { extra_content: { google: { thought_signature: "sig" } } })] },
        "tool_calls"
      ),
      expect: {
        toolCalls: [{
          ...pathCall[0] as LlmResponse["toolCalls"][number],
          metadata: { vendor: { extra_content: { google: { thought_signature: "sig" } } } }
        }]
      }
    },
    "has arguments that are nearly JSON": {
      chunks: [calls(call(`{path: 'a',}`)), finish("tool_calls")],
      body: completion({ tool_calls: [call(`{path: 'a',}`)] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: { path: "a" }, malformed: `{path: 'a',}` }] }
    },
    "has arguments that are no JSON at all": {
      chunks: [calls(call("just read it")), finish("tool_calls")],
      body: completion({ tool_calls: [call("just read it")] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: null, malformed: "just read it" }] }
    },
    "has arguments without an end, although it is said to be whole": {
      chunks: [calls(call(`{"path":"/tmp`)), finish("tool_calls")],
      body: completion({ tool_calls: [call(`{"path":"/tmp`)] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: null, malformed: `{"path":"/tmp` }] }
    },
    "list is empty": {
      chunks: [chunk({ content: "hi", tool_calls: [] }), finish("stop")],
      body: completion({ content: "hi", tool_calls: [] }),
      expect: { text: "hi", toolCalls: [], finishReason: "stop" }
    }
  },
  "reasoning": {
    "is in reasoning_content (DeepSeek)": {
      chunks: [
        chunk({ reasoning_content: "so" }),
        chunk({ reasoning_content: " so" }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({ reasoning_content: "so so", content: "hi" }),
      expect: { reasoning: "so so", text: "hi", metadata: { vendor: { reasoningField: "reasoning_content" } } }
    },
    "is in reasoning, with a channel (Groq)": {
      chunks: [chunk({ reasoning: "so so", channel: "analysis" }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ reasoning: "so so", content: "hi" }),
      expect: { reasoning: "so so", text: "hi" }
    },
    "is in reasoning_text (Copilot)": {
      chunks: [chunk({ reasoning_text: "so so" }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ reasoning_text: "so so", content: "hi" }),
      expect: { reasoning: "so so" }
    },
    "comes twice, as text and as details (OpenRouter)": {
      chunks: [
        chunk({ reasoning: "so", reasoning_details: [{ type: "reasoning.text", text: "so", index: 0 }] }),
        chunk({
          reasoning: " so",
          reasoning_details: [{ type: "reasoning.text", text: " so", signature: "sig", index: 0 }]
        }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({
        content: "hi",
        reasoning: "so so",
        reasoning_details: [{ type: "reasoning.text", text: "so so", signature: "sig", index: 0 }]
      }),
      expect: {
        reasoning: "so so",
        metadata: {
          vendor: {
            reasoningField: "reasoning",
            reasoningDetails: [{ type: "reasoning.text", text: "so so", signature: "sig", index: 0 }]
          }
        }
      }
    },
    "is only in details (Snowflake)": {
      chunks: [
        chunk({ reasoning_details: [{ type: "reasoning.text", text: "so so" }] }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({ content: "hi", reasoning_details: [{ type: "reasoning.text", text: "so so" }] }),
      expect: { reasoning: "so so" }
    },
    "is a part of the content (Mistral)": {
      chunks: [
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "so so" }] }] }),
        chunk({ content: [{ type: "text", text: "hi" }] }),
        finish("stop")
      ],
      body: completion({
        content: [{ type: "thinking", thinking: [{ type: "text", text: "so so" }] }, { type: "text", text: "hi" }]
      }),
      expect: { reasoning: "so so", text: "hi", metadata: { vendor: { reasoningField: "content" } } }
    },
    "is between think tags (Qwen on Groq)": {
      chunks: [
        chunk({ content: "<thi" }),
        chunk({ content: "nk>\nso" }),
        chunk({ content: " so</th" }),
        chunk({ content: "ink>\n\n" }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({ content: "<think>\nso so</think>\n\nhi" }),
      expect: { reasoning: "so so", text: "hi" }
    },
    "is between think tags that never close": {
      chunks: [chunk({ content: "<think>so" }), chunk({ content: " so</thi" }), finish("length")],
      body: completion({ content: "<think>so so</thi" }, "length"),
      expect: { reasoning: "so so</thi", text: "", finishReason: "length" }
    },
    "is between thought tags (Google)": {
      chunks: [
        chunk({ content: "<tho" }),
        chunk({ content: "ught>so </think> so</thou" }),
        chunk({ content: "ght>hi" }),
        finish("stop")
      ],
      body: completion({ content: "<thought>so </think> so</thought>hi" }),
      expect: { reasoning: "so </think> so", text: "hi" }
    },
    "is empty between think tags": {
      chunks: [chunk({ content: "<think>\n\n</think>\n\nhi" }), finish("stop")],
      body: completion({ content: "<think>\n\n</think>\n\nhi" }),
      expect: { text: "hi" }
    },
    "has an end and no begin, and nothing before the end": {
      chunks: [chunk({ content: "</thi" }), chunk({ content: "nk>\n\nhi" }), finish("stop")],
      body: completion({ content: "</think>\n\nhi" }),
      expect: { text: "hi" }
    },
    "has an end in a text about tags": {
      chunks: [chunk({ content: "Like </think> this:\n```\n<b>\n</think>\n```" }), finish("stop")],
      body: completion({ content: "Like </think> this:\n```\n<b>\n</think>\n```" }),
      expect: { text: "Like </think> this:\n```\n<b>\n</think>\n```" }
    },
    "tags in the middle of a text are text": {
      chunks: [chunk({ content: "use " }), chunk({ content: "<think> tags" }), finish("stop")],
      body: completion({ content: "use <think> tags" }),
      expect: { text: "use <think> tags" }
    },
    "tags that only look alike are text": {
      chunks: [chunk({ content: "<th" }), chunk({ content: "ead>" }), finish("stop")],
      body: completion({ content: "<thead>" }),
      expect: { text: "<thead>" }
    }
  }
})

describe("ids of tool calls", () => {
  it.live("are generated when they are empty, and are unique", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        chunks: [sse([calls(call(pathArgs, { id: "" }), call(pathArgs, { index: 1, id: "" })), finish("tool_calls")])]
      }])
      const { deltas, result } = yield* stream(provider)
      const ids = success(result).toolCalls.map(({ id }) => id)
      assert.lengthOf(new Set(ids), 2)
      assert.isTrue(ids.every((id) => /^call_\w+$/.test(id)))
      assert.deepStrictEqual([...new Set(deltas.map((delta) => delta.type === "tool-call" ? delta.id : ""))], ids)
    }))

  it.live("are replaced when the transcript or the answer has them already (Bedrock)", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        body: completion({ tool_calls: [call(pathArgs), call(pathArgs, { index: 1 })] }, "tool_calls")
      }])
      const response = yield* provider.complete(request("go on", {
        tools: [readFile],
        messages: [
          { role: "user", content: "go" },
          { role: "assistant", content: "", toolCalls: [{ id: "call_a", name: "read_file", args: {} }] },
          { role: "tool", toolCallId: "call_a", toolName: "read_file", content: "text" }
        ]
      }))
      assert.lengthOf(new Set(["call_a", ...response.toolCalls.map(({ id }) => id)]), response.toolCalls.length + 1)
    }))
})
