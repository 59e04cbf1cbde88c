/** Hooks that the agents of a tree have in common run once for each event. */
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { type Agent, createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { PendingAsk } from "@belay/core/RunState"
import * as Approval from "@belay/hooks/Approval"
import * as Hooks from "@belay/hooks/Hooks"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import { lists, single } from "./support/readyHooks.ts"

const remember = { what: "tool", scope: "session" } as const

/** A lead, an agent in the middle and a leaf, all made by one function. The lead and the leaf call `deploy`. */
const tree = (hooksOf: () => ReadonlyArray<AgentHook>, more: object = {}) => {
  const ran: Array<unknown> = []
  const deploy = defineTool({
    name: "deploy",
    description: "d",
    input: { type: "object" },
    execute: (args) => {
      ran.push(args)
      return "ok"
    }
  })
  const make = (name: string, script: ReadonlyArray<Scripted.Entry>, sub?: Agent): Agent =>
    createAgent({
      name,
      provider: Scripted.make(script),
      tools: [deploy, ...(sub === undefined ? [] : [agentTool({ name: "work", description: "w", agent: sub })])],
      hooks: hooksOf(),
      log: false,
      ...(name === "lead" ? more : {})
    })
  const call = (by: string) => Scripted.toolCalls({ name: "deploy", args: { by } })
  const work = Scripted.toolCalls({ name: "work", args: { message: "x" } })
  const leaf = make("leaf", [call("leaf"), "done"])
  const middle = make("middle", [work, "done"], leaf)
  return { lead: make("lead", [call("lead"), work, "done"], middle), ran }
}

describe("in a tree whose agents are made by one function", () => {
  it.each(Object.entries({ ...single, ...lists }))(
    "%s is one hook, although each agent makes its own",
    (name, make) => {
      const identities = () => make().map(({ identity, name: own }) => [own, identity?.kind])
      assert.isTrue(identities().every(([, kind]) => kind !== undefined), name)
      assert.deepStrictEqual(identities(), identities())
    }
  )

  it("a hook with the same options runs once for each call, at any depth", async () => {
    const seen: Array<unknown> = []
    const when = ({ args }: { readonly args: unknown }) => {
      seen.push(args)
      return true
    }
    const { lead, ran } = tree(() => [Approval.make({ tools: "deploy", when })], { onAsk: () => ({ type: "approve" }) })
    await lead.run("go")
    await lead.close()
    assert.deepStrictEqual([seen, ran], [[{ by: "lead" }, { by: "leaf" }], [{ by: "lead" }, { by: "leaf" }]])
  })

  it("a person is asked once for each call, also if every agent has its own function that asks", async () => {
    const asked: Array<unknown> = []
    const { lead, ran } = tree(() => [
      Approval.make({
        tools: "deploy",
        ask: ({ args }) => {
          asked.push(args)
          return { type: "approve" }
        }
      })
    ])
    await lead.run("go")
    await lead.close()
    assert.deepStrictEqual([asked, ran.length], [[{ by: "lead" }, { by: "leaf" }], 2])
  })

  it("what a person wants remembered is remembered for the whole tree", async () => {
    let asked = 0
    const { lead, ran } = tree(() => [
      Approval.make({
        tools: "deploy",
        standing: "session",
        ask: () => {
          asked++
          return { type: "approve", remember }
        }
      })
    ])
    await lead.run("go")
    await lead.close()
    assert.deepStrictEqual([asked, ran.length], [1, 2])
  })

  it("a limit counts each call once", async () => {
    const { lead, ran } = tree(() => [ToolCallLimit.make({ tools: "deploy", perTurn: 2 })])
    await lead.run("go")
    await lead.close()
    assert.lengthOf(ran, 2)
  })

  it("one approval is enough for the questions of all agents, and one suspended question is one", async () => {
    const { lead, ran } = tree(() => [Approval.make({ tools: "deploy" })])
    const pending: Array<ReadonlyArray<PendingAsk>> = []
    let result = await lead.run("go")
    while (result.status === "suspended") {
      pending.push(result.pending)
      result = await lead.resume(result.snapshot, { [result.pending[0]!.callId]: { type: "approve", by: "ada" } })
    }
    await lead.close()
    assert.deepStrictEqual([pending.map(({ length }) => length), ran.length], [[1, 1], 2])
  })
})

describe("agents of a tree with other options of one ready hook", () => {
  const warningsOf = (lead: AgentHook, sub: AgentHook) => warningsOfLists([lead], [sub])

  const warningsOfLists = async (
    lead: ReadonlyArray<AgentHook>,
    sub: ReadonlyArray<AgentHook>
  ): Promise<ReadonlyArray<string>> => {
    const warnings: Array<string> = []
    const worker = createAgent({ name: "worker", provider: Scripted.make(["done"]), hooks: sub, log: false })
    const agent = createAgent({
      name: "lead",
      provider: Scripted.make(["done"]),
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      hooks: lead,
      log: (line) => void warnings.push(line.message)
    })
    await agent.run("go")
    await agent.close()
    return warnings
  }

  it("are warned about, with the names of both and what to do", async () => {
    const warnings = await warningsOf(Approval.make({ tools: "deploy" }), Approval.make({ tools: "send_*" }))
    assert.lengthOf(warnings, 1)
    assert.match(
      warnings[0]!,
      /^hook human-approval of sub-agent worker has other options than that of lead, so both run for its calls: give both/
    )
  })

  it("are not warned about if the options are equal, or the hooks have other names", async () => {
    const tools = ["deploy", "send_*"]
    assert.deepStrictEqual(await warningsOf(Approval.make({ tools }), Approval.make({ tools: [...tools] })), [])
    const named = Approval.make({ name: "mail-approval", tools: "send_*" })
    assert.deepStrictEqual(await warningsOf(Approval.make({ tools }), named), [])
  })

  it("are not warned about if each has made its own safe defaults with the same function that asks", async () => {
    const ask = () => ({ type: "approve" }) as const
    for (const options of [{}, { ask }]) {
      const make = () => Hooks.safeDefaults(options)
      assert.deepStrictEqual(await warningsOfLists(make(), make()), [])
    }
    const warnings = await warningsOfLists(Hooks.safeDefaults({ ask }), Hooks.safeDefaults())
    assert.deepStrictEqual(warnings.map((text) => text.split(" ")[1]), ["data-flow", "human-approval"])
  })
})

describe("a gate that asks, beside any other ready hook", () => {
  const rewriting: AgentHook = {
    name: "rewrite",
    preToolCall: (call) => HookAction.transform({ ...call, args: { ...Object(call.args), tenant: "acme" } })
  }
  const refusing: AgentHook = { name: "refuse", priority: 900, preToolCall: () => HookAction.reject("never") }

  it.each(Object.entries(single))("asks once, last, about what will run (%s)", async (_name, make) => {
    const asked: Array<unknown> = []
    const ask = ({ args }: Approval.Request) => {
      asked.push(args)
      return { type: "approve" } as const
    }
    const others = make().filter(({ name }) => name !== "human-approval")
    for (const hooks of [[rewriting, ...others], [...others, rewriting]]) {
      const { lead, ran } = tree(() => [Approval.make({ tools: "deploy", ask }), ...hooks])
      await lead.run("go").catch(() => {})
      await lead.close()
      assert.deepStrictEqual(asked.splice(0), ran)
      assert.isTrue(ran.every((args) => Object(args).tenant === "acme"))
    }
    const { lead, ran } = tree(() => [Approval.make({ tools: "deploy", ask }), ...others, refusing])
    await lead.run("go").catch(() => {})
    await lead.close()
    assert.deepStrictEqual([asked, ran], [[], []])
  })
})
