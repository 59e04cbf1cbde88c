/** Turns that wait for ever, so that objects of each shape of a turn are alive. `keptShapes` says what for. */
import { textResponse } from "../../../data/LlmCall.ts"
import { outsideOfCaller } from "../../../guard/internal/platform/platform.ts"
import { fromPromise } from "../../../port/LlmProvider.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import { defineTool } from "../../defineTool.ts"

/** Nothing else refers to them. */
const waiting: Array<unknown> = []

/** Made when the module is loaded: later it is the context of some turn. */
const outside = outsideOfCaller()

type Create = (config: AgentConfig) => { readonly run: (message: string) => Promise<unknown> }

/** Starts one that waits for a model and one that waits for a tool. They have no timer, so a process can end. */
export const startWaiting = (create: Create): void => outside(() => start(create))

const start = (create: Create): void => {
  const never = () => new Promise<never>(() => {})
  const tool = defineTool({ name: "wait", description: "Waits", input: { type: "object" }, execute: never })
  const call = {
    ...textResponse(""),
    finishReason: "tool-calls",
    toolCalls: [{ id: "wait", name: "wait", args: {} }]
  } as const
  const limits = { wallClockMs: Infinity, toolMs: Infinity }
  for (const complete of [never, async () => call]) {
    const provider = fromPromise({ name: "wait", complete })
    const agent = create({ name: "wait", provider, tools: [tool], limits, log: false })
    const run = agent.run("wait")
    run.catch(() => {})
    waiting.push(agent, run)
  }
}
