/** One step of tool calls, run by an agent of its own. */
import { assert } from "@effect/vitest"
import { createAgent } from "../../src/agent/createAgent.ts"
import type { AnyTool } from "../../src/agent/defineTool.ts"
import type { ToolCall } from "../../src/data/Message.ts"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import { assertValid, line, within } from "./agent.ts"
import { scripted } from "./model.ts"

/** Runs one step of tool calls and gives the transcript. */
export const step = async (
  tools: ReadonlyArray<AnyTool>,
  calls: ReadonlyArray<Partial<ToolCall>>,
  hooks: ReadonlyArray<AgentHook> = []
) => {
  const toolCalls = calls.map((call, index) => ({ id: `id-${index}`, name: "act", args: {}, ...call }))
  const model = scripted([{ toolCalls }])
  await using agent = createAgent({ provider: model.provider, tools, hooks })
  const result = await within(agent.run("go"))
  assertValid(result.messages)
  assert.strictEqual(result.status, "completed")
  return { text: line(result.messages), messages: result.messages, requests: model.requests }
}
