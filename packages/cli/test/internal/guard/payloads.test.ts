/** What the guard reads in the payloads of each system, and how each system gets what it says, to the letter. */
import type { Json, JsonObject } from "@belay/core/Json"
import { all, named, type Wire } from "@belay/hook-files/Wires"
import { assert, describe, expect, it } from "vitest"
import { givenArgs, occasionOf } from "../../../src/internal/guard/run/occasion.ts"
import { driverOf } from "../../../src/internal/guard/run/reach.ts"
import { outputOf, refused, type Said } from "../../../src/internal/guard/run/said.ts"
import { payloadOf } from "../../../src/internal/guard/sample.ts"

const calls: ReadonlyArray<{ readonly name: string; readonly args: JsonObject }> = [
  { name: "Bash", args: { command: "ls", timeout: 5 } },
  { name: "Read", args: { file_path: "a" } },
  { name: "Write", args: { file_path: "a", content: "x" } },
  { name: "Agent", args: { prompt: "p" } },
  { name: "mcp__git__log", args: { n: 1 } },
  { name: "apply_patch", args: { command: "*** Begin Patch\n*** Add File: a\n*** Move to: b\n", x: 1 } }
]

/** What is read, without the row of the table, which another test has. */
const read = (wire: Wire, payload: Json | string, event?: string): string => {
  try {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload)
    const { row: _, ...rest } = occasionOf(wire, text, event)
    return JSON.stringify(rest)
  } catch (error) {
    return String(Object(error).message)
  }
}

const facts = { session: "s1", cwd: "/p", agent: { id: "a1", name: "worker" }, output: "out", error: "broke" }

describe("the payloads of a system", () => {
  it.each(all)("$system are read exactly like this", async (wire) => {
    const lines: Array<string> = []
    for (const event of Object.keys(wire.events)) {
      const isCall = wire.events[event]!.means.startsWith("tool")
      for (const call of isCall ? calls : calls.slice(0, 1)) {
        const payload = payloadOf(wire, event, {
          ...facts,
          call: { id: "c1", ...call },
          prompt: "hello",
          answer: "done"
        })
        const found = read(wire, payload)
        lines.push(`${event} ${JSON.stringify(payload)}`, `  ${found}`)
        if (!isCall || !found.startsWith("{")) continue
        const back = occasionOf(wire, JSON.stringify(payload), undefined).call
        if (back !== undefined) lines.push(`  ${JSON.stringify(givenArgs(wire, back.name, back.args))}`)
      }
      lines.push(`  ${read(wire, payloadOf(wire, event, { session: "s1", cwd: "/p" }))}`)
    }
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./told/${wire.system}-payloads.txt`)
  })

  const claude = named("claude")!
  const call = { hook_event_name: "PreToolUse", session_id: "s", tool_name: "Bash", tool_input: { command: "ls" } }
  const plain = "\"name\":\"Bash\",\"args\":{\"command\":\"ls\"}"

  it.each<readonly [what: string, payload: Json | string, event: string | undefined, expected: string]>([
    ["no JSON", "{", undefined, "the payload is not JSON: "],
    ["a list", "[]", undefined, "the payload is not one of Claude Code: expected a JSON object"],
    ["null", "null", undefined, "the payload is not one of Claude Code: expected a JSON object"],
    ["a mark of the order of bytes", `\uFEFF${JSON.stringify(call)}`, undefined, plain],
    ["no event", {}, undefined, "the payload is not one of Claude Code: it has no hook_event_name"],
    ["the event of its entry", { ...call, hook_event_name: "" }, "PreToolUse", plain],
    ["an unknown event", { hook_event_name: "x".repeat(90) }, undefined, `sent the event "${"x".repeat(80)}", which`],
    ["an inherited event", { hook_event_name: "toString" }, undefined, "which this guard does not know"],
    ["no session", { ...call, session_id: 1 }, undefined, "the payload of Claude Code has no session id (session_id)"],
    ["a long id", { ...call, session_id: "s".repeat(256) }, undefined, plain],
    ["a longer id", { ...call, session_id: "s".repeat(257) }, undefined, "the session id has 257 characters"],
    ["a hostile id", { ...call, session_id: "__proto__" }, undefined, "the session id \"__proto__\" is not allowed"],
    ["a hostile sub-agent", { ...call, agent_id: "__proto__" }, undefined, "the sub-agent id \"__proto__\" is not"],
    ["a sub-agent that is a number", { ...call, agent_id: 5 }, undefined, "has no sub-agent id (agent_id)"],
    [
      "a sub-agent without a type",
      { ...call, agent_id: "a" },
      undefined,
      "\"agent\":{\"id\":\"a\",\"name\":\"agent\"}"
    ],
    ["no tool", { ...call, tool_name: null }, undefined, "the payload of Claude Code names no tool (tool_name)"],
    ["no id of the call", call, undefined, "\"isGuessed\":true"],
    ["an id of the call", { ...call, tool_use_id: "t1" }, undefined, "\"id\":\"t1\",\"isGuessed\":false"],
    ["an id with a slash", { ...call, tool_use_id: "a/b" }, undefined, "\"id\":\"call-"],
    ["a hostile id of a call", { ...call, tool_use_id: "__proto__" }, undefined, "\"id\":\"call-"],
    ["the longest id of a call", { ...call, tool_use_id: "t".repeat(256) }, undefined, `"id":"${"t".repeat(256)}"`],
    ["a longer id of a call", { ...call, tool_use_id: "t".repeat(257) }, undefined, "\"id\":\"call-"],
    ["arguments as text", { ...call, tool_input: "{\"command\":\"ls\"}" }, undefined, plain],
    ["arguments that are a text", { ...call, tool_input: "ls" }, undefined, "arguments of Bash that are not an object"],
    ["arguments that are a list", { ...call, tool_input: [1] }, undefined, "arguments of Bash that are not an object"],
    ["no arguments", { ...call, tool_input: null }, undefined, "arguments of Bash that are not an object"],
    ["no arguments of another tool", { ...call, tool_name: "Ping", tool_input: null }, undefined, "\"args\":{}"],
    ["a tool with an old name", { ...call, tool_name: "Task" }, undefined, "\"name\":\"Agent\""],
    ["a tool with an inherited name", { ...call, tool_name: "toString" }, undefined, "\"name\":\"toString\""],
    [
      "a patch that is none",
      { ...call, tool_name: "apply_patch", tool_input: { command: 1, x: 2 } },
      undefined,
      "\"args\":{\"command\":1,\"x\":2}"
    ],
    ["a patch without a text", { ...call, tool_name: "apply_patch" }, undefined, "\"args\":{\"patch\":\"ls\""],
    [
      "an error that is an object",
      { ...call, hook_event_name: "PostToolUseFailure", error: { b: 1, a: 2 } },
      undefined,
      "\"error\":\"{\\\"a\\\":2,\\\"b\\\":1}\""
    ]
  ])("with %s are read, or refused with a reason", (_, payload, event, expected) => {
    assert.include(read(claude, payload, event), expected)
  })

  it("of an agent that goes on say so only with true", () => {
    const stop = { hook_event_name: "Stop", session_id: "s" }
    const isAgain = (stop_hook_active: Json) =>
      occasionOf(claude, JSON.stringify({ ...stop, stop_hook_active }), undefined).isAgain
    assert.deepEqual([true, false, "true", 1, null].map(isAgain), [true, false, false, false, false])
  })

  it("of Cursor name the tools of its servers, and are decided by their own events", () => {
    const cursor = named("cursor")!
    const of = (hook_event_name: string, tool_name: string, more: JsonObject = {}) =>
      occasionOf(cursor, JSON.stringify({ hook_event_name, session_id: "s", tool_name, ...more }), undefined).call
    assert.isUndefined(of("preToolUse", "Shell"))
    assert.isUndefined(of("preToolUse", "MCP:x"))
    assert.strictEqual(of("postToolUse", "MCP:x")!.name, "mcp__cursor__x")
    assert.deepInclude(of("beforeMCPExecution", "x", { tool_input: "{\"a\":1}" }), {
      name: "mcp__cursor__x",
      args: { a: 1 },
      isGuessed: true
    })
    const shell = { tool_input: { command: "ls", other: 1 }, tool_use_id: "t" }
    assert.deepInclude(of("postToolUse", "Shell", shell), { name: "Bash", args: { command: "ls" }, isGuessed: true })
    const unnamed = { hook_event_name: "beforeMCPExecution", session_id: "s" }
    assert.strictEqual(occasionOf(cursor, JSON.stringify(unnamed), undefined).call!.name, "mcp__cursor__unknown")
  })

  it.each(
    [
      ["cursor", { hook_event_name: "beforeShellExecution", session_id: "s" }, "command"],
      ["cursor", { hook_event_name: "beforeShellExecution", session_id: "s", command: ["ls"] }, "command"],
      ["cursor", { hook_event_name: "beforeShellExecution", session_id: "s", command: "" }, "command"],
      ["windsurf", { agent_action_name: "pre_run_command", trajectory_id: "s", tool_info: {} }, "command_line"],
      ["windsurf", { agent_action_name: "pre_read_code", trajectory_id: "s" }, "file_path"],
      ["windsurf", { agent_action_name: "pre_write_code", trajectory_id: "s", tool_info: { edits: [] } }, "file_path"]
    ] as const
  )("of %s are refused without what the call is about: %o", (system, payload, field) => {
    assert.throws(
      () => occasionOf(named(system)!, JSON.stringify(payload), undefined),
      new RegExp(`has no [\\w.]*${field}, so nobody knows`)
    )
  })

  it("of Windsurf about a call that ran are read without it", () => {
    const payload = { agent_action_name: "post_run_command", trajectory_id: "s", tool_info: {} }
    assert.deepEqual(occasionOf(named("windsurf")!, JSON.stringify(payload), undefined).call!.args, {})
  })
})

describe("what the guard says", () => {
  const said: ReadonlyArray<Said> = [
    {},
    { deny: "no" },
    { deny: "no", context: "c" },
    { deny: "no", result: "r" },
    { stop: "s" },
    { stop: "s", deny: "no" },
    { ask: "sure?" },
    { ask: "sure?", change: { command: "pwd" } },
    { ask: "sure?", context: "c" },
    { change: { command: "pwd" } },
    { change: { command: "pwd" }, context: "c" },
    { result: "r" },
    { result: { a: 1 }, context: "c" },
    { again: "go on" },
    { context: "c" }
  ]

  it.each(all)("reaches $system exactly like this", async (wire) => {
    const same = new Map<string, Array<string>>()
    for (const event of Object.keys(wire.events)) {
      for (const one of said) {
        const { code, stderr, stdout } = outputOf(wire, event, one)
        const line = `${JSON.stringify(one)}: ${code} ${stdout}${stderr === "" ? "" : ` error ${stderr}`}`
        same.set(line, [...same.get(line) ?? [], event])
      }
    }
    const lines = [...same].map(([line, events]) => `${line}\n  ${events.join(" ")}`)
    const { places } = driverOf(wire)
    await expect(`${JSON.stringify(places)}\n${lines.join("\n")}\n`).toMatchFileSnapshot(
      `./told/${wire.system}-answers.txt`
    )
  })

  it("always has a reason, without which Codex lets a call run and shows a result that hooks have emptied", () => {
    const codex = all.find(({ system }) => system === "codex")!
    const reasons = (event: string, said: Said) => {
      const { hookSpecificOutput: { permissionDecisionReason } = {}, reason } = JSON.parse(
        outputOf(codex, event, said).stdout
      ) as { readonly reason?: string; readonly hookSpecificOutput?: { readonly permissionDecisionReason?: string } }
      return reason ?? permissionDecisionReason
    }
    assert.strictEqual(reasons("PreToolUse", { deny: " " }), "the guard gave no reason")
    assert.strictEqual(reasons("UserPromptSubmit", { deny: "" }), "the guard gave no reason")
    assert.strictEqual(reasons("Stop", { again: "" }), "the guard gave no reason")
    assert.strictEqual(reasons("PostToolUse", { result: "" }), "the result is empty")
    assert.deepEqual(refused(" \n"), { code: 2, stdout: "", stderr: "the guard gave no reason" })
    assert.deepEqual(refused("no"), { code: 2, stdout: "", stderr: "no" })
  })
})
