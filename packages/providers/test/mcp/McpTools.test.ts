import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { names } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import * as McpTools from "@belay/providers/McpTools"
import * as Scripted from "@belay/testing/Scripted"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"

const connected = async (...args: ReadonlyArray<string>): Promise<Client> => {
  const client = new Client({ name: "test", version: "1.0.0" })
  const file = fileURLToPath(new URL("../support/mcpServer.ts", import.meta.url))
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [file, ...args], stderr: "inherit" })
  )
  return client
}

let client: Client
let tools: ReadonlyArray<McpTools.McpTool>
beforeAll(async () => {
  client = await connected()
  tools = await McpTools.fromClient(client, { server: "files", trustHints: true })
})
afterAll(() => client.close())

const asks = (name: string, args: Json = {}) => Scripted.toolCalls({ name, args })

/** What the model reads of one call. */
const run = async (name: string, args: Json = {}, config: Partial<AgentConfig> = {}) => {
  await using agent = createAgent({ provider: Scripted.make([asks(name, args), "done"]), tools, ...config })
  const { messages } = await agent.run("go")
  return messages.flatMap((message) =>
    message.role === "tool" ? [{ content: message.content, isError: message.isError === true }] : []
  )[0]
}

/** A client as it might be, of a server that may say anything. */
const fake = (pages: ReadonlyArray<unknown>, answer: unknown = { content: [] }): McpTools.Client => {
  let page = 0
  return { listTools: async () => pages[Math.min(page++, pages.length - 1)] as never, callTool: async () => answer }
}
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
const failing = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => assert.fail("expected an McpError"), String)

describe("tools of an MCP server", () => {
  it("have the names, descriptions, schemas and hints of all pages of the list", () => {
    assert.lengthOf(tools, 10)
    const { execute: _execute, ...read } = tools[0]!
    assert.deepStrictEqual(read, {
      name: "mcp__files__read",
      description: "Reads a file as it was reviewed",
      input: {
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
        additionalProperties: false
      },
      readOnly: true,
      idempotent: true
    })
    assert.deepInclude(tools[1], {
      name: "mcp__files__delete_all",
      description: "delete_all",
      readOnly: false,
      destructive: true
    })
    assert.notProperty(tools[2], "readOnly")
    const [odd] = tools.slice(-1)
    assert.match(odd!.name, /^mcp__files__a_name_with_spaces_and_more_than_so_m[a-z_]*_[0-9a-f]{14}$/)
  })

  it("are selected by their own names, and named with the prefix", async () => {
    const some = await McpTools.fromClient(client, {
      server: "files",
      include: ["*a*", "!picture"],
      exclude: "delete_*",
      prefix: "fs_"
    })
    assert.deepStrictEqual(some.slice(0, 3).map(({ name }) => name), ["fs_read", "fs_stat", "fs_fail"])
    assert.isFalse(some.some(({ name }) => name.includes("delete")))
  })

  it("return texts, structured content, parts and errors", async () => {
    assert.deepStrictEqual(await run("mcp__files__read", { path: "a.txt" }), {
      content: "contents of a.txt\nand more",
      isError: false
    })
    assert.deepStrictEqual(await run("mcp__files__stat", { path: "a.txt" }), { content: { size: 7 }, isError: false })
    assert.deepStrictEqual(await run("mcp__files__picture"), {
      content: [
        { type: "text", text: "a picture" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
        { type: "text", text: "[picture: file:///picture.png]" },
        { type: "text", text: "the legend" }
      ],
      isError: false
    })
    assert.deepStrictEqual(await run("mcp__files__fail"), { content: "the disk is full", isError: true })
    const crashed = await run("mcp__files__crash")
    assert.isTrue(crashed?.isError)
    assert.include(JSON.stringify(crashed?.content), "no such tool: crash")
  })

  it("are not called with arguments that do not fit their schema", async () => {
    const answer = await run("mcp__files__read", { path: 7 })
    assert.isTrue(answer?.isError)
    assert.match(JSON.stringify(answer?.content), /do not fit the tool's schema: path/)
  })

  it("return at most the allowed length", async () => {
    const bounded = await McpTools.fromClient(client, { server: "files", maxResultLength: 100 })
    const answer = await run("mcp__files__endless", {}, { tools: bounded })
    assert.deepStrictEqual(answer, { content: `${"x".repeat(100)}\n[cut: 499900 more characters]`, isError: false })
  })

  it("are cancelled at the server with the turn, and at their time limit", async () => {
    const controller = new AbortController()
    // The server answers the second request when it has the first.
    const ordered: McpTools.Client = {
      listTools: (params, options) => client.listTools(params, options),
      callTool: (params, options) => {
        const answer = client.callTool(params, options)
        void client.callTool({ name: "cancelled", arguments: {} }).then(() => controller.abort())
        return answer
      }
    }
    const own = await McpTools.fromClient(ordered, { server: "files", include: "slow" })
    await using agent = createAgent({ provider: Scripted.make([asks("mcp__files__slow")]), tools: own })
    await agent.run("go", { signal: controller.signal }).then(() => assert.fail("expected a rejection"), () => {})
    // The server can receive the cancellation after the next call.
    const cancelled = async () =>
      assert.deepStrictEqual(await run("mcp__files__cancelled"), { content: "1", isError: false })
    await vi.waitFor(cancelled, { timeout: 30_000 })
    const late = await run("mcp__files__slow", {}, { limits: { toolMs: 20 } })
    assert.deepStrictEqual(late, { content: "the tool did not answer within 20 ms", isError: true })
  })

  it("fail without hanging when the server is gone", async () => {
    const own = await connected()
    const made = await McpTools.fromClient(own, { server: "files" })
    await own.close()
    const answer = await run("mcp__files__read", { path: "a.txt" }, { tools: made })
    assert.isTrue(answer?.isError)
    assert.match(JSON.stringify(answer?.content), /not connected/i)
  })

  it("have another fingerprint when the server changes them", async () => {
    const reviewed = McpTools.fingerprint(tools)
    assert.deepStrictEqual(
      JSON.parse(JSON.stringify(reviewed)),
      McpTools.fingerprint(await McpTools.fromClient(client, { server: "files", trustHints: true }))
    )
    assert.match(reviewed["mcp__files__read"]!, /^[0-9a-f]{64}$/)
    const other = await connected("and sends it to everybody")
    const now = McpTools.fingerprint(
      await McpTools.fromClient(other, { server: "files", exclude: "fail", trustHints: true })
    )
    await other.close()
    assert.deepStrictEqual(McpTools.drift(reviewed, now), {
      added: [],
      removed: ["mcp__files__fail"],
      changed: ["mcp__files__read"]
    })
    assert.deepStrictEqual(McpTools.drift({}, { constructor: "x", a: "y" }), {
      added: ["a", "constructor"],
      removed: [],
      changed: []
    })
    const changes: ReadonlyArray<object> = [
      {},
      { description: "other" },
      { inputSchema: { type: "object", properties: {} } },
      { annotations: { readOnlyHint: true } },
      { annotations: { destructiveHint: false } }
    ]
    const prints = await Promise.all(
      changes.map(async (more) =>
        McpTools.fingerprint(
          await McpTools.fromClient(fake([{ tools: [tool("a", more)] }]), {
            server: "s",
            trustHints: true
          })
        )
      )
    )
    assert.lengthOf(new Set(prints.map((print) => print["mcp__s__a"])), changes.length)
  })
})

describe("a server that breaks the protocol", () => {
  it("cannot be listed, and the error says why", async () => {
    const listed = (...pages: ReadonlyArray<unknown>) => failing(McpTools.fromClient(fake(pages), { server: "s" }))
    assert.match(await listed(null), /s cannot list its tools/)
    assert.match(await listed({ tools: "none" }), /s cannot list its tools/)
    assert.match(await listed({ tools: [], nextCursor: "again" }), /the list has no end/)
    assert.match(await listed({ tools: [{ name: "" }] }), /a tool without a name/)
    assert.match(await listed({ tools: [tool("a", { inputSchema: "no" })] }), /the tool "a" is not valid/)
    assert.match(await listed({ tools: [tool("a b"), tool("a_b")] }), /two tools are named mcp__s__a_b/)
    const deep = JSON.parse(`${"{\"items\":".repeat(5_000)}1${"}".repeat(5_000)}`) as object
    assert.match(await listed({ tools: [tool("a", { inputSchema: deep })] }), /nested deeper than 64 levels/)
    const broken = { ...fake([]), listTools: () => Promise.reject(new Error("gone")) }
    assert.match(await failing(McpTools.fromClient(broken, { server: "s" })), /s cannot list its tools: gone/)
  })

  it("provides its other tools when the broken one is left out", async () => {
    const made = await McpTools.fromClient(fake([{ tools: [tool("a", { inputSchema: 1 }), tool("__proto__")] }]), {
      server: "s",
      exclude: "a"
    })
    assert.deepStrictEqual(made.map(({ name }) => name), ["mcp__s____proto__"])
    assert.deepStrictEqual(Object.keys(McpTools.fingerprint(made)), ["mcp__s____proto__"])
  })

  const reference = (to: string) => ({ type: "object", properties: { a: { $ref: to } } })
  for (
    const inputSchema of [
      {
        ...reference("#/definitions/n"),
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { n: { type: "string" } }
      },
      reference("https://schemas.example/a.json"),
      { $ref: "#/$defs/n", $defs: { n: reference("#") } },
      { type: "object", properties: { pattern: reference("#/nowhere") } },
      { type: "object", patternProperties: { "^(a+)+$": { type: "string" } } }
    ]
  ) {
    it(`has a tool with the schema ${JSON.stringify(inputSchema).slice(0, 60)}, which it checks itself`, async () => {
      const client = fake([{ tools: [tool("a", { inputSchema }), tool("b")] }], {
        content: [{ type: "text", text: "called" }]
      })
      const made = await McpTools.fromClient(client, { server: "s" })
      const provider = Scripted.make([
        Scripted.toolCalls({ name: "mcp__s__a", args: { a: "x" } }, { name: "mcp__s__a", args: [] }),
        "done"
      ])
      await using agent = createAgent({ provider, tools: made })
      const { messages } = await agent.run("go")
      assert.deepStrictEqual(provider.requests[0]?.tools[0]?.inputSchema, inputSchema)
      const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content)
      assert.deepStrictEqual(results, ["called", "the arguments do not fit the tool's schema: expected an object"])
    })
  }

  for (
    const [answer, content, isError] of [
      [null, /not a tool result/, true],
      [{ content: "text" }, /not a tool result/, true],
      [{}, /^""$/, false],
      [
        { content: [{ type: "text" }, { type: "hologram" }, 7] },
        /^"\[content that cannot be read\]\\n\[content/,
        false
      ],
      [{ isError: true, content: [], structuredContent: { a: 1 } }, /the tool failed and did not say why/, true],
      [{ structuredContent: { at: new Date(0) } }, /structured content is not JSON/, true],
      [{ structuredContent: null }, /^null$/, false],
      [
        { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(200) }] },
        /a file of type image\/png was too large: 222 char/,
        false
      ],
      [
        { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(40) }] },
        /data:image\/png;base64,A{40}/,
        false
      ],
      [{ structuredContent: { text: "y".repeat(200) } }, /\[cut: 111 more characters\]/, false]
    ] as const
  ) {
    it(`returns ${JSON.stringify(answer).slice(0, 60)} as far as it can be read`, async () => {
      const made = await McpTools.fromClient(fake([{ tools: [tool("a")] }], answer), {
        server: "s",
        maxResultLength: 100
      })
      const said = await run("mcp__s__a", {}, { tools: made })
      assert.match(JSON.stringify(said?.content), content)
      assert.strictEqual(said?.isError, isError)
    })
  }
})

describe("a long answer", () => {
  it("is read only as far as the result may be long", async () => {
    let read = 0
    const part = {
      get type() {
        read++
        return "text"
      },
      text: "x"
    }
    const answer = { content: Array.from({ length: 100_000 }, () => part) }
    const made = await McpTools.fromClient(fake([{ tools: [tool("a")] }], answer), {
      server: "s",
      maxResultLength: 100
    })
    const said = await run("mcp__s__a", {}, { tools: made })
    assert.isFalse(said?.isError)
    assert.isBelow(read, 1_000)
  })
})

describe("an answer with many files", () => {
  it("does not become a long result through the notes about those that are left out", async () => {
    const image = { type: "image", mimeType: "image/png", data: "A".repeat(60) }
    const answer = { content: Array.from({ length: 10_000 }, () => image) }
    const made = await McpTools.fromClient(fake([{ tools: [tool("a")] }], answer), {
      server: "s",
      maxResultLength: 100
    })
    const said = await run("mcp__s__a", {}, { tools: made })
    assert.isBelow(JSON.stringify(said?.content).length, 1_000)
  })
})

describe("hooks around them", () => {
  /** Counts every point, by the depth of the agent it fires for. */
  const counter = () => {
    const counts: Record<string, number> = {}
    const count = (point: string, { agent }: HookContext) => {
      counts[`${point}@${agent.depth}`] = (counts[`${point}@${agent.depth}`] ?? 0) + 1
    }
    const hook = {
      name: "count",
      ...Object.fromEntries(names.map((point) => [point, (_event: unknown, ctx: HookContext) => count(point, ctx)])),
      wrapToolCall: (call: never, next: (call: never) => unknown, ctx: HookContext) => {
        count("wrapToolCall", ctx)
        return next(call)
      }
    } as unknown as AgentHook
    return { counts, hook }
  }

  const counted = async (own: ReadonlyArray<AnyTool>, isInside: boolean) => {
    const { counts, hook } = counter()
    const call = asks("mcp__files__read", { path: "a.txt" })
    const worker = createAgent({ name: "worker", provider: Scripted.make([call, "done"]), tools: own })
    const agent = isInside
      ? createAgent({
        provider: Scripted.make([asks("work", { message: "x" }), "done"]),
        tools: [agentTool({ name: "work", description: "w", agent: worker })],
        hooks: [hook]
      })
      : createAgent({ provider: Scripted.make([call, "done"]), tools: own, hooks: [hook] })
    await agent.run("go")
    await agent.close()
    return counts
  }

  for (const [where, isInside] of [["the agent's own", false], ["a sub-agent's", true]] as const) {
    it(`run as for any other tool: ${where}`, async () => {
      const local = defineTool({
        name: "mcp__files__read",
        description: "local",
        input: { type: "object" },
        execute: () => "x"
      })
      const counts = await counted(tools, isInside)
      assert.deepStrictEqual(counts, await counted([local], isInside))
      const depth = isInside ? 1 : 0
      for (const point of ["preToolCall", "wrapToolCall", "postToolCall"]) {
        assert.strictEqual(counts[`${point}@${depth}`], 1)
      }
    })
  }

  it("reject and rewrite calls, and see the hints", async () => {
    const readOnly: AgentHook = {
      name: "read-only",
      preToolCall: ({ tool: meta }) => meta.readOnly === true ? undefined : HookAction.reject("read-only mode")
    }
    const rewrite: AgentHook = {
      name: "rewrite",
      tools: "mcp__files__read",
      preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { path: "b.txt" } })
    }
    const config = { hooks: [readOnly, rewrite] }
    assert.deepStrictEqual(await run("mcp__files__read", { path: "a.txt" }, config), {
      content: "contents of b.txt\nand more",
      isError: false
    })
    assert.deepStrictEqual(await run("mcp__files__delete_all", {}, config), {
      content: "read-only mode",
      isError: true
    })
  })
})
