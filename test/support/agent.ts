/** An agent with a scripted model, whose tools record their arguments. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export type Line = Partial<LlmResponse>

/** Answers line by line, then with "the end". */
export const scripted = (lines: ReadonlyArray<Line>) => {
  const requests: Array<LlmRequest> = []
  const provider: LlmProvider = {
    name: "one",
    complete: (request) =>
      Effect.sync(() => {
        const line = lines[requests.push(request) - 1] ?? { text: "the end" }
        return {
          model: "model-1",
          text: "",
          toolCalls: [],
          finishReason: line.toolCalls === undefined ? "stop" : "tool-calls",
          ...line
        }
      })
  }
  return { provider, requests }
}

/** An answer that calls tools. */
export const calls = (...all: ReadonlyArray<readonly [name: string, args: Json]>): Line => ({
  toolCalls: all.map(([name, args], index) => ({ id: `call-${index}`, name, args }))
})

/** `bash`, `write_file` and `read_file`, which do nothing but remember. */
export const recording = () => {
  const ran: Array<string> = []
  const tools = [
    defineTool({
      name: "bash",
      description: "Runs",
      input: Schema.Struct({ command: Schema.String }),
      execute: ({ command }) => {
        ran.push(command)
        return "done"
      }
    }),
    defineTool({
      name: "write_file",
      description: "Writes",
      input: Schema.Struct({ path: Schema.String, content: Schema.String }),
      execute: ({ path }) => {
        ran.push(`write ${path}`)
        return "done"
      }
    }),
    defineTool({
      name: "read_file",
      description: "Reads",
      readOnly: true,
      input: Schema.Struct({ path: Schema.String }),
      execute: ({ path }) => {
        ran.push(`read ${path}`)
        return "done"
      }
    })
  ]
  return { ran, tools }
}

/** Runs a conversation in which the model calls tools, one step each. */
export const run = async (
  hooks: ReadonlyArray<AgentHook>,
  ...steps: ReadonlyArray<readonly [name: string, args: Json]>
) => {
  const { ran, tools } = recording()
  const { provider, requests } = scripted(steps.map((step) => calls(step)))
  await using agent = createAgent({ provider, tools, hooks, cwd: "/p" })
  const result = await agent.run("go")
  return { ran, requests, result, said: result.messages.filter(({ role }) => role === "tool").map(text) }
}
