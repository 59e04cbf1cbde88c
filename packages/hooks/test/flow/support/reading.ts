/** An agent that reads megabytes. */
import { createAgent } from "@belay/core"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import * as DataFlow from "@belay/hooks/DataFlow"
import { Scripted } from "@belay/testing"

/** Reads megabytes of records and texts, and returns the state. */
export const reading = async (megabytes: number) => {
  let number = 0
  const batch = () => ({
    items: Array.from({ length: 5_000 }, () => ({ id: ++number, code: `X-${number}`, mail: `u${number}@a.example` })),
    text: `see https://a.example/${number} `.repeat(30_000)
  })
  const agent = createAgent({
    provider: Scripted.make([
      ...Array.from({ length: megabytes }, () => Scripted.toolCalls({ name: "list_all", args: {} })),
      "done"
    ]),
    tools: [defineTool({ name: "list_all", description: "l", input: { type: "object" }, execute: batch })],
    hooks: [DataFlow.make({ sources: { list_all: ["directory", "secret"] } })],
    limits: { steps: megabytes + 1, toolCalls: megabytes + 1 },
    log: false
  })
  const session = await agent.session()
  await session.run("Read X-1, X-2 and all the others.")
  return session.state.snapshot()
}

export const largestKey = (state: { readonly [key: string]: Json }): number =>
  Math.max(...Object.values(state).map((value) => JSON.stringify(value).length))
