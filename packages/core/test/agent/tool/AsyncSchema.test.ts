/** A schema that checks asynchronously, beside hooks that change the arguments. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { Json } from "../../../src/data/Json.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { line } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Adds a default, as a schema of another library does that looks something up. */
const schema = {
  "~standard": {
    version: 1 as const,
    vendor: "mine",
    validate: async (value: unknown) => ({ value: { unit: "m", ...Object(value) as { readonly size: number } } })
  }
}

const run = async (change: Json | undefined) => {
  const ran: Array<unknown> = []
  const measure = defineTool({
    name: "measure",
    description: "Measures",
    input: schema,
    jsonSchema: { type: "object" },
    execute: (args) => {
      ran.push(args)
      return "ok"
    }
  })
  const hook: AgentHook = {
    name: "changes",
    preToolCall: (call) => change === undefined ? undefined : HookAction.transform({ ...call, args: change })
  }
  const { provider } = scripted([asks(["measure", { size: 1 }]), "done"])
  await using agent = createAgent({ provider, tools: [measure], hooks: [hook], log: false })
  return { ran, said: line((await agent.run("go")).messages) }
}

describe("a schema that checks asynchronously", () => {
  it("adds its defaults before hooks and the tool see the arguments", async () => {
    assert.deepStrictEqual((await run(undefined)).ran, [{ unit: "m", size: 1 }])
  })

  it("denies arguments of a hook that it would change again, so that nothing runs that no hook has seen", async () => {
    const { ran, said } = await run({ size: 2 })
    assert.deepStrictEqual(ran, [])
    assert.include(said, "changes changed the arguments, and the schema of measure changes them again")
    assert.deepStrictEqual((await run({ unit: "cm", size: 2 })).ran, [{ unit: "cm", size: 2 }])
  })
})
