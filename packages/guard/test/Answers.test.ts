/** What a hook does with an answer while it arrives, and with the thoughts in it. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { AIMessage } from "@langchain/core/messages"
import { run } from "@openai/agents"
import { generateText, streamText } from "ai"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import { kit as aiSdk } from "./support/aiSdk.ts"
import * as langChain from "./support/langChain.ts"
import * as ai from "./support/model.ts"
import * as openAi from "./support/openAiAgents.ts"

const stops = defineHook({
  name: "stops",
  onLlmDelta: (delta) => delta.type === "text" && delta.text.includes("pin") ? HookAction.abort("too much") : undefined
})

describe("an abort while the answer arrives ends the turn with its reason", () => {
  it("in the AI SDK", async () => {
    const { guarded, tools } = aiSdk([stops])
    const settings = () => guarded.settings({ model: ai.scripted(ai.says("hello my pin is 1")), tools, prompt: "go" })
    assert.strictEqual((await generateText(settings())).text, "too much")
    assert.strictEqual(await streamText(settings()).text, "hello my \n\ntoo much")
  })

  it("in the OpenAI Agents SDK", async () => {
    const agent = () => openAi.kit([stops]).agent(new openAi.ScriptedModel(openAi.says("hello my pin is 1")))
    assert.strictEqual((await run(agent(), "go")).finalOutput, "too much")
    const streamed = await run(agent(), "go", { stream: true })
    let shown = ""
    for await (const piece of streamed.toTextStream()) shown += piece
    assert.strictEqual(shown, "hello my \n\ntoo much")
    assert.strictEqual(streamed.finalOutput, "too much")
  })

  it("in LangChain", async () => {
    const model = langChain.scripted(langChain.says("my pin is 1"))
    const { messages } = await langChain.kit([stops]).agent(model).invoke(langChain.user("go"), langChain.thread)
    assert.strictEqual(messages.at(-1)!.text, "too much")
  })
})

describe("thoughts of a model", () => {
  const hides = (text: string) => text.replaceAll("4711", "[pin]")
  const pieces = defineHook({
    name: "pieces",
    onLlmDelta: (delta) =>
      delta.type === "reasoning" ? HookAction.transform({ ...delta, text: hides(delta.text) }) : undefined
  })
  const whole = defineHook({
    name: "whole",
    postLlmCall: ({ response }) => HookAction.transform({ ...response, reasoning: hides(response.reasoning ?? "") })
  })
  const signed = { providerMetadata: { vendor: { signature: "of 4711" } } }
  const { finishReason, usage } = ai.says("")
  const thinking = () =>
    new MockLanguageModelV4({
      doStream: {
        stream: simulateReadableStream({
          chunks: [
            { type: "reasoning-start", id: "r" },
            { type: "reasoning-delta", id: "r", delta: "the pin is 4711" },
            { type: "reasoning-end", id: "r", ...signed },
            { type: "finish", finishReason, usage }
          ]
        })
      },
      doGenerate: {
        ...ai.says(""),
        content: [{ type: "reasoning", text: "the pin is 4711", ...signed }, { type: "text", text: "it is [x]" }]
      }
    })

  it("are shown as hooks have left them, without what the vendor has signed: AI SDK", async () => {
    for (const hook of [pieces, whole]) {
      const { guarded, tools } = aiSdk([hook])
      const shown: Array<unknown> = []
      const result = streamText(guarded.settings({ model: thinking(), tools, prompt: "go" }))
      for await (const part of result.fullStream) shown.push(part)
      assert.strictEqual(await result.reasoningText, "the pin is [pin]")
      assert.notInclude(JSON.stringify(shown), "4711")
    }
  })

  it("do not keep the model from reading its own text without what hooks reveal: AI SDK", async () => {
    const { guarded, tools } = aiSdk([
      defineHook({ name: "reveals", revealText: (text) => text.replace("[x]", "0815") })
    ])
    const model = thinking()
    const settings = guarded.settings({ model, tools })
    const first = await generateText({ ...settings, prompt: "go" })
    assert.strictEqual(first.text, "it is 0815")
    const more = { role: "user" as const, content: "more" }
    await generateText({ ...settings, messages: [{ role: "user", content: "go" }, ...first.responseMessages, more] })
    assert.notInclude(ai.lastPrompt(model), "0815")
  })

  it("are read by the model as hooks have left them: OpenAI Agents", async () => {
    const thought = { type: "reasoning" as const, id: "r", content: [{ type: "input_text" as const, text: "4711" }] }
    const model = new openAi.ScriptedModel([thought, ...openAi.calls(["read_page", { url: "a" }])])
    const { history } = await run(openAi.kit([whole]).agent(model), "go")
    assert.include(model.lastInput, "[pin]")
    assert.notInclude(JSON.stringify(history.filter((item) => item.type === "reasoning")), "4711")
  })

  it("are read by the program as hooks have left them: LangChain", async () => {
    const thought = { type: "thinking", thinking: "4711", signature: "of 4711" }
    for (
      const said of [
        new AIMessage({ content: [thought, { type: "text", text: "hi" }] }),
        new AIMessage({ content: "hi", additional_kwargs: { reasoning_content: "4711" } })
      ]
    ) {
      const { agent } = langChain.kit([whole])
      const { messages } = await agent(langChain.scripted(said)).invoke(langChain.user("go"), langChain.thread)
      const last = messages.at(-1)!
      assert.strictEqual(last.text, "hi")
      assert.include(JSON.stringify(last.content), "[pin]")
      assert.notInclude(JSON.stringify(last), "4711")
    }
  })
})
