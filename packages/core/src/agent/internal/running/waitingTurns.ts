/**
 * Turns that wait for ever. They keep the optimised code of the turn: V8 drops an optimised function when the last
 * object of a shape that it was made for is collected, and between two turns there is none: after each full collection
 * a turn was many times slower. So a process that has run some turns keeps a few of its own that wait.
 */
import { textResponse } from "../../../data/LlmCall.ts"
import { outsideOfCaller } from "../../../guard/internal/platform/platform.ts"
import { fromPromise } from "../../../port/LlmProvider.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import { defineTool } from "../../defineTool.ts"

/** As many turns have to run before, so that programs that run only a few pay nothing. */
const afterTurns = 64

type Create = (config: AgentConfig) => { readonly run: (message: string) => Promise<unknown> }

let turns = 0
let create: Create | undefined

/** Says how to make the agents of the turns that wait. */
export const keepShapesWith = (createAgent: Create): void => {
  create = createAgent
}

/** Counts a turn that begins. */
export const countTurn = (): void => {
  if (turns < afterTurns && ++turns === afterTurns && create !== undefined) startWaiting(create)
}

/** Nothing else refers to them. */
const waiting: Array<unknown> = []

/** Made when the module is loaded: later it is the context of some turn. */
const outside = outsideOfCaller()

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
