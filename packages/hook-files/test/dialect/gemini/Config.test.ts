import * as Gemini from "@belay/hook-files/Gemini"
import { assert, describe, it } from "@effect/vitest"

const events = [
  "BeforeTool",
  "AfterTool",
  "BeforeAgent",
  "AfterAgent",
  "BeforeModel",
  "BeforeToolSelection",
  "AfterModel",
  "SessionStart",
  "SessionEnd",
  "Notification",
  "PreCompress"
]

const decode = (hooks: unknown, more: object = {}) => Gemini.decode(JSON.stringify({ hooks, ...more }), "settings.json")
const group = (hook: object, more: object = {}) => [{ ...more, hooks: [{ type: "command", command: "x", ...hook }] }]

describe("Gemini.decode", () => {
  // rows: U-10, DEC-36
  it("reads all 11 events, with 60,000 milliseconds unless the file says otherwise", () => {
    const { handlers, warnings } = decode(
      Object.fromEntries(events.map((event, index) => [event, group(index === 0 ? { timeout: 5_000 } : {})]))
    )
    assert.deepEqual(warnings, [])
    assert.deepEqual(handlers.map(({ event }) => event as string), events)
    assert.deepEqual([...new Set(handlers.map(({ timeoutMs }) => timeoutMs))], [5_000, 60_000])
    assert.strictEqual(handlers[1]?.key, "hooks.AfterTool[0].hooks[0]")
  })

  it("reads comments, a byte order mark and texts that look like comments", () => {
    const text = `\uFEFF{
      // the guard
      "hooks": { "BeforeTool": [{ /* all */ "hooks": [{ "type": "command", "command": "curl http://127.0.0.1 # /* no */" }] }] }
    }`
    const { handlers, warnings } = Gemini.decode(text, "settings.json")
    assert.deepEqual(warnings, [])
    assert.strictEqual(handlers[0]?.work.command, "curl http://127.0.0.1 # /* no */")
  })

  it("searches the names of tools by a pattern, takes what is none literally, and compares everything else", () => {
    const { handlers, warnings } = decode({
      BeforeTool: [
        ...group({}, { matcher: "write_.*|replace" }),
        ...group({}, { matcher: "read_file(" }),
        ...group({}, { matcher: "*" })
      ],
      SessionStart: group({}, { matcher: "startup" }),
      BeforeModel: group({}, { matcher: "never" })
    })
    const fits = (value: string) => handlers.map(({ matches }) => matches(value))
    assert.deepEqual(fits("write_file"), [true, false, true, false, true])
    assert.deepEqual(fits("my_write_file"), [true, false, true, false, true])
    assert.deepEqual(fits("read_file("), [false, true, true, false, true])
    assert.deepEqual(fits("startup"), [false, false, true, true, true])
    assert.deepEqual(fits("startups"), [false, false, true, false, true])
    assert.match(warnings[0]!.reason, /is not a valid pattern, so it is taken literally/)
    assert.match(
      decode({ BeforeTool: group({}, { matcher: "(?!read)" }) }).warnings[0]!.reason,
      /so it matches everything/
    )
  })

  it("knows where an extension is", () => {
    const text = JSON.stringify({
      hooks: { SessionStart: group({ command: "node \"${extensionPath}${/}hooks${/}x.js\"", env: { A: "b" } }) }
    })
    const { handlers } = Gemini.decode(text, "hooks.json", "/ext/one")
    assert.strictEqual(handlers[0]?.work.command, "node \"${extensionPath}/hooks/x.js\"")
    assert.deepEqual(handlers[0]?.env, { extensionPath: "/ext/one", A: "b" })
    const own = JSON.stringify({ hooks: { SessionStart: group({ env: { extensionPath: "/mine" } }) } })
    assert.deepEqual(Gemini.decode(own, "hooks.json", "/ext/one").handlers[0]?.env, { extensionPath: "/mine" })
  })

  it("leaves out what is switched off by name or by command, and says so for other files", () => {
    const hooks = {
      BeforeTool: [
        ...group({ name: "scan" }),
        ...group({ command: "./log.sh" }),
        ...group({ name: "keep", command: "./log.sh" })
      ]
    }
    const older = decode({ ...hooks, disabled: ["scan"], enabled: true, notifications: false })
    assert.deepEqual(older.handlers.map(({ name }) => name), [undefined, "keep"])
    const newer = decode(hooks, { hooksConfig: { enabled: false, disabled: ["./log.sh"] } })
    assert.deepEqual(newer.handlers.map(({ name }) => name), ["scan", "keep"])
    assert.deepEqual([newer.disableAllHooks, newer.disabled, newer.warnings, older.disableAllHooks], [
      true,
      ["./log.sh"],
      [],
      false
    ])
  })

  it("warns of everything that does not count, with its key, and reads the rest", () => {
    const { handlers, warnings } = decode({
      BeforeTol: [],
      AfterTool: {},
      BeforeTool: [1, { hooks: 1 }, { matcher: 1, hooks: [] }, {
        sequential: "yes",
        hooks: [1, { type: "runtime" }, { type: "command" }, {
          type: "command",
          command: "y",
          timeout: -1,
          name: 1,
          env: { A: 1, B: "b" }
        }]
      }],
      disabled: "all"
    }, { hooksConfig: { enabled: "no" } })
    assert.deepEqual(handlers.map(({ env, timeoutMs, work }) => [work.command, timeoutMs, env]), [["y", 60_000, {
      B: "b"
    }]])
    assert.deepEqual(warnings.map(({ key }) => key).sort(), [
      "hooks.AfterTool",
      "hooks.BeforeTol",
      "hooks.BeforeTool[0]",
      "hooks.BeforeTool[1].hooks",
      "hooks.BeforeTool[2].matcher",
      "hooks.BeforeTool[3].hooks[0]",
      "hooks.BeforeTool[3].hooks[1].type",
      "hooks.BeforeTool[3].hooks[2].command",
      "hooks.BeforeTool[3].hooks[3].env.A",
      "hooks.BeforeTool[3].hooks[3].name",
      "hooks.BeforeTool[3].hooks[3].timeout",
      "hooks.BeforeTool[3].sequential",
      "hooks.disabled",
      "hooksConfig.enabled"
    ])
    assert.match(warnings.find(({ key }) => key === "hooks.BeforeTol")!.reason, /did you mean BeforeTool/)
  })

  it("ignores files that are not a JSON object, and keys of a prototype", () => {
    for (const text of ["", "[]", "nope", "{\"hooks\": 1}", "{\"hooks\": {\"__proto__\": {\"BeforeTool\": []}}}"]) {
      assert.deepEqual(Gemini.decode(text, "f").handlers, [], text)
    }
    assert.deepEqual(Gemini.decode("{ /* fine */\n  \"hooks\": }", "f").warnings, [
      { file: "f", key: "", reason: "is not JSON: value expected at line 2, column 12" }
    ])
  })
})
