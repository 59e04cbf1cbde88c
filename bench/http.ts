/**
 * Ten tool turns over HTTP, and a streamed chunk, against a hand-written loop on the `openai` client with the global
 * fetch.
 */
import { createAgent } from "@belay/core"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineTool } from "@belay/core/defineTool"
import { OpenAiCompatible } from "@belay/providers"
import * as Schema from "effect/Schema"
import OpenAI from "openai"
import { type Contender, type Figure, measure, table } from "./measure.ts"
import { startServer } from "./server.ts"

const schema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false
}

const byHand = (url: string) => {
  const client = new OpenAI({ baseURL: url, apiKey: "test-key", maxRetries: 0, fetch: globalThis.fetch })
  const tools = { add: async ({ a, b }: { a: number; b: number }) => a + b }
  return async () => {
    const messages: Array<OpenAI.Chat.ChatCompletionMessageParam> = [{ role: "user", content: "add" }]
    while (true) {
      const { choices: [choice] } = await client.chat.completions.create({
        model: "bench",
        messages,
        tools: [{ type: "function", function: { name: "add", description: "Adds two numbers", parameters: schema } }]
      })
      messages.push(choice!.message)
      if (choice!.message.tool_calls === undefined) return choice!.message.content
      for (const call of choice!.message.tool_calls) {
        if (call.type !== "function") continue
        const content = JSON.stringify(await tools[call.function.name as "add"](JSON.parse(call.function.arguments)))
        messages.push({ role: "tool", tool_call_id: call.id, content })
      }
    }
  }
}

const byBelay = (url: string) => {
  const agent = createAgent({
    provider: OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model: "bench" }),
    freeze: false,
    tools: [
      defineTool({
        name: "add",
        description: "Adds two numbers",
        input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
        execute: async ({ a, b }) => a + b
      })
    ]
  })
  return async () => {
    const { text } = await agent.run("add")
    if (text !== "done") throw new Error(text)
  }
}

/** Runs `times` jobs, `width` at once. */
const wide = (job: () => Promise<unknown>, width: number): Contender["run"] => async (times) => {
  let left = times
  await Promise.all(Array.from({ length: Math.min(width, times) }, async () => {
    while (left-- > 0) await job()
  }))
}

const chunks = 2_000

const streamByHand = (url: string) => {
  const client = new OpenAI({ baseURL: url, apiKey: "test-key", maxRetries: 0, fetch: globalThis.fetch })
  return async () => {
    const stream = await client.chat.completions.create({
      model: `stream-${chunks}`,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "talk" }]
    })
    let text = ""
    for await (const part of stream) text += part.choices[0]?.delta.content ?? ""
    if (!text.endsWith(`word${chunks - 1}`)) throw new Error(text)
  }
}

const streamByBelay = (url: string) => {
  const agent = createAgent({
    provider: OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model: `stream-${chunks}` }),
    freeze: false
  })
  let text = ""
  agent.on((event: AgentEvent) => {
    if (event.type === "text-delta") text += event.text
  })
  return async () => {
    text = ""
    await agent.run("talk")
    if (!text.endsWith(`word${chunks - 1}`)) throw new Error(text)
  }
}

const per = (figures: ReadonlyArray<Figure>, pieces: number) =>
  figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / pieces, wall: wall / pieces }))

export const http = async (): Promise<string> => {
  const { stop, url } = await startServer()
  try {
    const parts: Array<string> = []
    for (const width of [1, 64]) {
      const figures = await measure(
        [
          { name: "hand-written loop on openai, global fetch", run: wide(byHand(url), width) },
          { name: "belay", run: wide(byBelay(url), width) }
        ],
        width === 1 ? 60 : 256,
        7
      )
      parts.push(table(`Ten tool turns over HTTP, concurrency ${width}`, figures))
    }
    const streamed = await measure(
      [
        { name: "hand-written loop on openai, global fetch", run: wide(streamByHand(url), 1) },
        { name: "belay", run: wide(streamByBelay(url), 1) }
      ],
      12,
      7
    )
    parts.push(table("A streamed chunk", per(streamed, chunks)))
    return parts.join("\n")
  } finally {
    stop()
  }
}
