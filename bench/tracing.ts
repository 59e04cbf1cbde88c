/** What tracing costs a tool turn in process: not there, there but without an SDK, and exporting. */
import { createAgent, defineTool } from "@belay/core"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Plugin } from "@belay/core/Plugin"
import * as Tracing from "@belay/observe/Tracing"
import * as otel from "@opentelemetry/api"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { measure, table } from "./measure.ts"

const turns = 10

const agentWith = (plugins: ReadonlyArray<Plugin>) => {
  let step = 0
  const answer = (): LlmResponse => ({
    model: "fake",
    text: step < turns ? "" : "done",
    toolCalls: step < turns ? [{ id: `call_${step}`, name: "add", args: { a: step++, b: 1 } }] : [],
    finishReason: step < turns ? "tool-calls" : "stop",
    usage: { inputTokens: 10, outputTokens: 5 }
  })
  const provider: LlmProvider = { name: "fake", complete: () => Effect.promise(async () => answer()) }
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object" },
    execute: async () => "3"
  })
  const agent = createAgent({ provider, tools: [add], plugins, freeze: false })
  return async (times: number) => {
    for (let i = 0; i < times; i++) {
      step = 0
      await agent.run("add")
    }
  }
}

export const tracing = async (): Promise<string> => {
  const collector = createServer((request, response) => {
    request.resume()
    response.end("{}")
  })
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
  const { port } = collector.address() as AddressInfo
  const silent = Tracing.make({ otel })
  const exporting = Tracing.make({ url: `http://127.0.0.1:${port}` })
  const figures = await measure([
    { name: "no tracing", run: agentWith([]) },
    { name: "`Tracing` with the OpenTelemetry API and no SDK", run: agentWith([silent.plugin]) },
    { name: "`Tracing` that exports to a collector (its own CPU is included)", run: agentWith([exporting.plugin]) }
  ], 300)
  await exporting.close()
  collector.close()
  return table(
    "One tool turn with tracing",
    figures.map((one) => ({
      ...one,
      cpu: one.cpu / turns,
      wall: one.wall / turns
    }))
  )
}
