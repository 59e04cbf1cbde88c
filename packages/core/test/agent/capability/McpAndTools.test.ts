/** `ctx.mcp` and `ctx.tools`: MCP servers, and what hooks know of the agent's tools. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { PortFailed } from "../../../src/data/AgentError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import type { McpAccessor } from "../../../src/port/McpAccessor.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("MCP servers for a hook", () => {
  const looking = (failures: Array<unknown>, said: Array<unknown>): AgentHook => ({
    name: "looking",
    preTurn: function*(_input, { mcp }) {
      const answer = yield* Effect.result(mcp.callTool("files", "read", { path: "a" }))
      if (answer._tag === "Success") said.push(answer.success)
      else failures.push(answer.failure)
      const listed = yield* Effect.result(mcp.listTools("files"))
      if (listed._tag === "Success") said.push(listed.success)
      else failures.push(listed.failure)
    }
  })
  const accessor = (asked: Array<unknown>, text = "x"): McpAccessor => ({
    callTool: (...call) => {
      asked.push(call)
      return Effect.succeed({ content: [{ type: "text", text }], isError: false })
    },
    listTools: (server) => {
      asked.push([server])
      return Effect.succeed([{ server: "files", name: "read", inputSchema: {} }])
    }
  })

  it("are called through the agent's accessor", async () => {
    const asked: Array<unknown> = []
    const failures: Array<unknown> = []
    const said: Array<unknown> = []
    await using agent = createAgent({
      provider: scripted(["done"]).provider,
      hooks: [looking(failures, said)],
      mcp: accessor(asked)
    })
    await agent.run("go")
    assert.deepStrictEqual(asked, [["files", "read", { path: "a" }], ["files"]])
    assert.deepStrictEqual(said, [
      { content: [{ type: "text", text: "x" }], isError: false },
      [{ server: "files", name: "read", inputSchema: {} }]
    ])
    assert.deepStrictEqual(failures, [])
  })

  it("fail with a clear message without servers, and with the accessor's message when it fails, dies or throws", async () => {
    const messages: Array<unknown> = []
    const broken: ReadonlyArray<McpAccessor | undefined> = [
      undefined,
      { callTool: () => Effect.fail("no such server"), listTools: () => Effect.die("a bug") },
      { ...accessor([]), callTool: () => (undefined as never as { readonly x: never }).x }
    ]
    for (const mcp of broken) {
      const failures: Array<unknown> = []
      await using agent = createAgent({
        provider: scripted(["done"]).provider,
        hooks: [looking(failures, [])],
        ...(mcp === undefined ? {} : { mcp })
      })
      assert.strictEqual((await agent.run("go")).status, "completed")
      for (const { _tag, message, port } of failures as ReadonlyArray<PortFailed>) {
        assert.deepStrictEqual({ _tag, port }, { _tag: "PortFailed", port: "mcp" })
        messages.push(message)
      }
    }
    const none = "ctx.mcp of looking: the agent has no MCP servers; give it some: mcp: McpServers.make({ ... })"
    assert.deepStrictEqual(messages, [
      none,
      none,
      "mcp for looking: no such server",
      "mcp for looking: a bug",
      "mcp for looking: Cannot read properties of undefined (reading 'x')"
    ])
  })

  it("of a sub-agent are those of the agent it works for, else its own", async () => {
    for (const isOwn of [false, true]) {
      const asked: Array<unknown> = []
      const said: Array<unknown> = []
      const helper = createAgent({
        name: "helper",
        provider: scripted(["helped"], { name: "helper" }).provider,
        hooks: [looking([], said)],
        mcp: accessor([], "helper's")
      })
      await using agent = createAgent({
        provider: scripted([asks(["help", { message: "x" }]), "done"]).provider,
        tools: [agentTool({ agent: helper, name: "help", description: "Helps" })],
        ...(isOwn ? {} : { mcp: accessor(asked, "root's") })
      })
      await agent.run("go")
      assert.lengthOf(asked, isOwn ? 0 : 2)
      assert.deepInclude(said[0], { content: [{ type: "text", text: isOwn ? "helper's" : "root's" }] })
    }
  })
})

describe("tools for a hook", () => {
  it("are listed with their hints, including tools that delegate, which a hook cannot run", async () => {
    const helper = createAgent({ name: "helper", provider: scripted([], { name: "helper" }).provider })
    const seen: Array<unknown> = []
    await using agent = createAgent({
      provider: scripted(["done"]).provider,
      tools: [
        { ...recording("look").tool, readOnly: true },
        agentTool({ agent: helper, name: "help", description: "Helps" })
      ],
      hooks: [{
        name: "knowing",
        preTurn: async (_input, ctx) => {
          seen.push(ctx.tools.map(({ delegates, description, inputSchema, name, readOnly }) => ({
            delegates,
            description,
            name,
            readOnly,
            type: inputSchema["type"]
          })))
          seen.push(await ctx.promise(ctx.callTool("help", { message: "x" })))
        }
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, [
      [
        { delegates: false, description: "Does look", name: "look", readOnly: true, type: "object" },
        { delegates: true, description: "Helps", name: "help", readOnly: undefined, type: "object" }
      ],
      { ok: false, error: "help delegates to another agent, which a hook cannot do" }
    ])
  })

  it("are the same for all hooks and calls, so that a hook can remember what it knows of them", async () => {
    const look = recording("look")
    const seen: Array<object> = []
    const see = (ctx: HookContext) => void seen.push(...ctx.tools)
    await using agent = createAgent({
      provider: scripted([asks(["look", { at: 1 }]), "done"]).provider,
      tools: [look.tool],
      hooks: [
        { name: "one", preLlmCall: (_request, ctx) => see(ctx), preToolCall: (_call, ctx) => see(ctx) },
        { name: "other", preToolCall: (_call, ctx) => see(ctx) }
      ]
    })
    await agent.run("go")
    assert.lengthOf(seen, 4)
    assert.strictEqual(new Set(seen).size, 1)
    assert.isTrue(Object.isFrozen(seen[0]))
  })

  it("are offered to a model that it asks, and only the hook runs them", async () => {
    const look = recording("look")
    const model = scripted([asks(["look", { at: 1 }]), "done"])
    const seen: Array<unknown> = []
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [{
        name: "asking",
        preTurn: function*(_input, ctx) {
          const { toolCalls } = yield* ctx.llm({
            prompt: "?",
            tools: [...ctx.tools, { name: "say", description: "", inputSchema: {} }]
          })
          seen.push(toolCalls.map(({ args, name }) => [name, args]))
        }
      }]
    })
    const { messages } = await agent.run("go")
    assert.deepStrictEqual(model.requests[0]!.tools.map(({ name }) => name), ["look", "say"])
    assert.deepStrictEqual(seen, [[["look", { at: 1 }]]])
    assert.deepStrictEqual(look.ran, [])
    assert.lengthOf(messages, 2)
  })
})
