/**
 * An agent for a host. It visits cities, one a step, and writes a report. Its model is a function, so it needs no key.
 */
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import type { SessionStore } from "@belay/core/SessionStore"
import { createAgent, defineTool } from "@belay/sdk"

const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

/** Replace it by `OpenAiCompatible.make({ model, apiKey })` for a real model. */
const model = fromPromise({
  name: "traveller",
  complete: async ({ messages }) => {
    const begin = messages.findLastIndex(({ role }) => role === "user")
    const cities = text(messages[begin]!).split(", ")
    const visited = messages.slice(begin).filter(({ role }) => role === "tool").length
    const city = cities[visited]
    if (city === undefined) return textResponse(`I have seen ${cities.join(", ")}.`)
    const call = { id: `visit-${messages.length}`, name: "visit", args: { city } }
    return { ...textResponse(""), finishReason: "tool-calls", toolCalls: [call] }
  }
})

const visit = defineTool({
  name: "visit",
  description: "Visits a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  // A visit that was cut short by the end of a process may be repeated.
  idempotent: true,
  execute: async (args) => {
    const { city } = args as { readonly city: string }
    console.error(`visits ${city}`)
    await pause(Number(process.env["VISIT_MS"] ?? 1_000))
    return `${city} is beautiful`
  }
})

export const makeAgent = (store: SessionStore) =>
  createAgent({ name: "traveller", provider: model, tools: [visit], store })
