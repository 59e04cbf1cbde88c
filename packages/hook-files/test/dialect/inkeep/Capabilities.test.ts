import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Inkeep from "@belay/hook-files/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { said, world } from "./support.ts"

const take = (args: Json) => calls(["take", args])
const proceed = { action: "proceed" } as const

describe("what stored hooks can do", () => {
  // rows: E-21
  it("parallel calls of one conversation count one after the other", async () => {
    const seen: Array<Json> = []
    const { agent } = world([
      {
        at: "before-args",
        does: async ({ variableBag }) => {
          const n = await variableBag.get("n") as number | undefined ?? 0
          await new Promise((resolve) => void setImmediate(resolve))
          await variableBag.set("n", n + 1)
          await variableBag.set("mine", n + 1, "toolCall")
          return proceed
        }
      },
      {
        at: "after-result",
        does: async ({ variableBag }) => {
          seen.push([await variableBag.get("n") ?? null, await variableBag.get("mine", "toolCall") ?? null])
          return proceed
        }
      }
    ], [calls(["take", { a: 1 }], ["take", { a: 2 }], ["take", { a: 3 }])])
    await agent.run("go")
    assert.deepEqual(seen.map((one) => (one as ReadonlyArray<Json>)[1]), [1, 2, 3])
    assert.deepEqual((seen.at(-1) as ReadonlyArray<Json>)[0], 3)
  })

  // rows: E-30, DEC-12, DEC-13
  it("artifacts are written, appended and read at every point, under names of their own", async () => {
    const refs: Array<string> = []
    const { agent } = world([
      {
        at: "before-args",
        does: async ({ artifacts }) => {
          refs.push(await artifacts.write("page::raw", "<html>", "text/html"))
          assert.isUndefined(await artifacts.read("nothing"))
          return proceed
        }
      },
      {
        at: "after-result",
        does: async ({ artifacts }) => {
          await artifacts.append("page::raw", "…")
          return { ...proceed, result: `stored, ${await artifacts.read("page::raw")}` }
        }
      }
    ], [take({})])
    const { messages } = await agent.run("go")
    assert.deepEqual(refs, ["<artifact:hook:page::raw>"])
    assert.deepEqual(said(messages), ["stored, <html>…"])
  })

  // rows: E-40, E-41, DEC-22
  it("calls MCP tools of the project and HTTP, if the host provides them", async () => {
    const called: Array<Json> = []
    const { agent, warnings } = world(
      [
        {
          at: "before-args",
          does: async ({ mcp }) => ({
            ...proceed,
            args: {
              answer: [
                await mcp!.callTool("billing.status", { id: 1 }),
                await mcp!.callTool("crm", "find", {}),
                await mcp!.listTools()
              ]
            }
          })
        },
        { at: "after-result", does: ({ http }) => http.fetch("https://example.com").then(() => proceed) }
      ],
      [take({})],
      {
        mcp: () => ({
          callTool: (server, tool, args) => {
            called.push([server, tool, args])
            return Promise.resolve("active")
          },
          listTools: () => ["billing.status"]
        })
      }
    )
    const { messages } = await agent.run("go")
    assert.deepEqual(called, [["billing", "status", { id: 1 }], ["crm", "find", {}]])
    assert.deepEqual(said(messages), [`["active","active",["billing.status"]]`])
    assert.match(warnings.join(), /d1@project \(after-result\) broke: .*HTTP/i)
  })

  // rows: E-02, E-03, DEC-08, DEC-16, DEC-20
  it("delegations are changed, ended and answered", async () => {
    const inner = scripted([{ text: "helped" }, { text: "helped" }])
    const helper = createAgent({ name: "helper", provider: inner.provider, tools: [] })
    const tools = [agentTool({ name: "helper", agent: helper, description: "helps" })]
    const payload = {
      systemPrompt: "Be brief.",
      additionalContext: ["status: active"],
      messages: [{ role: "user", content: "before" }, { role: "assistant", content: "yes" }]
    }
    const one = world(
      [
        { at: "before-delegation", does: () => ({ ...proceed, payload }) },
        { at: "after-delegation", does: ({ result }) => ({ ...proceed, result: `${result as string}, checked` }) }
      ],
      [calls(["helper", { message: "help" }])],
      {},
      { tools }
    )
    assert.deepEqual(said((await one.agent.run("go")).messages), ["helped, checked"])
    assert.deepEqual(inner.requests[0]!.messages.map(text), ["before", "yes", "status: active", "Be brief.\n\nhelp"])

    const bad = world(
      [{
        at: "before-delegation",
        does: () => ({ ...proceed, payload: { messages: [{ role: "system", content: 7 }] } })
      }],
      [calls(["helper", { message: "help" }])],
      {},
      { tools }
    )
    await bad.agent.run("go")
    assert.match(bad.warnings[0]!, /expected a payload of message/)
    const ended = world(
      [{ at: "before-delegation", does: () => ({ action: "abort", reason: "closed" }) }],
      [calls(["helper", { message: "help" }])],
      {},
      { tools }
    )
    assert.deepInclude(await ended.agent.run("go"), { status: "aborted", reason: "closed" })
    assert.lengthOf(inner.requests, 2)
  })

  // rows: E-08
  it("sub-agents have what is attached to the project and to them", async () => {
    const seen: Array<string> = []
    const helper = createAgent({
      name: "helper",
      provider: scripted([calls(["bash", { command: "x" }])]).provider,
      tools: recording().tools
    })
    const note = (word: string) => ({ tool }: Inkeep.Context) => {
      seen.push(`${word} ${tool!.name}`)
      return proceed
    }
    const { agent } = world(
      [
        { at: "before-args", does: note("project") },
        { at: "before-args", does: note("helper"), scope: { _tag: "agent", agentId: "helper" } },
        { at: "before-args", does: note("main"), scope: { _tag: "agent", agentId: "main" } }
      ],
      [calls(["helper", { message: "help" }])],
      { agentId: "main" },
      { tools: [agentTool({ name: "helper", agent: helper, description: "helps" })] }
    )
    await agent.run("go")
    assert.deepEqual(seen, ["project helper", "main helper", "project bash", "helper bash"])
  })

  // rows: E-50
  it("a secret reaches the tool alone: neither the hook, the conversation, the events nor the result has it", async () => {
    const value = "vault-value-8f1c"
    const given: Array<string> = []
    const looks = defineHook({
      name: "looks",
      kind: "observer",
      preToolCall: ({ args }) => void given.push(JSON.stringify(args))
    })
    const { agent, events, requests, took } = world(
      [{
        at: "before-args",
        does: async ({ args, secrets }) => ({
          ...proceed,
          args: {
            ...args as object,
            api_key: await secrets!.get("billing"),
            answer: `used ${await secrets!.get("billing")}`
          }
        })
      }],
      [take({ api_key: "{{api_key}}" }), take({ api_key: "secret-00000000-0000-0000-0000-000000000000" })],
      { secrets: (name) => name === "billing" ? value : undefined },
      { hooks: [looks] }
    )
    const { messages } = await agent.run("go")
    assert.deepInclude(took[0] as object, { api_key: value, answer: `used ${value}` })
    assert.notInclude(JSON.stringify([messages, requests, events, given]), value)
    assert.match(said(messages)[0]!, /^used secret-/)
  })
})
