/** The grant of the policy: with which rights a tool runs. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { ExecutionGrant } from "../../../src/data/tool/Tool.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { RuntimePolicy } from "../../../src/port/RuntimePolicy.ts"
import { line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const never = () => new Promise<never>(() => {})

/** Runs one call of `write`, whose path a hook changes. `grants` has what the tool ran with. */
const runWith = async (policy: RuntimePolicy, execute: () => unknown = () => "ok") => {
  const grants: Array<ExecutionGrant> = []
  const write = recording("write", execute)
  const hooks: ReadonlyArray<AgentHook> = [
    { name: "moves", preToolCall: (call) => HookAction.transform({ ...call, args: { path: "/tmp/a" } }) },
    {
      name: "watch",
      wrapToolCall: (call, next) => {
        grants.push(call.grant)
        return next(call)
      }
    }
  ]
  await using agent = createAgent({
    provider: scripted([asks(["write", { path: "/etc/a" }])]).provider,
    tools: [write.tool],
    hooks,
    policy
  })
  const { messages } = await agent.run("go")
  return { grants, ran: write.ran, text: line(messages) }
}

const isMoved = (args: unknown) => JSON.stringify(args).includes("/tmp")

describe("arguments that a hook changed", () => {
  it("run with the grant for these arguments, not with that for the model's", async () => {
    const { grants, ran } = await runWith({
      check: ({ args }) => ({ type: "allow", grant: { sandbox: isMoved(args) ? "workspace" : "none" } })
    })
    assert.deepStrictEqual(ran, [{ path: "/tmp/a" }])
    assert.deepStrictEqual(grants, [{ sandbox: "workspace" }])
  })

  it("have the time limit of that grant", async () => {
    const { text } = await runWith({
      check: ({ args }) => ({ type: "allow", grant: { sandbox: "none", timeoutMs: isMoved(args) ? 5 : 60_000 } })
    }, never)
    assert.include(text, "tool write!: the tool did not answer within 5 ms")
  })
})
