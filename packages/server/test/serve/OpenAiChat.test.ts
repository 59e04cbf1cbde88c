/** Chat completions with the client of OpenAI. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import * as HookAction from "@belay/core/HookAction"
import type { LlmResponse } from "@belay/core/LlmCall"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { served, talker } from "./support/served.ts"

const clientOf = (url: string, user = "ada") =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: `token-${user}`, maxRetries: 0 })
const model = "agent"
const user = (content: string) => ({ role: "user" as const, content })
const weatherOfClient = {
  type: "function" as const,
  function: { name: "local_weather", description: "The weather here", parameters: { type: "object", properties: {} } }
}
/** What a promise rejects with. */
const failure = async (promise: PromiseLike<unknown>): Promise<{ readonly [field: string]: unknown }> =>
  Object(await promise.then(() => ({ message: "it did not fail" }), (error: unknown) => error))

describe("chat completions", () => {
  it("answers as one value, with the usage", async () => {
    await using server = await served(OpenAiChat.handler)
    const answer = await clientOf(server.url).chat.completions.create({ model, messages: [user("hello")] })
    assert.strictEqual(answer.choices[0]!.message.content, "You said: hello (1)")
    assert.strictEqual(answer.choices[0]!.finish_reason, "stop")
    assert.deepInclude(answer.usage, { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 })
  })

  it("lists the agent as a model", async () => {
    await using server = await served(OpenAiChat.handler, { model: "clerk" })
    assert.deepStrictEqual((await clientOf(server.url).models.list()).data.map(({ id }) => id), ["clerk"])
  })

  it("streams text of all steps, the agent's tools run on the server, and the usage comes last if asked for", async () => {
    await using server = await served(OpenAiChat.handler)
    const messages = [user("hello"), { role: "assistant" as const, content: "hi" }, user("call weather")]
    const stream = await clientOf(server.url).chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true }
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
    assert.strictEqual(text, "Let me look.\n\nResult: {\"degrees\":21}")
    assert.strictEqual(chunks.at(-1)!.usage?.total_tokens, 32)
    assert.deepStrictEqual(chunks.at(-1)!.choices, [])
    assert.deepStrictEqual(server.log, ["weather"])
  })

  it("returns calls of the client's tools, and continues the turn with their results", async () => {
    await using server = await served(OpenAiChat.handler)
    const client = clientOf(server.url)
    const messages = [user("call weather and local_weather")]
    const asked = await client.chat.completions.create({ model, messages, tools: [weatherOfClient] })
    const { finish_reason, message } = asked.choices[0]!
    assert.strictEqual(finish_reason, "tool_calls")
    assert.lengthOf(message.tool_calls ?? [], 1)
    const [call] = message.tool_calls!
    assert.deepInclude(call, {
      type: "function",
      function: { name: "local_weather", arguments: "{\"city\":\"Bern\"}" }
    })
    assert.isAtMost(call!.id.length, 40)
    const result = { role: "tool" as const, tool_call_id: call!.id, content: "rain" }
    const stream = client.chat.completions.stream({
      model,
      messages: [...messages, message, result],
      tools: [weatherOfClient]
    })
    assert.strictEqual(await stream.finalContent(), "Result: {\"degrees\":21} and rain")
    assert.deepStrictEqual(server.log, ["weather"])
    const again = failure(client.chat.completions.create({ model, messages: [...messages, message, result] }))
    assert.deepInclude(await again, { status: 400, param: "messages" })
  })

  it("asks for an approval in words, and the next message answers", async () => {
    await using server = await served(OpenAiChat.handler)
    const client = clientOf(server.url)
    let reason: string | undefined
    const ask = async () => {
      const asked = await client.chat.completions.create({ model, messages: [user("call delete_file")] })
      reason = asked.choices[0]!.finish_reason
      return [user("call delete_file"), asked.choices[0]!.message]
    }
    const first = await ask()
    assert.strictEqual(reason, "stop")
    assert.match(String(first[1]!.content), /need your approval:\n- \*\*delete_file\*\* .*really\?/)
    assert.deepStrictEqual(server.log, [])
    const approved = await client.chat.completions.create({ model, messages: [...first, user("Yes.")] })
    assert.strictEqual(approved.choices[0]!.message.content, "Result: deleted")
    assert.deepStrictEqual(server.log, ["delete_file"])
    const second = await ask()
    const denied = await client.chat.completions.create({ model, messages: [...second, user("no, keep it")] })
    assert.match(denied.choices[0]!.message.content!, /no, keep it/)
    assert.deepStrictEqual(server.log, ["delete_file"])
  })

  it("keeps a session of a name that the client gives, and repeats a question that is still open", async () => {
    await using server = await served(OpenAiChat.handler)
    const client = clientOf(server.url)
    const say = async (words: string) => {
      const metadata = { session_id: "my chat" }
      const answer = await client.chat.completions.create({ model, messages: [user(words)], metadata })
      return answer.choices[0]!.message.content!
    }
    assert.strictEqual(await say("one"), "You said: one (1)")
    assert.strictEqual(await say("two"), "You said: two (3)")
    const question = await say("call delete_file")
    assert.strictEqual(`Let me look.\n\n${await say("yes")}`, question)
    assert.deepStrictEqual(server.log, [])
    assert.deepStrictEqual(server.errors, [])
  })

  it("says why an answer ended: complete, cut off by the model or a limit, filtered or stopped by a hook", async () => {
    const ended = async (config: Partial<AgentConfig>, words = "hello") => {
      await using server = await served(OpenAiChat.handler, {}, config)
      const { choices: [choice] } = await clientOf(server.url).chat.completions.create({
        model,
        messages: [user(words)]
      })
      return choice!.finish_reason
    }
    const because = (finishReason: LlmResponse["finishReason"]) => {
      const { complete, name } = talker()
      return ended({
        provider: { name, complete: (request) => Effect.map(complete(request), (one) => ({ ...one, finishReason })) }
      })
    }
    assert.strictEqual(await because("stop"), "stop")
    assert.strictEqual(await because("length"), "length")
    assert.strictEqual(await ended({ limits: { steps: 1 } }, "call weather"), "length")
    const stops = { name: "stops", postToolCall: () => HookAction.abort("enough") }
    assert.strictEqual(await ended({ hooks: [stops] }, "call weather"), "content_filter")
  })

  it("forgets the calls of the client's tools when the client goes on without their results", async () => {
    await using server = await served(OpenAiChat.handler)
    const client = clientOf(server.url)
    const metadata = { session_id: "my chat" }
    const messages = [user("call local_weather")]
    const asked = await client.chat.completions.create({ model, messages, metadata, tools: [weatherOfClient] })
    assert.strictEqual(asked.choices[0]!.finish_reason, "tool_calls")
    const answer = await client.chat.completions.create({ model, messages: [user("never mind")], metadata })
    assert.match(answer.choices[0]!.message.content!, /^You said: never mind/)
  })

  it("refuses other paths, methods and last messages", async () => {
    await using server = await served(OpenAiChat.handler)
    const ask = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: "Bearer token-ada", "content-type": "application/json" }
      const response = await fetch(`${server.url}${path}`, { headers, ...init })
      return { status: response.status, text: JSON.stringify(await response.json()) }
    }
    const elsewhere = await ask("/v1/completions")
    assert.strictEqual(elsewhere.status, 404)
    assert.include(elsewhere.text, "nothing at this path")
    assert.deepInclude(await ask("/v1/chat/completions"), { status: 405 })
    for (const role of ["system", "assistant"]) {
      const body = JSON.stringify({ model, messages: [user("hi"), { role, content: "last" }] })
      const { status, text } = await ask("/v1/chat/completions", { method: "POST", body })
      assert.strictEqual(status, 400, text)
    }
  })
})
