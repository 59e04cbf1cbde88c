/**
 * `hooks.json` and `mcp.json` of Base Coat as projects have them, loaded from disk, with real scripts and a real
 * server.
 */
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as McpServers from "@belay/providers/McpServers"
import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { judge, start } from "../../support/publicFiles.ts"

const guard = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../support/mcpGuard.ts", import.meta.url))]
}
const mcp = McpServers.make({ guard })
afterAll(() => mcp.close())

const sh = (command: string) => ["bash", { command }] as const
/** Entries have time on a busy machine, unless they say how much. */
const hooks = (
  events: { readonly [event: string]: ReadonlyArray<object> },
  more: object = { version: 1 }
): object => ({
  ...more,
  hooks: Object.fromEntries(
    Object.entries(events).map(([event, entries]) => [event, entries.map((entry) => ({ timeout: 30, ...entry }))])
  )
})

/** The handler of a framework that every script of a project shares. */
const shared = `import json, sys

def handle(decide):
    event = json.load(sys.stdin)
    response = {"action": "passThrough", "priority": 50, "additionalContext": [], "warnings": [], "metadata": {"hookId": sys.argv[0]}}
    response.update(decide(event) or {})
    json.dump(response, sys.stdout)
`
const python = (body: string): string =>
  `from common import handle\n\ndef decide(event):\n${
    body.split("\n").map((line) => `    ${line}`).join("\n")
  }\n\nhandle(decide)\n`

const preTool = python(`command = event["tool"]["input"].get("command", "")
assert event["hook"] == "PreToolUse" and event["budget"]["usedTokens"] >= 0 and event["timestamp"].endswith("Z")
if "rm -rf" in command:
    return {"action": "block", "reason": "Destructive: " + command}
if command.startswith("npm pack"):
    return {"action": "injectContext", "additionalContext": ["Known fix: remove dist first."]}
if command.startswith("npm i "):
    return {"action": "modify", "modifiedInput": {"command": command.replace("npm i ", "npm ci ")}}`)

describe("hooks.json and mcp.json of Base Coat", () => {
  // rows: B-11, B-14, B-21
  it("guard calls in python, with a module that they share", async () => {
    const { did, heard, requests } = await judge("basecoat", {
      "hooks.json": hooks({ PreToolUse: [{ command: "python3 hooks/pre_tool.py", priority: 20 }] }),
      "hooks/pre_tool.py": preTool,
      "hooks/common.py": shared
    }, [
      [...sh("rm -rf /"), /Destructive: rm -rf/],
      [...sh("npm pack"), "runs"],
      [...sh("npm i x"), { with: { command: "npm ci x" } }],
      ["write_file", { path: "a", content: "x" }, "runs"]
    ])
    assert.lengthOf(did, 3)
    assert.notInclude(requests[1]!.messages.map(text).join("\n"), "Known fix")
    assert.include(requests[2]!.messages.map(text).join("\n"), "Known fix: remove dist first.")
    assert.deepEqual(heard.warnings, [])
  })

  // rows: B-14, B-33
  it("change results, one after the other by priority", async () => {
    const redact = `const event = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const { output, success } = event.tool
if (success && /token/.test(output)) console.log(JSON.stringify({ action: 'modify', modifiedOutput: output.replace(/token=\\w+/, 'token=[redacted]') }))
`
    await judge(
      "basecoat",
      {
        "hooks.json": hooks({
          PostToolUse: [
            {
              command:
                "jq -c 'if .tool.success then {action: \"modify\", modifiedOutput: (.tool.output + \" (checked)\")} else {} end'",
              priority: 90
            },
            { command: "node hooks/redact.cjs", priority: 10 }
          ]
        }),
        "hooks/redact.cjs": redact
      },
      [[...sh("env"), { reads: "token=[redacted] (checked)" }], ["fail", {}, { reads: /the disk is full/ }]],
      { answers: { bash: "token=abc" } }
    )
  })

  // rows: B-33, B-34
  it("run by priority, and telemetry also behind a block", async () => {
    const note = (word: string, response = "{}") => `printf ${word} >> order.log; echo '${response}'`
    const { read } = await judge("basecoat", {
      "hooks.json": hooks({
        PreToolUse: [
          { command: `${note("t")}; jq -c .outcome > outcome.json`, priority: 1, kind: "telemetry" },
          { command: note("c"), priority: 50 },
          { command: note("b", "{\"action\":\"block\",\"reason\":\"policy\"}"), priority: 20, kind: "policy" },
          { command: note("a", "{\"action\":\"block\",\"reason\":\"advice\"}"), priority: 10, kind: "advisory" }
        ]
      })
    }, [[...sh("ls"), /policy/]])
    assert.strictEqual(read("order.log"), "abt")
    assert.deepInclude(JSON.parse(read("outcome.json")), { action: "block", reason: "policy" })
  })

  // rows: B-30, B-31
  it("let everything pass when they break, and say so", async () => {
    const { heard } = await judge("basecoat", {
      "hooks.json": hooks({
        PreToolUse: [
          { command: "no-such-python hooks/pre_tool.py" },
          { command: "echo '{\"action\":\"block\",\"reason\":\"unheard\"}'; exit 3" },
          { command: "echo loading; echo '{\"action\":\"block\"}'" },
          { command: "echo '{\"action\":\"deny\",\"reason\":\"no such action\"}'" },
          { command: "echo '[]'" },
          { command: "sleep 3623", timeout: 0.2 },
          { command: "printf ''" },
          { command: "echo '{\"action\":\"modify\",\"modifiedInput\":\"no object\"}'" }
        ]
      })
    }, [[...sh("ls"), "runs"]])
    assert.match(heard.warnings.at(-1)!, /its changes do not count at PreToolUse/)
    const warnings = heard.warnings.filter((one) => one.includes("Hook failed"))
    assert.lengthOf(warnings, 6)
    for (
      const [index, word] of [/127/, /ended with 3/, /not JSON/, /is invalid/, /not an object/, /took too long/]
        .entries()
    ) {
      assert.match(warnings[index]!, word)
    }
  })

  // rows: B-02, B-03, B-08
  it("see sessions and errors, repeated ones only after a while", async () => {
    const { agent, read, requests } = start("basecoat", {
      "hooks.json": hooks({
        SessionStart: [{
          command: "cat memory/*.txt | jq -Rs '{action: \"injectContext\", additionalContext: [.]}'",
          priority: 10
        }],
        SessionEnd: [{ command: "jq -c '[.hook, .reason]' >> events.log" }],
        OnError: [{
          command:
            "jq -c '[.hook, .error.recurrence, .error.duplicate]' >> events.log; echo '{\"action\":\"injectContext\",\"additionalContext\":[\"Free some space.\"]}'"
        }]
      }),
      "memory/facts.txt": "The build needs pnpm."
    }, [calls(["fail", {}]), calls(["fail", {}]), { text: "done" }])
    await agent.run("go")
    await agent[Symbol.asyncDispose]()
    assert.strictEqual(text(requests[0]!.messages[0]!), "The build needs pnpm.")
    assert.lengthOf(requests[2]!.messages.map(text).filter((one) => one.includes("Free some space.")), 1)
    assert.deepEqual(read("events.log").trim().split("\n").map((line) => JSON.parse(line) as Json), [
      ["OnError", 1, false],
      ["OnError", 2, true],
      ["SessionEnd", "done"]
    ])
  })

  // rows: B-20
  it("ask tools of a server, with the envelope as what they are called with", async () => {
    const { heard, requests } = await judge(
      "basecoat",
      {
        "mcp.json": hooks({
          SessionStart: [{ tool: "guard.load_session_memory", priority: 10 }],
          PreToolUse: [{ tool: "guard.check_command", priority: 10 }]
        }, { mcpServers: { guard } })
      },
      [[...sh("npm run deploy"), /deploys go through the pipeline/], [...sh("ls"), "runs"]],
      { mcp }
    )
    assert.match(text(requests[0]!.messages[0]!), /^Memory of/)
    assert.deepEqual(heard.warnings, [])
  })

  // rows: B-30
  it(
    "go on when a server's tool fails, says nothing that fits, or is not there",
    async () => {
      const { heard } = await judge(
        "basecoat",
        {
          "mcp.json": hooks({
            PreToolUse: [{ tool: "guard.broken" }, { tool: "guard.prose" }, { tool: "guard.nothing" }, {
              tool: "gaurd.check_command"
            }]
          }, {})
        },
        [[...sh("deploy"), "runs"]],
        { mcp }
      )
      assert.lengthOf(heard.warnings.filter((one) => one.includes("Hook failed")), 4)
      assert.match(heard.warnings.join("\n"), /the policy service is down/)
    }
  )

  // rows: B-20, B-23
  it("count together, unless their version is another", async () => {
    const block = (reason: string) => ({ command: `echo '{"action":"block","reason":"${reason}"}'` })
    await judge(
      "basecoat",
      {
        "hooks.json": hooks({ PreToolUse: [block("old")] }, { version: 2 }),
        "mcp.json": hooks({ PreToolUse: [{ tool: "guard.check_command", priority: 5 }], PreToolUsed: [] }, {})
      },
      [[...sh("deploy"), /pipeline/], [...sh("ls"), "runs"]],
      { mcp, warnings: [/hooks.json: version.*expected 1/, /did you mean PreToolUse/] }
    )
    await judge(
      "basecoat",
      {
        "hooks.json": hooks({ PreToolUse: [{ ...block("first"), priority: 5 }, { command: "true", colour: "red" }] }),
        "mcp.json": hooks({ PreToolUse: [{ tool: "guard.check_command", priority: 50 }] }, {})
      },
      [[...sh("deploy"), /first/]],
      { mcp, warnings: [/colour.*not known/] }
    )
  })
})
