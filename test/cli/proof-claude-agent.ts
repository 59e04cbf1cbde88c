/** The Claude Agent SDK, with the guard of Belay or with its own hooks and permissions, and a small Messages endpoint. */
import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { Guard } from "@belay/guard"
import * as ClaudeAgent from "@belay/guard/ClaudeAgent"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { Absent, type Driver, type Setup, type Step } from "../../proof/driver.ts"
import { type Block, emptyMessage, sendMessage } from "./messages-stream.ts"

let ids = 0
const server = "proof"
const nameOf = (name: string): string => name === "helper" ? "Agent" : `mcp__${server}__${name}`

const blocksOf = (step: Exclude<Step, { readonly fails: true }>): ReadonlyArray<Block> =>
  "says" in step ? [{ type: "text", text: step.says }] : step.calls.map(({ args = {}, id = `c${++ids}`, name }) => ({
    type: "tool_use",
    id,
    name: nameOf(name),
    input: name === "helper" ? { description: "Helps", prompt: "help", subagent_type: "helper" } : args
  }))

/** Answers from the scripts: the lead has the tool `Agent`, its helper does not. */
const endpoint = async ({ helpers = [], script }: Setup, called: () => void) => {
  const lead = [...script]
  const below = [...helpers[0] ?? []]
  const made = createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => body += String(piece))
    request.on("end", () => {
      const { stream = false, tools = [] } = body === "" ? {} : JSON.parse(body)
      const has = (name: string) => tools.some((one: { readonly name: string }) => one.name === name)
      const step = !has(nameOf("read")) ? { says: "done" } : (has("Agent") ? lead : below).shift() ?? { says: "done" }
      if ("fails" in step) {
        response.writeHead(529, { "content-type": "application/json", "retry-after": "0" })
        response.end(JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } }))
        return
      }
      if (stream !== true) {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ ...emptyMessage(), content: blocksOf(step), stop_reason: "end_turn" }))
        return
      }
      if ("calls" in step) called()
      sendMessage(response, blocksOf(step))
    })
  })
  await new Promise<void>((done) => made.listen(0, "127.0.0.1", done))
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, close: () => made.close() }
}

const toolsOf = (ran: Array<string>) => {
  const run = async (text: string) => {
    ran.push(text)
    return await Promise.resolve({ content: [{ type: "text" as const, text: "ok" }] })
  }
  return createSdkMcpServer({
    name: server,
    tools: [
      tool("leak", "Leaks", {}, () => run("leak")),
      tool("read", "Reads", {}, () => run("read")),
      tool("mail", "Mails", { to: z.string() }, ({ to }) => run(`mail ${to}`))
    ]
  })
}

/** The way of the documentation: a hook that refuses a tool. The other tool is not allowed, so a person is asked. */
const own: Pick<Options, "hooks" | "settings"> = {
  settings: { permissions: { allow: [nameOf("leak"), nameOf("read"), "Agent"] } },
  hooks: {
    PreToolUse: [{
      matcher: nameOf("leak"),
      hooks: [async () =>
        await Promise.resolve({
          hookSpecificOutput: {
            hookEventName: "PreToolUse" as const,
            permissionDecision: "deny" as const,
            permissionDecisionReason: "not allowed"
          }
        })]
    }]
  }
}

const lost = "its questions do not outlive the process"

export const driver: Driver = {
  name: "Claude Agent SDK",
  hasOwn: true,
  start: (setup) => {
    const { cancelAfterMs, guard, handsOver = false, helpers = [], ran, store } = setup
    if (handsOver) throw new Absent("its agents are tools")
    if (helpers.length > 1) throw new Absent("its sub-agents have none")
    if (store !== undefined) throw new Absent(lost)
    const guarded = guard === "own"
      ? undefined
      : ClaudeAgent.make(Guard.make({ hooks: guard, log: false }), { approvedBy: "ada" })
    let asked: (() => void) | undefined
    let answer: (() => void) | undefined
    let running: Promise<unknown> = Promise.resolve()
    const run = async (prompt: string) => {
      const folder = mkdtempSync(join(tmpdir(), "belay-proof-"))
      const abortController = new AbortController()
      // The program needs longer to start than the other SDKs.
      const { close, url } = await endpoint(setup, () => {
        if (cancelAfterMs !== undefined) setTimeout(() => abortController.abort(), cancelAfterMs)
      })
      const plain: Options = {
        cwd: folder,
        settingSources: [],
        abortController,
        mcpServers: { [server]: toolsOf(ran) },
        ...(guard === "own" ? own : {
          settings: { permissions: { allow: ["leak", "read", "mail", "helper"].map(nameOf) } }
        }),
        ...(helpers.length === 0 ? {} : {
          agents: {
            helper: { description: "Helps", prompt: "be", tools: ["leak", "read", "mail"].map(nameOf) }
          }
        }),
        includePartialMessages: setup.stream === true,
        canUseTool: async (_name, input) => {
          await new Promise<void>((resolve) => {
            answer = resolve
            asked?.()
          })
          return { behavior: "allow" as const, updatedInput: input }
        },
        env: {
          PATH: process.env["PATH"]!,
          HOME: folder,
          CLAUDE_CONFIG_DIR: join(folder, "config"),
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: "none",
          // The model knows all tools at once.
          ENABLE_TOOL_SEARCH: "false",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
        }
      }
      try {
        for await (const _message of query({ prompt, options: guarded?.options(plain) ?? plain }));
      } finally {
        close()
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
      }
    }
    return {
      send: async (text) => {
        const opened = new Promise<void>((resolve) => asked = resolve)
        running = run(text).catch(() => {})
        await Promise.race([running, opened])
        return answer === undefined ? [] : ["asked"]
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        if (elsewhere || to !== undefined) throw new Absent(lost)
        const opened = new Promise<void>((resolve) => asked = resolve)
        answer?.()
        await Promise.race([running, opened])
      }
    }
  }
}
