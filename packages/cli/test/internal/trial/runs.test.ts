/** What `belay hooks test` says about entries that run, and why others do not, to the letter. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import { text } from "../../../src/internal/trial/show.ts"
import { answering, settings, world } from "../../belay.ts"
import { colored, painted } from "../../support/painted.ts"
import { severalSystems } from "../../support/projects.ts"

type Made = ReturnType<typeof world>

/** What the command prints, without times. */
const printed = async ({ hooks, root }: Made, ...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await hooks("test", ...args)
  const shown = `${stdout}${stderr}`.replaceAll(root, "ROOT").replaceAll(/\b\d+ ms\b/g, "0 ms")
    .replaceAll(/belay-test-\w+/g, "belay-test")
  return `# ${args.join(" ")}\n${shown.trimEnd().replaceAll(/ +$/gm, "")}\n> ${code}\n`
}

/** Entries of Claude Code that run, and all kinds of entries that do not. */
const various = () =>
  world({
    "home/.claude/settings.json": {
      hooks: {
        PreToolUse: [
          { matcher: "Bash", hooks: [{ type: "command", command: "echo one; echo two >&2" }] },
          { matcher: "Edit|Write", hooks: [{ type: "command", command: "true" }] },
          { matcher: "Bash", hooks: [{ type: "command", command: "true", if: "Bash(git *)" }] },
          { hooks: [{ type: "command", command: "echo one; echo two >&2" }] },
          { matcher: "Bash", hooks: [{ type: "command", command: "exit 1" }] },
          { matcher: "Bash", hooks: [{ type: "prompt", prompt: "Is it good?" }] },
          { matcher: "Bash", hooks: [{ type: "mcp_tool", server: "git", tool: "check" }] },
          { matcher: "Bash", hooks: [{ type: "command", command: "sleep 0.01; echo later", async: true }] }
        ],
        SessionStart: [{ matcher: "resume", hooks: [{ type: "command", command: "echo hi" }] }],
        Stop: [{ hooks: [{ type: "command", command: "echo '{\"decision\":\"block\",\"reason\":\"more\"}'" }] }],
        Notification: [{ matcher: "idle", hooks: [{ type: "command", command: "true" }] }]
      }
    },
    "home/.claude/skills/x/SKILL.md":
      "---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: 'true'\n---\n"
  })

const ls = ["--tool", "Bash", "--input", "{\"command\":\"ls\"}"]

describe("a trial", () => {
  it("tells entries about a sub-agent who it is", async () => {
    const made = world({ "home/.claude/settings.json": settings("SubagentStop", [{ command: "cat" }]) })
    const { value } = await made.json("test", "SubagentStop")
    expect(value.runs[0].stdout).toContain("\"agent_type\":\"worker\"")
  })

  it("says exactly this about entries of one system", async () => {
    const made = various()
    const all = [
      ["PreToolUse", ...ls],
      ["PreToolUse", "--tool", "edit", "--input", "{\"path\":\"a\"}"],
      ["PreToolUse", "--tool", "Read"],
      ["SessionStart"],
      ["SessionStart", "--payload", "{\"source\":\"resume\"}"],
      ["Stop"],
      ["SubagentStop"],
      ["Notification", "--payload", "{\"notification_type\":\"other\"}"],
      ["PermissionRequest", ...ls],
      ["PreToolUse"],
      ["PreToolUse", "--tool", "Bash", "--input", "{"],
      ["PreToolUse", "--tool", "Bash", "--payload", "[]"],
      ["PreToolUse", "--tool", "Bash", "--timeout", "0"],
      ["Nothing"]
    ]
    const told: Array<string> = []
    for (const args of all) told.push(await printed(made, ...args))
    await expect(told.join("\n")).toMatchFileSnapshot("../../support/trial/claude.txt")
  })

  it("says exactly this about entries of several systems", async () => {
    const script = answering({ permission: "deny", user_message: "no" })
    const made = severalSystems()
    const other = world({
      "home/.cursor/hooks.json": {
        version: 1,
        hooks: {
          beforeShellExecution: [{ command: "./hook", matcher: "^git" }, { command: "./other" }],
          afterFileEdit: [{ command: "./other" }]
        }
      },
      "home/.cursor/hook": script,
      "home/.cursor/other": answering({}),
      "home/.copilot/hooks/a.json": { version: 1, hooks: { sessionStart: [{ type: "prompt", prompt: "Hello" }] } }
    })
    const twins = world({
      "project/.claude/settings.json": settings("SessionStart", [{ command: "./same.sh" }, { command: "true" }]),
      "project/.gemini/settings.json": settings("SessionStart", [{ command: "./same.sh" }]),
      "project/same.sh": "#!/bin/bash\nexit 0\n"
    })
    const sources = ["--source", "claude", "--source", "gemini"]
    const told = [
      await printed(made, "PreToolUse", ...ls),
      await printed(made, "Stop"),
      await printed(made, "Stop", "--trust-once"),
      await printed(made, "Stop", "--source", "codex"),
      await printed(made, "Stop", "--no-hooks"),
      await printed(other, "beforeShellExecution", "--input", "{\"command\":\"git push\"}", "--source", "cursor"),
      await printed(other, "beforeShellExecution", "--input", "{\"command\":\"ls\"}", "--source", "cursor"),
      await printed(other, "afterFileEdit", "--payload", "{\"file_path\":\"a\",\"edits\":[]}", "--source", "cursor"),
      await printed(other, "sessionStart", "--source", "copilot"),
      await printed(twins, "SessionStart", ...sources, "--trust-once")
    ]
    await expect(told.join("\n")).toMatchFileSnapshot("../../support/trial/several.txt")
  })

  it("says exactly this about entries that are HTTP requests, and several of one file", async () => {
    const answers: ReadonlyArray<readonly [status: number, body: string]> = [[200, "{\"a\":1}"], [500, "it broke"]]
    const server = createServer((request, response) => {
      const [status, body] = answers[Number(request.url!.slice(1))]!
      response.writeHead(status, { "content-type": "application/json" }).end(body)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const made = world({
      "home/.claude/settings.json": {
        hooks: { PreToolUse: [{ hooks: answers.map((_, index) => ({ type: "http", url: `${url}/${index}` })) }] }
      }
    })
    const earlier = world({
      "home/.copilot/hooks/a.json": {
        version: 1,
        hooks: {
          preToolUse: [{ bash: "./deny" }, { bash: "./other" }, { type: "http", url: `${url}/0` }],
          sessionStart: [{ type: "prompt", prompt: "Hello" }, { bash: "true" }]
        }
      },
      "project/deny": answering({ permissionDecision: "deny", permissionDecisionReason: "no" }),
      "project/other": answering({})
    })
    const told = [
      await printed(made, "PreToolUse", ...ls, "--json"),
      await printed(made, "PreToolUse", ...ls),
      await printed(earlier, "preToolUse", "--tool", "bash", "--source", "copilot"),
      await printed(earlier, "sessionStart", "--source", "copilot")
    ]
    server.close()
    const plain = told.join("\n").replaceAll(url, "URL").replaceAll(/"durationMs": [\d.]+/g, "\"durationMs\": 0")
    await expect(plain).toMatchFileSnapshot("../../support/trial/others.txt")
  })

  it("reads a call, a result and a message from a payload, whatever system it is of", async () => {
    const made = world({
      "home/.claude/settings.json": {
        hooks: Object.fromEntries(
          ["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"].map((event) => [
            event,
            [{ hooks: [{ type: "command", command: "cat >&2" }] }]
          ])
        )
      }
    })
    const call = { tool_name: "Bash", tool_input: { command: "ls" } }
    const all: ReadonlyArray<readonly [event: string, payload: object, ...flags: ReadonlyArray<string>]> = [
      ["PreToolUse", { toolName: "bash", toolArgs: "{\"command\":\"ls\"}" }],
      ["PreToolUse", { toolName: "bash", toolArgs: "ls" }],
      ["PreToolUse", { tool_name: "Bash", tool_info: { command: "ls" } }],
      ["PreToolUse", call, "--tool", "Read", "--input", "{\"file_path\":\"a\"}"],
      ["PreToolUse", { tool_name: "Bash" }],
      ["beforeShellExecution", { command: "ls" }, "--source", "claude"],
      ["PostToolUse", { ...call, tool_response: "1" }],
      ["PostToolUse", { ...call, tool_output: "2" }],
      ["PostToolUse", { ...call, toolResult: { a: 3 } }],
      ["PostToolUse", call, "--output", "{\"a\":4}"],
      ["PostToolUse", call, "--output", "text"],
      ["PostToolUse", call, "--error", "failed"],
      ["PostToolUseFailure", { ...call, error: "no" }],
      ["UserPromptSubmit", { prompt: "p" }],
      ["UserPromptSubmit", { message: "m" }],
      ["UserPromptSubmit", { message: "m" }, "--prompt", "given"]
    ]
    const told: Array<string> = []
    for (const [event, payload, ...flags] of all) {
      const shown = await printed(made, event, "--payload", JSON.stringify(payload), ...flags)
      told.push(
        shown.replaceAll(/"transcript_path":"[^"]*"/g, "\"transcript_path\":\"…\"").replaceAll(
          /"duration_ms":[\d.]+/g,
          "\"duration_ms\":0"
        )
      )
    }
    await expect(told.join("\n")).toMatchFileSnapshot("../../support/trial/payloads.txt")
  })

  it("has a colour for each decision", async () => {
    const where = { cwd: "/p", home: "/h" } as never
    const facts = { event: "E", point: "p", untrusted: 1, context: [], messages: [], warnings: [] }
    const run = { file: "/p/a.json", key: "k", type: "command", command: "x".repeat(301) }
    const runs = [
      { ...run, matched: true, outcome: "success", exitCode: 0, durationMs: 5, stdout: "one", stderr: "two" },
      { ...run, command: "y", matched: false, why: "its if" }
    ]
    const all = ["allow", "deny", "ask", "block", "stop", "respond", "continue"].map((decision) =>
      painted(text({ ...facts, decision, runs: decision === "allow" ? runs : [] } as never, where, colored), "/none")
        .join("\n")
    )
    await expect(`${all.join("\n")}\n`).toMatchFileSnapshot("../../support/trial/colours.txt")
  })
})
