/** Tools that outlive a connection, and what their server may ask meanwhile. The server is written by hand. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { agentTool } from "@belay/core/agentTool"
import * as Approvals from "@belay/core/Approvals"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as McpServers from "@belay/providers/McpServers"
import * as McpTools from "@belay/providers/McpTools"
import * as Scripted from "@belay/testing/Scripted"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

let folder: string
let log: string
const open: Array<McpServers.McpServers> = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belay-mcp-"))
  log = join(folder, "ran")
  writeFileSync(log, "")
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((mcp) => mcp.close()))
  rmSync(folder, { recursive: true, force: true })
})

const serverFile = fileURLToPath(new URL("../support/plainMcpServer.ts", import.meta.url))

const connect = (options: McpServers.Options = {}, env: { readonly [name: string]: string } = {}) => {
  const mcp = McpServers.make(
    { plain: { command: process.execPath, args: [serverFile], env: { LOG: log, ...env } } },
    options
  )
  open.push(mcp)
  return mcp
}

const toolsOf = (mcp: McpServers.McpServers, options: Partial<McpTools.ServerOptions> = {}) =>
  McpTools.fromServers(mcp, { server: "plain", ...options })

const asks = (name: string, args: Json = {}) => Scripted.toolCalls({ name: `mcp__plain__${name}`, args })

/** What the model reads of each call, in order. */
const run = async (
  tools: ReadonlyArray<McpTools.McpTool>,
  calls: ReadonlyArray<Scripted.Entry>,
  config: Partial<AgentConfig> = {}
): Promise<ReadonlyArray<string>> => {
  await using agent = createAgent({ provider: Scripted.make([...calls, "done"]), tools, log: false, ...config })
  const { messages } = await agent.run("go")
  return messages.flatMap((message) => {
    if (message.role !== "tool") return []
    const said = typeof message.content === "string" ? message.content : JSON.stringify(message.content)
    return [message.isError === true ? `failed: ${said}` : said]
  })
}

describe("a server that was killed", () => {
  it("is started again for the next call, and a call with an unknown outcome is not repeated", async () => {
    const tools = await toolsOf(connect())
    const [first, crashed, last] = await run(tools, [asks("count"), asks("crash"), asks("count")])
    assert.strictEqual(first, "1")
    assert.match(crashed!, /^failed: .*it is unknown whether the call ran: check before you repeat it/)
    // `crash` ran once.
    assert.strictEqual(last, "3")
  })

  it("gets a call again that only reads, if the hints of the server are trusted", async () => {
    const mcp = connect()
    assert.match((await run(await toolsOf(mcp), [asks("crash_once")]))[0]!, /unknown whether the call ran/)
    writeFileSync(log, "")
    assert.deepStrictEqual(await run(await toolsOf(mcp, { trustHints: true }), [asks("crash_once")]), ["read"])
  })
})

describe("a tool that the server has changed", () => {
  it("is refused until the tools are listed again, and the program receives the change", async () => {
    const changes: Array<McpServers.ToolsChange> = []
    let heard = () => {}
    const hearing = new Promise<void>((resolve) => heard = resolve)
    const mcp = connect({
      onToolsChanged: (change) => {
        changes.push(change)
        heard()
      }
    })
    const tools = await toolsOf(mcp)
    const [, , refused] = await run(tools, [asks("count"), asks("change"), asks("count")])
    assert.match(
      refused!,
      /^failed: the server has changed the tool count since it was listed, so the call was not sent/
    )
    await hearing
    assert.deepStrictEqual(changes, [{ server: "plain", added: [], removed: [], changed: ["count"] }])
    assert.deepStrictEqual(await run(await toolsOf(mcp), [asks("count")]), ["3"])
  })

  it("has lost its standing approval, also if the server changed it between two runs", async () => {
    const rules = Approvals.inMemoryRules()
    let questions = 0
    const ask = {
      hooks: [{ name: "ask", preToolCall: () => HookAction.ask("sure?") }],
      approvals: { rules },
      onAsk: () => {
        questions++
        return { type: "approve" as const, remember: { what: "tool" as const, scope: "project" as const } }
      }
    }
    const before = await toolsOf(connect())
    assert.deepStrictEqual(await run(before, [asks("count"), asks("count")], ask), ["1", "2"])
    assert.strictEqual(questions, 1)
    const after = await toolsOf(connect({}, { SAYS: "and sends your files to me" }))
    assert.deepStrictEqual(await run(after, [asks("count")], ask), ["3"])
    assert.strictEqual(questions, 2)
  })
})

describe("a question of a server", () => {
  it("is answered by the user, and hooks see it and its answer", async () => {
    const asked: Array<McpServers.Question> = []
    const mcp = connect({
      onElicit: (question) => {
        asked.push(question)
        return { action: "accept", content: { region: "eu" } }
      }
    })
    const signals: Array<{ readonly name: string; readonly payload: Json }> = []
    const hooks = [{ name: "watch", onSignal: (signal: (typeof signals)[number]) => void signals.push(signal) }]
    const [said] = await run(await toolsOf(mcp), [asks("form")], { hooks })
    assert.deepStrictEqual(JSON.parse(said!), { action: "accept", content: { region: "eu" } })
    assert.deepStrictEqual(signals.map(({ name }) => name), ["Elicitation", "ElicitationResult"])
    assert.deepInclude(Object(signals[1]!.payload), { action: "accept", content: { region: "eu" } })
    const { message, mode, schema, server, sessionId, tool } = asked[0]!
    assert.deepStrictEqual([server, tool, mode, message], ["plain", "form", "form", "Which region?"])
    assert.deepInclude(schema, { required: ["region"] })
    assert.isString(sessionId)
  })

  it("is answered by a hook before the user is asked, and a hook can take back what the user said", async () => {
    const mcp = connect({ onElicit: () => ({ action: "accept", content: { region: "user" } }) })
    const tools = await toolsOf(mcp)
    const on = (signal: string, action: HookAction.Respond<Json> | HookAction.Reject) => ({
      hooks: [{ name: "h", onSignal: ({ name }: { readonly name: string }) => name === signal ? action : undefined }]
    })
    const byHook = on("Elicitation", HookAction.respond({ action: "accept", content: { region: "hook" } }))
    assert.deepInclude(JSON.parse((await run(tools, [asks("form")], byHook))[0]!), { content: { region: "hook" } })
    const [declined] = await run(tools, [asks("form")], on("ElicitationResult", HookAction.reject("no")))
    assert.deepStrictEqual(JSON.parse(declined!), { action: "decline" })
  })

  it("can send the user to an address of the web, and to no other", async () => {
    const seen: Array<unknown> = []
    const mcp = connect({
      onElicit: ({ mode, url }) => {
        seen.push([mode, url])
        return { action: "accept" }
      }
    })
    const tools = await toolsOf(mcp)
    const [good, bad] = await run(tools, [
      asks("open", { url: "https://login.example/a" }),
      asks("open", { url: "javascript:alert(1)" })
    ])
    assert.deepStrictEqual(JSON.parse(good!), { action: "accept" })
    assert.match(bad!, /expected an http or https URL/)
    assert.deepStrictEqual(seen, [["url", "https://login.example/a"]])
  })

  it("can be an error that names an address: the call is sent again when the user has been there", async () => {
    const mcp = connect({ onElicit: () => ({ action: "accept" }) })
    assert.deepStrictEqual(await run(await toolsOf(mcp), [asks("login_first")]), ["logged in"])
    writeFileSync(log, "")
    const [said] = await run(await toolsOf(connect()), [asks("login_first")])
    assert.match(said!, /^failed: .*the user must open https:\/\/login\.example first/)
  })

  it("is refused if nobody can answer, after ten of them, and if the answer is not one", async () => {
    assert.match((await run(await toolsOf(connect()), [asks("form")]))[0]!, /-32601|not support|Method not found/i)
    const nagged = await run(await toolsOf(connect({ onElicit: "hooks" })), [asks("nag")])
    const said = JSON.parse(nagged[0]!) as ReadonlyArray<string>
    assert.lengthOf(said.filter((one) => one === "answered"), 10)
    assert.match(said[11]!, /at most 10 times during a call/)
    const odd = connect({ onElicit: () => ({ action: "accept", content: { region: { deep: 1 } } }) as never })
    assert.match((await run(await toolsOf(odd), [asks("form")]))[0]!, /the answer must be \{ action/)
  })
})

describe("a model call of a server", () => {
  it("is off by default", async () => {
    assert.match((await run(await toolsOf(connect()), [asks("sample")]))[0]!, /-32601|not support|Method not found/i)
  })

  it("runs through all hooks of the agent, costs what it costs, and is limited in its length", async () => {
    const mcp = connect({ sampling: "pl*" })
    const seen: Array<unknown> = []
    const provider = Scripted.make([
      asks("sample"),
      {
        text: "hello",
        toolCalls: [],
        finishReason: "stop",
        model: "m",
        usage: { inputTokens: 7_000, outputTokens: 3 }
      },
      "done"
    ])
    await using agent = createAgent({
      provider,
      tools: await toolsOf(mcp),
      hooks: [{
        name: "watch",
        preLlmCall: ({ instructions, messages, parameters, tools }) =>
          void seen.push([instructions, messages.at(-1)?.role, parameters.maxTokens, tools.length > 0])
      }]
    })
    const { messages, usage } = await agent.run("go")
    assert.deepStrictEqual(seen[1], ["be short", "user", 4_096, false])
    assert.lengthOf(seen, 3)
    assert.isAbove(usage.inputTokens, 7_000)
    const said = messages.find((message) => message.role === "tool")
    assert.deepInclude(JSON.parse(said === undefined ? "" : text(said)), {
      model: "m",
      content: { type: "text", text: "hello" }
    })
  })

  it("is refused by a hook like any other, also in a sub-agent", async () => {
    const tools = await toolsOf(connect({ sampling: true }))
    const worker = createAgent({
      name: "worker",
      provider: Scripted.make([asks("sample", { say: "the secret" }), "did"]),
      tools
    })
    const results: Array<unknown> = []
    const provider = Scripted.make([Scripted.toolCalls({ name: "work", args: { message: "go" } }), "done"])
    await using lead = createAgent({
      provider,
      tools: [agentTool({ name: "work", description: "Works", agent: worker })],
      hooks: [{
        name: "no-secrets",
        preLlmCall: ({ messages }) =>
          JSON.stringify(messages.at(-1)).includes("the secret") && messages.length === 1
            ? HookAction.reject("a secret")
            : undefined,
        postToolCall: ({ call, result }) => void (call.name === "mcp__plain__sample" && results.push(result))
      }]
    })
    await lead.run("go")
    assert.match(JSON.stringify(results[0]), /a secret/)
    assert.include(JSON.stringify(results[0]), "-32603")
  })
})

describe("what else a server offers", () => {
  it("reads folders, numbers that fit its schema, and resources that it links to", async () => {
    const tools = await toolsOf(connect({ roots: [folder] }), { resources: true })
    const [roots, weather, wrong, link, report] = await run(tools, [
      asks("roots"),
      asks("weather"),
      asks("weather", { wrong: true }),
      asks("link"),
      asks("read_resource", { uri: "report://may" })
    ])
    assert.match(roots!, new RegExp(`file://${folder}`))
    assert.strictEqual(weather, "{\"degrees\":21}")
    assert.match(wrong!, /^failed: .*(schema|degrees)/i)
    assert.strictEqual(link, "[may (text/csv): report://may] Sales")
    assert.strictEqual(report, "paper,4.5")
  })

  it("is checked: options with mistakes say what was meant", async () => {
    assert.throws(() => McpServers.make({}, { onElicit: "hook" as never }), /onElicit.*hooks/)
    assert.throws(() => McpServers.make({}, { smapling: true } as never), /did you mean "sampling"/)
    const wrong = await McpTools.fromServers({} as never, { server: "x" }).then(() => "", String)
    assert.match(wrong, /expected what McpServers\.make returned/)
  })
})
