/** Settings files with entries that are not commands: real files, a real agent, real servers. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as McpServers from "@belay/providers/McpServers"
import { mkdirSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeEach, describe, it } from "vitest"
import { calls, type Line, recording, scripted } from "../../../../test/support/agent.ts"
import { folder, until, write } from "../support/processes.ts"

const posted: Array<{ readonly [key: string]: unknown }> = []
let respond: (response: ServerResponse) => void = () => {}
const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => void chunks.push(chunk))
  request.on("end", () => {
    posted.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly [key: string]: unknown })
    respond(response)
  })
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const address = server.address()
const url = `http://localhost:${typeof address === "object" ? address?.port : ""}/hook`

const mcp = McpServers.make({
  echo: {
    command: process.execPath,
    args: [fileURLToPath(new URL("../../../../test/support/mcpEcho.ts", import.meta.url))]
  }
})
afterAll(async () => {
  await mcp.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  posted.length = 0
  respond = (response) => response.end()
})

type Groups = {
  readonly [event: string]: ReadonlyArray<{ readonly matcher?: string; readonly hooks: ReadonlyArray<object> }>
}

/** A turn of an agent whose hooks come from the user's settings, or from a project that is trusted. */
const turn = async (
  hooks: Groups,
  lines: ReadonlyArray<Line> = [],
  { from = "user", settings = {}, ...config }: Partial<AgentConfig> & {
    readonly from?: "user" | "project"
    readonly settings?: object
  } = {}
) => {
  const [cwd, home] = [folder(), folder()]
  mkdirSync(join(cwd, ".claude"))
  write(join(from === "user" ? home : cwd, ".claude/settings.json"), JSON.stringify({ ...settings, hooks }))
  const load = () => HookFiles.load({ cwd, home, transcripts: false, drainMs: 300 })
  for (const project of load().untrusted) project.trust()
  const loaded = load()
  assert.deepEqual(loaded.warnings.map(HookConfig.show), [])
  const { ran, tools } = recording()
  const { provider, requests } = scripted(lines)
  const events: Array<AgentEvent> = []
  await using agent = createAgent({ provider, tools, cwd, mcp, hooks: loaded.hooks, ...config })
  agent.on((one) => void events.push(one))
  const result = await agent.run("go")
  const warnings = events.flatMap((one) => one.type === "warning" ? [one.message] : [])
  const outcomes = events.flatMap((one) =>
    one.type === "custom" && one.name === "hook-run" ? [(one.payload as { readonly outcome: string }).outcome] : []
  )
  const said = result.messages.flatMap((message) => message.role === "tool" ? [text(message)] : [])
  return { ran, requests, result, warnings, outcomes, said }
}

const push = calls(["bash", { command: "git push" }])
const before = (entry: object): Groups => ({ PreToolUse: [{ matcher: "Bash", hooks: [entry] }] })
const deny = {
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "not today" }
}

describe("entries of settings files", () => {
  // rows: C-02, C-56
  it("of type http receive the event, and may refuse it", async () => {
    respond = (response) => response.end(JSON.stringify(deny))
    const { ran, said } = await turn(before({ type: "http", url }), [push])
    assert.deepEqual([ran, said], [[], ["not today"]])
    assert.deepInclude(posted[0], { hook_event_name: "PreToolUse", tool_name: "Bash" })
    assert.deepInclude(posted[0]!["tool_input"], { command: "git push" })
  })

  // rows: C-56, C-24
  it("of type http with async are not waited for", async () => {
    let release = () => {}
    respond = (response) => void (release = () => void response.end(JSON.stringify(deny)))
    const { ran } = await turn(before({ type: "http", url, async: true }), [push])
    assert.deepEqual(ran, ["git push"])
    await until(() => posted.length === 1)
    release()
  })

  // rows: C-30
  it("of type http that cannot be reached, or may not be, block nothing and are warnings", async () => {
    respond = (response) => response.writeHead(500).end(JSON.stringify(deny))
    const failed = await turn(before({ type: "http", url }), [push])
    assert.deepEqual([failed.ran, failed.outcomes], [["git push"], ["nonBlockingError"]])
    assert.match(failed.warnings[0]!, /status 500/)
    posted.length = 0
    const project = await turn(before({ type: "http", url }), [push], { from: "project" })
    assert.deepEqual(project.ran, ["git push"])
    assert.match(project.warnings[0]!, /loopback/)
    const listed = await turn(before({ type: "http", url }), [push], {
      settings: { allowedHttpHookUrls: ["https://example.com/*"] }
    })
    assert.deepEqual(listed.ran, ["git push"])
    assert.match(listed.warnings[0]!, /not among the allowed ones/)
    assert.deepEqual(posted, [])
  })

  // rows: C-02
  it("of type mcp_tool call a tool with fields of the event, and its word counts", async () => {
    const input = {
      hookSpecificOutput: { ...deny.hookSpecificOutput, permissionDecisionReason: "no ${tool_input.command}" }
    }
    const { ran, said } = await turn(before({ type: "mcp_tool", server: "echo", tool: "echo", input }), [push])
    assert.deepEqual([ran, said], [[], ["no git push"]])
    const broken = await turn(before({ type: "mcp_tool", server: "ehco", tool: "echo" }), [push])
    assert.deepEqual(broken.ran, ["git push"])
    assert.match(broken.warnings[0]!, /did you mean "echo"/)
  })

  // rows: C-02
  it("of type prompt ask a model, and the agent reads its verdict", async () => {
    const entry = { type: "prompt", prompt: "Is it safe? $ARGUMENTS", model: "small", continueOnBlock: true }
    const { ran, requests, said } = await turn(before(entry), [push, {
      text: "{\"ok\":false,\"reason\":\"main is protected\"}"
    }])
    assert.deepEqual([ran, said], [[], ["main is protected"]])
    assert.strictEqual(requests[1]!.model, "small")
    assert.include(text(requests[1]!.messages[0]!), "git push")
    const fine = await turn(before(entry), [push, { text: "```json\n{\"ok\":true}\n```" }])
    assert.deepEqual(fine.ran, ["git push"])
    const odd = await turn(before(entry), [push, { text: "I think so" }])
    assert.deepEqual([odd.ran, odd.outcomes], [["git push"], ["nonBlockingError"]])
  })

  // rows: C-45
  it("of type prompt at UserPromptSubmit are one call, and trigger nothing", async () => {
    const hooks = {
      UserPromptSubmit: [{ hooks: [{ type: "prompt", prompt: "fine?" }] }],
      Stop: [{ hooks: [{ type: "http", url }] }]
    }
    const { requests, result } = await turn(hooks, [{ text: "{\"ok\":true}" }, { text: "done" }])
    assert.lengthOf(requests, 2)
    assert.strictEqual(result.text, "done")
    assert.deepEqual(posted.map((one) => one["hook_event_name"]), ["Stop"])
  })

  // rows: C-02, C-44
  it("of type agent look for themselves, and send the agent back to work", async () => {
    const { ran, result, requests } = await turn({
      Stop: [{ hooks: [{ type: "agent", prompt: "Do the tests pass?" }] }]
    }, [
      { text: "done" },
      calls(["bash", { command: "npm test" }]),
      calls(["StructuredOutput", { ok: false, reason: "2 tests fail" }]),
      { text: "repaired" },
      calls(["StructuredOutput", { ok: true }])
    ])
    assert.deepEqual(ran, ["npm test"])
    assert.strictEqual(result.text, "repaired")
    assert.match(text(requests[3]!.messages.at(-1)!), /2 tests fail/)
    assert.lengthOf(requests, 5)
  })

  // rows: C-44
  it("of type agent that come to no answer are cancelled, silently, and everything goes on", async () => {
    const lines = [push, ...Array.from({ length: 50 }, () => ({ text: "hm" })), { text: "done" }]
    const { outcomes, ran, requests, result, warnings } = await turn(before({ type: "agent", prompt: "Sure?" }), lines)
    assert.deepEqual([ran, outcomes, warnings], [["git push"], ["cancelled"], []])
    assert.strictEqual(result.text, "done")
    assert.lengthOf(requests, 52)
  })

  // rows: C-11
  it("ask nobody anything when their matcher or condition does not hold", async () => {
    const entries = [
      { type: "http", url, if: "Bash(npm *)" },
      { type: "mcp_tool", server: "none", tool: "a", if: "Bash(npm *)" },
      { type: "prompt", prompt: "?", if: "Bash(npm *)" },
      { type: "agent", prompt: "?", if: "Bash(npm *)" }
    ]
    const { outcomes, ran, requests, warnings } = await turn({
      PreToolUse: [{ matcher: "Bash", hooks: entries }, {
        matcher: "Write",
        hooks: entries.map(({ if: _if, ...entry }) => entry)
      }]
    }, [push])
    assert.deepEqual([ran, outcomes, warnings, posted, requests.length], [["git push"], [], [], [], 2])
  })
})
