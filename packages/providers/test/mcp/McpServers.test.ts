import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import type { McpResult } from "@belay/core/Mcp"
import * as McpServers from "@belay/providers/McpServers"
import * as Scripted from "@belay/testing/Scripted"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { setImmediate as turn } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const file = fileURLToPath(new URL("../../../../test/support/mcpEcho.ts", import.meta.url))
const echo = (...args: ReadonlyArray<string>): McpServers.Program => ({
  command: process.execPath,
  args: [file, ...args]
})

const call = (mcp: McpServers.McpServers, tool: string, args = {}, server = "echo"): Promise<McpResult> =>
  Effect.runPromise(mcp.callTool(server, tool, args))
const pidOf = async (mcp: McpServers.McpServers): Promise<number> =>
  Number((await call(mcp, "pid")).content[0]?.["text"])
const failing = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => assert.fail("expected an McpError"), (error: unknown) => {
    assert.instanceOf(error, McpServers.McpError)
    return (error as McpServers.McpError).message
  })
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const until = async (happened: () => boolean): Promise<void> => {
  while (!happened()) await turn()
}

describe("MCP servers", () => {
  it("start once with the first call, also for parallel calls, and end when they are closed", async () => {
    const mcp = McpServers.make({ echo: echo() })
    const pids = await Promise.all(Array.from({ length: 5 }, () => pidOf(mcp)))
    assert.lengthOf(new Set(pids), 1)
    assert.strictEqual(await pidOf(mcp), pids[0])
    assert.isTrue(isAlive(pids[0]!))
    await mcp.close()
    await until(() => !isAlive(pids[0]!))
    assert.match(await failing(call(mcp, "pid")), /"echo" is closed/)
    await mcp.close()
  })

  it("answer with content, structured content and their errors", async () => {
    await using mcp = McpServers.make({ echo: echo() })
    assert.deepStrictEqual(await call(mcp, "echo", { a: [1] }), {
      content: [{ type: "text", text: "structured" }],
      structuredContent: { a: [1] },
      isError: false
    })
    assert.deepStrictEqual(await call(mcp, "fail"), {
      content: [{ type: "text", text: "the disk is full" }],
      isError: true
    })
    assert.match(await failing(call(mcp, "nothing")), /^echo: nothing: .*no such tool/)
    assert.match(await failing(call(mcp, "large")), /too large/)
  })

  it("list the tools of one server or of all", async () => {
    await using mcp = McpServers.make({ echo: echo(), other: echo() })
    const own = await Effect.runPromise(mcp.listTools("echo"))
    assert.deepStrictEqual(own[0], {
      server: "echo",
      name: "pid",
      description: "The tool pid",
      inputSchema: { type: "object" }
    })
    const all = await Effect.runPromise(mcp.listTools())
    assert.deepStrictEqual([all.length, all.at(-1)?.server], [own.length * 2, "other"])
  })

  it("get a small environment and their own variables", async () => {
    process.env["FAKE_API_KEY"] = "fake-0000"
    await using mcp = McpServers.make({ echo: { ...echo(), env: { GIVEN: "yes" }, cwd: tmpdir() } })
    const env = (await call(mcp, "env")).content[0]?.["text"] as string
    delete process.env["FAKE_API_KEY"]
    assert.strictEqual(JSON.parse(env)["GIVEN"], "yes")
    assert.notInclude(env, "fake-0000")
    assert.strictEqual((await call(mcp, "cwd")).content[0]?.["text"], tmpdir())
  })

  it("start again after a crash, and the open call fails", async () => {
    await using mcp = McpServers.make({ echo: echo() })
    const before = await pidOf(mcp)
    assert.match(await failing(call(mcp, "crash")), /^echo: crash: /)
    assert.notStrictEqual(await pidOf(mcp), before)
  })

  it("are informed about cancelled calls", async () => {
    await using mcp = McpServers.make({ echo: echo() })
    const says = async (tool: string) => (await call(mcp, tool)).content[0]?.["text"]
    const fiber = Effect.runFork(mcp.callTool("echo", "slow", {}))
    while (await says("slowed") !== "1");
    await Effect.runPromise(Fiber.interrupt(fiber))
    while (await says("cancelled") !== "1");
  })

  it("that cannot be reached fail with their name and output, and are tried again", async () => {
    await using mcp = McpServers.make({
      broken: echo("broken"),
      none: { command: "/nowhere/at-all" },
      web: { url: "http://127.0.0.1:1/" }
    })
    for (const _ of [1, 2]) {
      assert.match(
        await failing(call(mcp, "pid", {}, "broken")),
        /cannot connect to the MCP server "broken": .*it said: no licence found/
      )
    }
    assert.match(await failing(call(mcp, "pid", {}, "none")), /"none": .*ENOENT/)
    assert.match(await failing(call(mcp, "pid", {}, "web")), /"web"/)
    await using slow = McpServers.make({ mute: echo("mute") }, { connectTimeoutMs: 500 })
    assert.match(await failing(call(slow, "pid", {}, "mute")), /"mute": .*timed out/i)
  })

  it("that are still connecting are closed as well", async () => {
    const mcp = McpServers.make({ echo: echo("mute") })
    const failed = failing(call(mcp, "pid"))
    await turn()
    await mcp.close()
    assert.isString(await failed)
  })

  it("with an unknown name are an error with a suggestion", async () => {
    await using mcp = McpServers.make({ files: echo(), tickets: echo() })
    assert.match(await failing(call(mcp, "a", {}, "fiels")), /there is no MCP server "fiels": did you mean "files"\?/)
    assert.match(await failing(call(mcp, "a", {}, "Tickets")), /did you mean "tickets"\?/)
    for (const name of ["memory", "__proto__", "constructor", ""]) {
      assert.match(await failing(call(mcp, "a", {}, name)), /the servers are files, tickets/)
    }
    await using none = McpServers.make({})
    assert.match(await failing(call(none, "a")), /the servers are none/)
  })

  it("can be connected clients, which stay open", async () => {
    const client = new Client({ name: "test", version: "1.0.0" })
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [file] }))
    const mcp = McpServers.make({ echo: { client } })
    assert.isAbove(await pidOf(mcp), 0)
    await mcp.close()
    assert.match(await failing(call(mcp, "pid")), /closed/)
    assert.lengthOf((await client.callTool({ name: "pid" })).content, 1)
    await client.close()
  })

  it("can answer over HTTP", async () => {
    const heads: Array<string | undefined> = []
    const handler = createMcpHandler(() => {
      const server = new Server({ name: "web", version: "1.0.0" }, { capabilities: { tools: {} } })
      server.setRequestHandler("tools/list", () => ({ tools: [{ name: "hello", inputSchema: { type: "object" } }] }))
      server.setRequestHandler("tools/call", ({ params: { arguments: args } }) => ({
        content: [{ type: "text", text: `hello ${String(args?.["name"])}` }]
      }))
      return server
    })
    const web = createServer((incoming, outgoing) => void respond(incoming, outgoing))
    const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
      heads.push(incoming.headers.authorization)
      const chunks: Array<Buffer> = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${incoming.url}`, {
          method: incoming.method ?? "GET",
          headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string]),
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) })
        })
      )
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
      outgoing.end(Buffer.from(await answer.arrayBuffer()))
    }
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve))
    const address = web.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`
    const mcp = McpServers.make({ web: { url, headers: { authorization: "Bearer fake-0000" } } })
    assert.deepStrictEqual(await call(mcp, "hello", { name: "you" }, "web"), {
      content: [{ type: "text", text: "hello you" }],
      isError: false
    })
    assert.isTrue(heads.every((head) => head === "Bearer fake-0000"))
    await mcp.close()
    web.closeAllConnections()
    await new Promise((resolve) => web.close(resolve))
  })

  it("can be called by hooks of an agent", async () => {
    await using mcp = McpServers.make({ echo: echo() })
    const said: Array<unknown> = []
    await using agent = createAgent({
      provider: Scripted.make(["done"]),
      mcp,
      hooks: [{
        name: "asking",
        preTurn: async (_input, ctx) =>
          void said.push((await ctx.promise(ctx.mcp.callTool("echo", "echo", { a: 1 }))).structuredContent)
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(said, [{ a: 1 }])
  })

  it("with any answer do no harm", async () => {
    const answers = [null, 7, { content: "x" }, { content: [7] }, { structuredContent: [] }, { isError: "no" }, {
      content: [{ at: new Date(0) }]
    }]
    for (const answer of answers) {
      const client = {
        callTool: async () => answer,
        listTools: async () => ({ tools: [7, { name: "a" }, { name: "b", inputSchema: {} }] })
      }
      await using mcp = McpServers.make({ odd: { client } })
      assert.match(await failing(call(mcp, "a", {}, "odd")), /^odd: a: the server's /)
      assert.deepStrictEqual(await Effect.runPromise(mcp.listTools()), [{ server: "odd", name: "b", inputSchema: {} }])
    }
    const client = { callTool: async () => ({}), listTools: async () => ({ tools: [] }) }
    await using mcp = McpServers.make({ odd: { client } })
    assert.deepStrictEqual(await call(mcp, "a", {}, "odd"), { content: [], isError: false })
  })
})

describe("a file of MCP servers", () => {
  it("lists programs and URLs, and its other keys are ignored", () => {
    const text = JSON.stringify({
      other: 1,
      mcpServers: {
        a: { type: "stdio", command: "a", args: ["-x"], env: { A: "1" }, cwd: "/", secret: true },
        b: { type: "http", url: "https://mcp.example.com", headers: { authorization: "x" } },
        c: { command: "c", disabled: true }
      }
    })
    assert.deepStrictEqual(McpServers.fromFile(text), {
      servers: {
        a: { command: "a", args: ["-x"], env: { A: "1" }, cwd: "/" },
        b: { url: "https://mcp.example.com", headers: { authorization: "x" } }
      },
      warnings: []
    })
  })

  it("with mistakes gives a warning with file, key and reason, and the rest is read", () => {
    const entries: ReadonlyArray<readonly [unknown, RegExp]> = [
      [7, /expected an object/],
      [{}, /a command or a url/],
      [{ command: "a", url: "https://a.example" }, /not both/],
      [{ command: "" }, /command: /],
      [{ command: ["a"] }, /command: /],
      [{ command: "a", type: "http" }, /stdio/],
      [{ command: "a", args: "x" }, /args: /],
      [{ command: "a", args: [1] }, /args: /],
      [{ command: "a", env: { A: 1 } }, /env: /],
      [{ command: "a", cwd: 1 }, /cwd: /],
      [{ url: "file:///etc/passwd" }, /url: /],
      [{ url: "https://" }, /url: /],
      [{ url: "https://a.example", type: "sse" }, /type: "sse"/],
      [{ url: "https://a.example", headers: [1] }, /headers: /]
    ]
    for (const [entry, why] of entries) {
      const { servers, warnings } = McpServers.fromFile(
        JSON.stringify({ mcpServers: { bad: entry, good: { command: "a" } } }),
        "x.json"
      )
      assert.deepStrictEqual(Object.keys(servers), ["good"])
      assert.lengthOf(warnings, 1)
      assert.match(warnings[0]!, why)
      assert.match(warnings[0]!, /^x\.json: mcpServers\.bad: /)
      assert.throws(() => McpServers.make({ bad: entry as McpServers.Server }), ConfigError)
    }
    assert.match(McpServers.fromFile(`{"mcpServers":{"__proto__":{"command":"a"}}}`).warnings[0]!, /expected a name/)
    for (const text of ["", "[]", "{", "{\"mcpServers\":[]}", "x".repeat(2_000_000)]) {
      const { servers, warnings } = McpServers.fromFile(text)
      assert.deepStrictEqual([servers, warnings.length], [{}, 1])
    }
  })
})
