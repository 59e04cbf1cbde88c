/** Arguments that a hook proposes in its question, and hooks that come from a source. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { ConfigError } from "../../../../src/data/AgentError.ts"
import type { Suspended } from "../../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import type { RuntimePolicy } from "../../../../src/port/RuntimePolicy.ts"
import { line, recording } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"

describe("an ask with arguments of the hook's own", () => {
  const safer: AgentHook = {
    name: "safer",
    priority: 50,
    preToolCall: ({ args }) =>
      HookAction.ask("with a dry run first?", undefined, { args: { ...args as object, dryRun: true } })
  }
  const start = (hooks: ReadonlyArray<AgentHook>, policy?: RuntimePolicy) => {
    const ran: Array<unknown> = []
    const model = scripted([], {
      after: ({ messages }) =>
        messages.some(({ role }) => role === "tool") ? "done" : asks(["deploy", { to: "test" }, "c"])
    })
    const deploy = recording("deploy", (args) => void ran.push(args)).tool
    return {
      ran,
      make: () =>
        createAgent({ provider: model.provider, tools: [deploy], hooks, ...(policy === undefined ? {} : { policy }) })
    }
  }
  const proposed = { to: "test", dryRun: true }

  it("shows what will run, and runs exactly that after the approval, in this process or another", async () => {
    const { make, ran } = start([safer])
    const run = await make().run("go") as Suspended
    assert.deepEqual(run.pending[0]!.args, proposed)
    const end = await make().resume(JSON.stringify(run.snapshot), { c: { type: "approve" } })
    assert.deepEqual([end.status, ran], ["completed", [proposed]])
  })

  it("runs nothing when it is denied", async () => {
    const { make, ran } = start([safer])
    const run = await make().run("go") as Suspended
    await make().resume(run.snapshot, { c: { type: "deny", reason: "no" } })
    assert.deepEqual(ran, [])
  })

  it("is checked by the policy and all other hooks, including earlier ones", async () => {
    const seen: Array<unknown> = []
    const guard: AgentHook = {
      name: "guard",
      priority: 10,
      preToolCall: ({ args }) => {
        seen.push(args)
        return "dryRun" in (args as object) ? HookAction.reject("no dry runs") : undefined
      }
    }
    const judged: Array<unknown> = []
    const policy: RuntimePolicy = {
      check: ({ args }) => {
        judged.push(args)
        return { type: "allow", grant: { sandbox: "none" } }
      }
    }
    const { make, ran } = start([safer, guard], policy)
    // The guard refuses what was proposed, so nobody is asked.
    const end = await make().run("go")
    assert.deepEqual([ran, seen, judged], [[], [{ to: "test" }, proposed], [{ to: "test" }]])
    assert.match(line(end.messages), /tool deploy!: no dry runs/)
  })

  it("is refused where arguments cannot be proposed", async () => {
    const { make, ran } = start([{
      ...safer,
      kind: "policy",
      preToolCall: () => HookAction.ask("?", undefined, { args: (() => 1) as never })
    }])
    assert.match(line((await make().run("go")).messages), /tool deploy!: .*expected JSON/)
    assert.deepEqual(ran, [])
  })
})

describe("hook sources", () => {
  const provider = scripted(["hello"]).provider

  it("load their hooks for the folder of the agent when it is made", async () => {
    const places: Array<string> = []
    const source = {
      name: "files",
      load: ({ cwd }: { readonly cwd: string }) => {
        places.push(cwd)
        return { hooks: [{ name: "from-file", preTurn: () => HookAction.reject("not today") }] }
      }
    }
    await using agent = createAgent({ provider, cwd: "/srv/app", hookSources: [source] })
    const error = await agent.run("hi").then(() => assert.fail("expected a refusal"), String)
    assert.match(error, /not today/)
    assert.deepEqual(places, ["/srv/app"])
  })

  it("keep the agent from being made when they cannot be loaded", () => {
    const load = () => {
      throw new Error("guards.json is not JSON")
    }
    assert.throws(
      () => createAgent({ provider, hookSources: [{ name: "files", load }] }),
      ConfigError,
      /hookSources\.files cannot be loaded: guards\.json is not JSON/
    )
  })
})
