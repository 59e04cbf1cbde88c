import * as Copilot from "@belay/hook-files/Copilot"
import { assert, describe, it } from "@effect/vitest"

const names: ReadonlyArray<readonly [camel: string, pascal: string]> = [
  ["sessionStart", "SessionStart"],
  ["sessionEnd", "SessionEnd"],
  ["userPromptSubmitted", "UserPromptSubmit"],
  ["userPromptTransformed", "UserPromptTransformed"],
  ["preToolUse", "PreToolUse"],
  ["preMcpToolCall", "PreMcpToolCall"],
  ["postToolUse", "PostToolUse"],
  ["postToolUseFailure", "PostToolUseFailure"],
  ["agentStop", "Stop"],
  ["subagentStart", "SubagentStart"],
  ["subagentStop", "SubagentStop"],
  ["errorOccurred", "ErrorOccurred"],
  ["preCompact", "PreCompact"],
  ["permissionRequest", "PermissionRequest"],
  ["notification", "Notification"]
]

const decode = (hooks: object, more: object = {}) =>
  Copilot.decode(JSON.stringify({ version: 1, hooks, ...more }), "hooks.json")
const one = (entry: object, event = "preToolUse") => decode({ [event]: [entry] })

describe("Copilot.decode", () => {
  // rows: U-10
  it("reads all 15 events under both names, with 30 seconds unless the file says otherwise", () => {
    for (const index of [0, 1] as const) {
      const { handlers, warnings } = decode(Object.fromEntries(names.map((name) => [name[index], [{ bash: "x" }]])))
      assert.deepEqual(warnings, [])
      assert.deepEqual(handlers.map(({ point }) => point as string), names.map(([camel]) => camel))
      assert.deepEqual(handlers.map(({ event }) => event), names.map((name) => name[index]))
      assert.isTrue(handlers.every(({ pascal, timeoutMs }) => pascal === (index === 1) && timeoutMs === 30_000))
    }
    const timeout = (entry: object) => one({ bash: "x", ...entry }).handlers[0]?.timeoutMs
    assert.deepEqual([timeout({ timeout: 5 }), timeout({ timeoutSec: 0.5, timeout: 5 })], [5_000, 500])
  })

  it("reads bash, command and exec, with a folder and variables", () => {
    const work = (entry: object) => one(entry).handlers[0]?.work
    assert.deepEqual(work({ type: "command", bash: "a", powershell: "b", command: "c" }), {
      type: "command",
      command: "a"
    })
    assert.deepEqual(work({ powershell: "b", command: "c" }), { type: "command", command: "c" })
    assert.deepEqual(work({ exec: "node", args: ["x.js", "a b"] }), {
      type: "command",
      command: "node",
      args: ["x.js", "a b"]
    })
    assert.deepEqual(work({ exec: "true" }), { type: "command", command: "true", args: [] })
    const [handler] = one({ bash: "x", cwd: "scripts", env: { M: "1" } }).handlers
    assert.deepEqual([handler?.cwd, handler?.env], ["scripts", { M: "1" }])
    assert.match(one({ powershell: "b" }).warnings[0]!.reason, /never runs here/)
    assert.match(one({ exec: "x", bash: "y" }).warnings[0]!.reason, /cannot be combined with bash/)
  })

  it("reads http, which has to be https where it decides or receives secrets", () => {
    const http = (url: string, event: string, more: object = {}) => one({ type: "http", url, ...more }, event)
    const { handlers } = http("https://h.example/x", "postToolUse", {
      headers: { "X-A": "$T" },
      allowedEnvVars: ["T"],
      timeoutSec: 5
    })
    assert.deepEqual(handlers[0]?.work, {
      type: "http",
      url: "https://h.example/x",
      headers: { "X-A": "$T" },
      allowedEnvVars: ["T"]
    })
    assert.lengthOf(http("http://h.example", "postToolUse").handlers, 1)
    for (const event of ["preToolUse", "PreToolUse", "permissionRequest"]) {
      assert.lengthOf(http("https://h.example", event).handlers, 1)
      const { handlers: none, warnings } = http("http://h.example", event)
      assert.deepEqual([none.length, warnings[0]?.key], [0, `hooks.${event}[0].url`])
      assert.match(warnings[0]!.reason, /expected https/)
    }
    assert.lengthOf(http("http://h.example", "postToolUse", { allowedEnvVars: [] }).handlers, 0)
    assert.lengthOf(http("ftp://h.example", "postToolUse").handlers, 0)
    assert.lengthOf(http("nowhere", "postToolUse").handlers, 0)
  })

  it("reads prompts at sessionStart only", () => {
    assert.deepEqual(one({ type: "prompt", prompt: "/init" }, "sessionStart").handlers[0]?.work, {
      type: "prompt",
      prompt: "/init"
    })
    assert.match(one({ type: "prompt", prompt: "/init" }, "preToolUse").warnings[0]!.reason, /sessionStart only/)
  })

  it("compares whole names in camel case, and leaves out an entry whose pattern is none", () => {
    const fits = (matcher: string, value: string, event = "preToolUse") =>
      one({ bash: "x", matcher }, event).handlers[0]?.matches(value)
    assert.deepEqual([
      fits("bash|edit", "bash"),
      fits("bash|edit", "bashful"),
      fits("ba.*", "bashful"),
      fits("bash", "a-bash")
    ], [
      true,
      false,
      true,
      false
    ])
    assert.deepEqual([fits("manual", "auto", "preCompact"), fits("helper", "helper", "subagentStart")], [false, true])
    assert.isTrue(fits("never", "", "agentStop"))
    for (const matcher of ["*", "a(", "a)(b"]) {
      const { handlers, warnings } = one({ bash: "x", matcher })
      assert.deepEqual([handlers.length, warnings[0]?.key], [0, "hooks.preToolUse[0].matcher"], matcher)
    }
    assert.match(one({ bash: "x", matcher: "(?!view).*" }).warnings[0]!.reason, /matches everything/)
  })

  it("compares as Claude does under a name in Pascal case", () => {
    const fits = (matcher: string, value: string, claude: string) =>
      one({ bash: "x", matcher }, "PreToolUse").handlers[0]?.matches(value, claude)
    for (const matcher of ["*", "**", "", "Bash", "bash", "Edit|Bash", "B.*"]) {
      assert.isTrue(fits(matcher, "bash", "Bash"), matcher)
    }
    for (const matcher of ["Bas", "Edit|Write", "b.*", ".*Z"]) assert.isFalse(fits(matcher, "bash", "Bash"), matcher)
    assert.isTrue(fits("Task", "task", "Agent"))
    assert.isTrue(fits("Agent", "task", "Agent"))
  })

  it("reads groups as other tools have them", () => {
    const { handlers, warnings } = decode({
      PreToolUse: [{
        matcher: "Bash",
        hooks: [{ type: "command", command: "a" }, { type: "command", command: "b", timeout: 5 }]
      }]
    })
    assert.deepEqual(warnings, [])
    assert.deepEqual(
      handlers.map(({ key, matches, timeoutMs }) => [key, matches("bash", "Bash"), matches("view", "Read"), timeoutMs]),
      [
        ["hooks.PreToolUse[0].hooks[0]", true, false, 30_000],
        ["hooks.PreToolUse[0].hooks[1]", true, false, 5_000]
      ]
    )
  })

  it("warns of everything that does not count, with its key, and reads the rest", () => {
    const { handlers, warnings } = decode({
      preToolUs: [],
      sessionEnd: {},
      preToolUse: [
        1,
        { type: "agent" },
        {},
        { bash: 1 },
        { bash: "x", matcher: 1 },
        { bash: "x", cwd: 1 },
        { exec: "x", args: [1] },
        { type: "http", url: 1 },
        { bash: "ok", timeoutSec: "soon", env: { A: 1 } }
      ]
    }, { disableAllHooks: "yes" })
    assert.deepEqual(handlers.map(({ timeoutMs, work }) => [work, timeoutMs]), [[
      { type: "command", command: "ok" },
      30_000
    ]])
    assert.sameMembers(warnings.map(({ key }) => key), [
      "disableAllHooks",
      "hooks.preToolUs",
      "hooks.sessionEnd",
      "hooks.preToolUse[0]",
      "hooks.preToolUse[1].type",
      "hooks.preToolUse[2]",
      "hooks.preToolUse[3].bash",
      "hooks.preToolUse[4].matcher",
      "hooks.preToolUse[5].cwd",
      "hooks.preToolUse[6].args",
      "hooks.preToolUse[7].url",
      "hooks.preToolUse[8].timeoutSec",
      "hooks.preToolUse[8].env.A"
    ])
    assert.match(warnings.find(({ key }) => key === "hooks.preToolUs")!.reason, /did you mean preToolUse/)
  })

  it("ignores files of another version and files that are not a JSON object, and reads whether everything is switched off", () => {
    assert.deepEqual(decode({ preToolUse: [{ bash: "x" }] }, { version: 2 }).handlers, [])
    for (const text of ["", "[]", "nope", "{\"hooks\": 1}", "{\"hooks\": {\"__proto__\": {\"preToolUse\": []}}}"]) {
      assert.deepEqual(Copilot.decode(text, "f").handlers, [], text)
    }
    assert.deepEqual(Copilot.decode("{ // fine\n  \"version\": 1,\n}", "f").warnings, [
      { file: "f", key: "", reason: "is not JSON: property name expected at line 3, column 1" }
    ])
    assert.isTrue(decode({ preToolUse: [{ bash: "x" }] }, { disableAllHooks: true }).disableAllHooks)
    assert.lengthOf(
      Copilot.decode("{ // settings without a version\n\"hooks\": { \"agentStop\": [{ \"bash\": \"x\" }] } }", "f")
        .handlers,
      1
    )
  })
})
