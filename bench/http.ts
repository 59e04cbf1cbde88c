/**
 * Ten tool turns over HTTP, against a hand-written loop on the `openai` client with the global
 * fetch.
 */
import { createAgent } from "@belay/core"
import { defineTool } from "@belay/core/defineTool"
import { OpenAiCompatible } from "@belay/providers"
import * as Schema from "effect/Schema"
import OpenAI from "openai"
import { type Contender, measure, table } from "./measure.ts"
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
    return parts.join("\n")
  } finally {
    stop()
  }
}
