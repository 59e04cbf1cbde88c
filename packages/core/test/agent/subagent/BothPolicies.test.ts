/** A sub-agent has two policies: that of the agent that delegates, and its own. Both must allow a call. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { type ExecutionGrant, unrestricted } from "../../../src/data/tool/Tool.ts"
import type { Suspended } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import type { PolicyAnswer, RuntimePolicy } from "../../../src/port/RuntimePolicy.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const none = { sandbox: "none" }
const workspace = { sandbox: "workspace" }

/** Answers about the tool `deploy`, and allows all others. */
const policyOf = (answer: PolicyAnswer, isLater: boolean): RuntimePolicy => ({
  check: ({ name }) => {
    const found: PolicyAnswer = name === "deploy" ? answer : { type: "allow", grant: unrestricted }
    return isLater ? Effect.andThen(Effect.yieldNow, Effect.succeed(found)) : found
  }
})

/** A model that makes its calls, and is done when it has read their results. */
const once = (calls: ReturnType<typeof asks>) =>
  scripted([], { after: ({ messages }) => messages.at(-1)!.role === "tool" ? "done" : calls }).provider

/** An agent whose sub-agent deploys, `depth` agents below it. `grants` has the grants of the runs. */
const teamOf = (outer: PolicyAnswer, inner: PolicyAnswer, depth = 1, isLater = false) => {
  const deploy = recording("deploy")
  const grants: Array<ExecutionGrant> = []
  const watch: AgentHook = {
    name: "watch",
    wrapToolCall: (call, next) => {
      if (call.name === "deploy") grants.push(call.grant)
      return next(call)
    }
  }
  const make = () => {
    let agent = createAgent({
      name: "worker",
      provider: once(asks(["deploy", {}, "d"])),
      tools: [deploy.tool],
      policy: policyOf(inner, isLater)
    })
    for (let level = 1; level <= depth; level++) {
      const isRoot = level === depth
      agent = createAgent({
        name: `lead${level}`,
        provider: once(asks(["work", { message: "x" }, "w"])),
        tools: [agentTool({ name: "work", description: "w", agent })],
        ...(isRoot ? { policy: policyOf(outer, isLater), hooks: [watch] } : {})
      })
    }
    return agent
  }
  return { deploy, grants, make }
}

describe("the policies of a sub-agent", () => {
  for (const depth of [1, 3]) {
    for (const isLater of [false, true]) {
      const where = `${depth} below, with ${isLater ? "Effects" : "values"}`

      it(`ask if the outer policy asks and the inner one allows, with the inner grant (${where})`, async () => {
        const outer = { type: "ask", reason: "outer?", grant: none } as const
        const { deploy, grants, make } = teamOf(outer, { type: "allow", grant: workspace }, depth, isLater)
        const run = await make().run("go") as Suspended
        assert.strictEqual(run.status, "suspended")
        assert.deepStrictEqual(run.pending.map(({ by, reason }) => `${by} ${reason}`), ["policy outer?"])
        assert.lengthOf(deploy.ran, 0)
        const decisions = { [run.pending[0]!.callId]: { type: "approve" as const } }
        assert.strictEqual((await make().resume(run.snapshot, decisions)).status, "completed")
        assert.lengthOf(deploy.ran, 1)
        assert.deepStrictEqual(grants, [workspace])
      })

      it(`ask if the inner policy asks and the outer one allows (${where})`, async () => {
        const inner = { type: "ask", reason: "inner?", grant: workspace } as const
        const { deploy, make } = teamOf({ type: "allow", grant: none }, inner, depth, isLater)
        const run = await make().run("go") as Suspended
        assert.deepStrictEqual(run.pending.map(({ reason }) => reason), ["inner?"])
        assert.lengthOf(deploy.ran, 0)
      })
    }
  }

  for (const type of ["allow", "ask"] as const) {
    const other: PolicyAnswer = type === "allow" ? { type, grant: none } : { type, reason: "?", grant: none }
    const never: PolicyAnswer = { type: "deny", reason: "never" }

    it(`deny if one of them denies, although the other one answers ${type}`, async () => {
      for (const [outer, inner] of [[other, never], [never, other]] as const) {
        const { deploy, make } = teamOf(outer, inner)
        assert.strictEqual((await make().run("go")).status, "completed")
        assert.lengthOf(deploy.ran, 0)
      }
    })
  }
})
