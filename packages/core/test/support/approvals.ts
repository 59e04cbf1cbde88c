/** An agent that asks about every deploy, and a run of it that waits. */
import { assert } from "@effect/vitest"
import type { AgentConfig } from "../../src/agent/AgentConfig.ts"
import { type Agent, createAgent } from "../../src/agent/createAgent.ts"
import type { JsonObject } from "../../src/data/Json.ts"
import type { Decision } from "../../src/data/RunState.ts"
import type { Suspended } from "../../src/guard/RunResult.ts"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import { recording } from "./agent.ts"
import { asks, scripted } from "./model.ts"

export const key = { id: "k1", secret: "a-secret-for-tests-only" }
export const other = { id: "k2", secret: "another-secret-for-tests" }
export const old = { id: "k0", secret: "an-old-secret-for-tests" }
export const approve: Decision = { type: "approve" }

/** What a question demands of its answer. */
export type Terms = Parameters<typeof HookAction.ask>[2]

/** An agent that asks about every deploy; the same whenever it is made. */
export const make = (
  ran: Array<unknown>,
  more: Partial<AgentConfig> = {},
  options: Terms = {}
): Agent => {
  const deploy = recording("deploy", (args) => void ran.push(args)).tool
  const gate: AgentHook = {
    name: "gate",
    tools: "deploy",
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: () => HookAction.ask("deploy?", undefined, options)
  }
  const model = scripted([], {
    after: ({ messages }) =>
      messages.some(({ role }) => role === "tool") ? "done" : asks(["deploy", { to: "test", n: 1 }, "c"])
  })
  return createAgent({
    provider: model.provider,
    tools: [deploy, recording("other", (args) => void ran.push({ other: args })).tool],
    hooks: [gate],
    approvals: { keys: [key] },
    ...more
  })
}

export const suspended = async (agent: Agent, message = "go"): Promise<Suspended> => {
  const result = await agent.run(message)
  assert.strictEqual(result.status, "suspended")
  return result as Suspended
}

/** An agent that calls `deploy` in each turn. Counts the questions, and answers all of them alike. */
export const answering = (
  decision: Decision,
  terms: Terms = {},
  more: Partial<AgentConfig> = {},
  argsOf: (turn: number) => JsonObject = () => ({ to: "test" })
) => {
  let [questions, turns] = [0, 0]
  const model = scripted([], {
    after: ({ messages }) => messages.at(-1)!.role === "tool" ? "done" : asks(["deploy", argsOf(turns++)])
  })
  const onAsk = () => {
    questions++
    return decision
  }
  const agent = make([], { provider: model.provider, approvals: {}, onAsk, ...more }, terms)
  return { agent, questions: () => questions }
}
