/** An approval is for the arguments that the tool gets, also when an upgrade of the tool decodes them otherwise. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AnyTool } from "../../../src/agent/defineTool.ts"
import type { Decision } from "../../../src/data/RunState.ts"
import type { Suspended } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const type = { type: "object" }

/** The tool `deploy`, whose schema decodes arguments with a function that its JSON schema does not show. */
const deploy = (decode: (args: object) => object) => {
  const { ran, tool } = recording("deploy")
  const input = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: object) => ({ value: decode(value) }),
      jsonSchema: { input: () => type, output: () => type }
    }
  }
  return { ran, tool: { ...tool, input } as unknown as AnyTool }
}

const hook = (more: Partial<AgentHook> = {}): Partial<AgentConfig> => ({
  hooks: [{ name: "gate", ...more, preToolCall: () => HookAction.ask("sure?") }]
})

/** Who asks. */
const askers: { readonly [name: string]: Partial<AgentConfig> } = {
  "a hook": hook(),
  "a gate": hook({ kind: "policy", reinvoke: "ifChanged" }),
  "the policy": { policy: { check: () => ({ type: "ask", reason: "sure?", grant: { sandbox: "none" } }) } }
}

describe("arguments that were approved before an upgrade of the tool", () => {
  for (const [name, config] of Object.entries(askers)) {
    const agentOf = (tool: AnyTool) =>
      createAgent({
        provider: scripted([], {
          after: ({ messages }) => messages.at(-1)!.role === "tool" ? "done" : asks(["deploy", { to: "test" }, "c"])
        }).provider,
        tools: [tool],
        ...config
      })
    const approve: { readonly c: Decision } = { c: { type: "approve" } }

    it(`run if they decode to the same, where ${name} asks`, async () => {
      const { ran, tool } = deploy((args) => ({ ...args }))
      const run = await agentOf(tool).run("go") as Suspended
      assert.strictEqual((await agentOf(tool).resume(run.snapshot, approve)).status, "completed")
      assert.deepStrictEqual(ran, [{ to: "test" }])
    })

    it(`are asked about again if they decode otherwise, where ${name} asks`, async () => {
      const run = await agentOf(deploy((args) => ({ ...args })).tool).run("go") as Suspended
      assert.deepStrictEqual(run.pending.map(({ args }) => args), [{ to: "test" }])
      const { ran, tool } = deploy(() => ({ to: "production" }))
      const again = await agentOf(tool).resume(run.snapshot, approve) as Suspended
      assert.deepStrictEqual(ran, [])
      assert.strictEqual(again.status, "suspended")
      assert.deepStrictEqual(again.pending.map(({ args }) => args), [{ to: "production" }])
      assert.strictEqual((await agentOf(tool).resume(again.snapshot, approve)).status, "completed")
      assert.deepStrictEqual(ran, [{ to: "production" }])
    })
  }
})
