/** What a tool can ask while it runs: a model, and hooks. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import type { ToolContext } from "../../../../src/agent/defineTool.ts"
import { textResponse } from "../../../../src/data/LlmCall.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { line, recording } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"

const run = async (execute: (ctx: ToolContext) => unknown, hooks: ReadonlyArray<AgentHook> = [], answer = "inside") => {
  const { tool } = recording("act", (_, ctx) => execute(ctx))
  const agent = createAgent({
    provider: scripted([], {
      after: ({ messages, tools }) =>
        tools.length === 0 ? textResponse(answer) : messages.length > 1 ? textResponse("done") : asks(["act", {}, "a"])
    }).provider,
    tools: [tool],
    hooks,
    log: false
  })
  const { messages } = await agent.run("go")
  await agent.close()
  return line(messages)
}

describe("a tool that runs", () => {
  it("calls a model, for which all hooks run, and nothing of it joins the conversation", async () => {
    const seen: Array<number> = []
    const said = await run(
      async ({ llm }) => (await llm({ prompt: "hi" })).text,
      [{ name: "watch", preLlmCall: ({ messages }) => void seen.push(messages.length) }]
    )
    assert.strictEqual(said, "user: go | assistant[act]:  | tool act: inside | assistant: done")
    assert.deepStrictEqual(seen, [1, 1, 3])
    const hooks = [{
      name: "no",
      preLlmCall: ({ tools }: { readonly tools: ReadonlyArray<unknown> }) =>
        tools.length === 0 ? HookAction.reject("not for tools") : undefined
    }]
    assert.match(await run(async ({ llm }) => (await llm({ prompt: "hi" })).text, hooks), /tool act!: .*not for tools/)
  })

  it("gets an object from the model, if it gives a schema", async () => {
    const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const
    const ask = async ({ llm }: ToolContext) => (await llm({ prompt: "1 + 2", schema })).object
    assert.match(await run(ask, [], "{\"sum\":3}"), /tool act: \{"sum":3\}/)
  })

  it("asks the hooks with a signal, which they allow, answer or reject", async () => {
    const ask = async ({ sendSignal }: ToolContext) =>
      JSON.stringify(await sendSignal({ name: "may", payload: { what: "x" }, blockable: true }))
    assert.match(await run(ask), /tool act: \{"allowed":true\}/)
    const answers = (action: HookAction.Respond<string> | HookAction.Reject) => [{ name: "h", onSignal: () => action }]
    assert.match(await run(ask, answers(HookAction.respond("yes"))), /\{"allowed":true,"answer":"yes"\}/)
    assert.match(await run(ask, answers(HookAction.reject("no"))), /\{"allowed":false,"reason":"no"\}/)
  })
})
