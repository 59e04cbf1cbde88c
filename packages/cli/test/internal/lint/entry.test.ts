/** What is wrong with an entry of a hook file, apart from its script. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, it } from "vitest"
import { isGuard, rules } from "../../../src/internal/lint/entry.ts"
import { type Facts, item, shown } from "../../support/lintItem.ts"

type Row = readonly [event: `${Dialect} ${string}`, facts: Facts, ...found: ReadonlyArray<string>]

const check = (rows: ReadonlyArray<Row>): void => {
  for (const [at, facts, ...found] of rows) {
    it(`of ${at} with ${JSON.stringify(facts)}: ${found.join("; ") || "nothing"}`, () => {
      const [dialect, event] = at.split(" ") as [Dialect, string]
      const one = item(dialect, event, facts)
      assert.deepEqual(rules.flatMap((rule) => shown(rule(one))), [...found])
    })
  }
}

/** A matcher about which nothing is said. */
const matcher = "Bash"

describe("a key", () => {
  const unknown = (level: string, key: string, fix: string, name = "Claude Code") =>
    `${level} unknown-key: "${key}" is not a key of ${name} | ${fix}`
  check([
    ["claude PreToolUse", { matcher, raw: { type: 1, command: 1 }, group: { matcher: 1, hooks: 1 } }],
    ["claude PreToolUse", { matcher, raw: { comand: 1 } }, unknown("error", "comand", "Did you mean \"command\"?")],
    ["claude PreToolUse", { matcher, raw: { commands: 1 } }, unknown("error", "commands", "Did you mean \"command\"?")],
    ["claude PreToolUse", { matcher, raw: { zzz: 1 } }, unknown("warning", "zzz", "Remove it.")],
    [
      "claude PreToolUse",
      { matcher, raw: { matcher: 1 } },
      unknown("error", "matcher", "It belongs to the group, one level higher.")
    ],
    [
      "claude PreToolUse",
      { matcher, group: { command: 1, zzz: 1 } },
      unknown("error", "command", "It belongs to the entry, one level deeper."),
      unknown("warning", "zzz", "Remove it.")
    ],
    ["kodelet before_tool_call", { raw: { zzz: 1 } }],
    ["claude NoSuchEvent", { raw: { zzz: 1 } }],
    ["cursor preToolUse", { raw: { zzz: 1 } }, unknown("warning", "zzz", "Remove it.", "Cursor")]
  ])

  it("that the guide of a system names is known", () => {
    for (const dialect of ["claude", "codex", "copilot", "gemini", "cursor", "windsurf", "factory"] as const) {
      const { event, source: { system: { guide } } } = item(dialect, "Stop")
      const all = (keys: ReadonlyArray<string>) => Object.fromEntries(keys.map((key) => [key, "1"]))
      const one = item(dialect, event?.name ?? "post_read_code", { raw: all(guide.keys), group: all(guide.groupKeys) })
      assert.deepEqual(shown(rules[0]!(one)), [])
    }
  })
})

describe("a condition", () => {
  const never = (tool: string, names: string) =>
    `error never-runs: its if is about ${tool}, its matcher about ${names} | Give both the same tool.`
  check([
    ["claude PreToolUse", { matcher: "Write", rule: "Bash(git *)" }, never("Bash", "Write")],
    ["claude PreToolUse", { matcher: "Read, Write", rule: " Bash(git *)" }, never("Bash", "Read, Write")],
    ["claude PreToolUse", { matcher: "Bash|Write", rule: "Bash(git *)" }],
    ["claude PreToolUse", { matcher: "Write", rule: "Edit(*.ts)" }],
    ["claude PreToolUse", { matcher: "MultiEdit", rule: "Edit(*.ts)" }],
    ["claude PreToolUse", { matcher: "NotebookEdit", rule: "Edit(*.ipynb)" }],
    ["claude PreToolUse", { matcher: "Glob", rule: "Read(*.ts)" }],
    ["claude NoSuchEvent", { matcher: "Write", rule: "Bash(git *)" }],
    ["claude PreToolUse", { matcher: "Edit", rule: "Write(*.ts)" }, never("Write", "Edit")],
    ["claude PreToolUse", { matcher: "Grep", rule: "Read(*.ts)" }],
    ["claude PreToolUse", { matcher: "Write", rule: "Read(*.ts)" }, never("Read", "Write")],
    ["claude PreToolUse", { matcher: "Write", rule: "mcp__x__y" }],
    ["claude PreToolUse", { matcher: "Write", rule: "*" }],
    ["claude PostToolUse", { rule: "Bash(git *)" }],
    ["claude PostToolUse", { matcher: " ", rule: "Bash(git *)" }],
    ["claude PostToolUse", { matcher: "^(?:Write)$", rule: "Bash(git *)" }],
    ["codex PreToolUse", { matcher: "Write", rule: "Bash(git *)" }]
  ])
})

describe("an entry that runs once", () => {
  const ignored = "hint once-ignored: it says once, outside of a skill | Remove it, or move the entry to the skill."
  check([
    ["claude PreToolUse", { matcher, raw: { once: true } }, ignored],
    ["claude PreToolUse", { matcher, raw: { once: false } }],
    ["claude PreToolUse", { matcher, raw: { once: true }, once: true }],
    ["codex PreToolUse", { matcher, raw: { once: true } }]
  ])
})

describe("a guard in the background", () => {
  const async = "warning guard-async: this guard runs in the background | Remove \"async\"."
  check([
    ["claude PreToolUse", { matcher, isAsync: true }, async],
    ["claude PostToolUse", { matcher, isAsync: true }],
    ["claude SessionEnd", { isAsync: true }],
    ["gemini BeforeTool", { isAsync: true }, async],
    ["gemini BeforeToolSelection", { isAsync: true }],
    ["claude NoSuchEvent", { isAsync: true }]
  ])
})

describe("a timeout", () => {
  const short = (seconds: number) => `warning guard-timeout: this guard has ${seconds} s | Give it 5 seconds or more.`
  const unit = (what: string, fix: number) => `warning timeout-unit: its timeout is ${what} | Did you mean ${fix}?`
  check([
    ["claude PreToolUse", { matcher, raw: { timeout: 1.9 }, timeout: 1.9 }, short(1.9)],
    ["claude PreToolUse", { matcher, raw: { timeout: 2 }, timeout: 2 }],
    ["claude PreToolUse", { matcher, timeout: 1 }],
    ["claude PostToolUse", { matcher, raw: { timeout: 1 }, timeout: 1 }],
    ["copilot preToolUse", { raw: { timeoutSec: 1 }, timeout: 1 }, short(1)],
    ["claude PreToolUse", { matcher, raw: { timeout: 999 }, timeout: 999 }],
    ["claude PreToolUse", { matcher, raw: { timeout: 1_000 }, timeout: 1_000 }, unit("1000 seconds", 1)],
    ["claude PreToolUse", { matcher, raw: { timeout: 5_600 }, timeout: 5_600 }, unit("5600 seconds", 6)],
    ["claude PreToolUse", { matcher, timeout: 5_000 }],
    ["gemini AfterTool", { raw: { timeout: 999 }, timeout: 0.999 }, unit("999 milliseconds", 999_000)],
    ["gemini AfterTool", { raw: { timeout: 1_000 }, timeout: 1 }],
    ["gemini AfterTool", { raw: { timeout: 1_000_000 }, timeout: 1_000 }],
    ["gemini AfterTool", { raw: { timeout: "5" }, timeout: 60 }],
    ["claude NoSuchEvent", { raw: { timeout: 5_000 }, timeout: 5_000 }]
  ])
})

describe("a request", () => {
  const http = (url: string, more: object = {}) => ({ work: { type: "http", url, ...more } })
  const local =
    "error url-local: it sends to this machine, from a file of the project | Move the entry to the settings in your home folder."
  const header = (name: string) =>
    `warning header-empty: a header uses $${name}, which is not in allowedEnvVars | Add "allowedEnvVars": ["${name}"].`
  check([
    ["claude PostToolUse", http("https://example.com/x")],
    ["claude PostToolUse", http("example"), "error url: \"example\" is not a URL | Write the full URL with https://."],
    ["claude PostToolUse", http("http://example.com"), "error url-plain: it uses plain http | Use https."],
    ["claude PostToolUse", http("http://localhost:1/x")],
    ...["localhost", "127.0.0.1", "[::1]"].map((host): Row => [
      "claude PostToolUse",
      { ...http(`http://${host}:1/x`), ofProject: true },
      local
    ]),
    ["claude PostToolUse", { ...http("https://example.com"), ofProject: true }],
    [
      "claude PostToolUse",
      { ...http("http://example.com"), ofProject: true },
      "error url-plain: it uses plain http | Use https."
    ],
    ["claude PostToolUse", http("https://a.b", { headers: { A: "$X ${Y} $X", B: "z" } }), header("X"), header("Y")],
    ["claude PostToolUse", http("https://a.b", { headers: { A: "$X $Y" }, allowedEnvVars: ["X"] }), header("Y")]
  ])
})

describe("a question to a model", () => {
  const prompt = (text: string, type = "prompt") => ({ matcher, work: { type, prompt: text } })
  const vague = (what: string) =>
    `hint prompt-vague: ${what} | Say what to block, what to allow, and what to do when in doubt.`
  const event = "hint prompt-event: it has no placeholder for the event | Write $ARGUMENTS where the event belongs."
  const words = (count: number) => Array.from({ length: count }, () => "word").join(" ")
  check([
    ["claude PreToolUse", prompt(`${words(8)} $ARGUMENTS`)],
    ["claude PreToolUse", prompt(`${words(7)} $ARGUMENTS`), vague("7 words say what to decide")],
    ["claude PreToolUse", prompt(` $ARGUMENTS ${words(8)}`, "agent")],
    ["claude PreToolUse", prompt(words(8)), event],
    ["claude PreToolUse", prompt("$ARGUMENTS"), vague("0 words say what to decide")],
    ["claude PreToolUse", prompt(`${words(8)} Safe $ARGUMENTS`), vague("\"Safe\" can mean anything")],
    ["claude PreToolUse", prompt(`${words(28)} safe $ARGUMENTS`), vague("\"safe\" can mean anything")],
    ["claude PreToolUse", prompt(`${words(29)} safe $ARGUMENTS`)],
    [
      "claude PermissionRequest",
      prompt(`${words(8)} $ARGUMENTS`),
      "warning never-decides: the answer of a model is ignored at PermissionRequest | Move it to PreToolUse."
    ],
    [
      "claude PermissionDenied",
      prompt(`${words(8)} $ARGUMENTS`),
      "warning never-decides: the answer of a model is ignored at PermissionDenied | Move it to PreToolUse."
    ]
  ])
})

describe("a matcher", () => {
  const nothing = (level: string, what: string, fix: string) => `${level} matcher-nothing: ${what} | ${fix}`
  const everything =
    "hint matcher-everything: it runs before every call of every tool | Name the tools: \"Bash\", \"Edit|Write\"."
  const loose = (text: string, more: string) =>
    `warning matcher-loose: ${JSON.stringify(text)} also matches ${more} | Anchor it: "^(?:${text})$".`
  const source = (one: string) =>
    nothing("warning", `source is never "${one}"`, "Values are startup, resume, clear, compact, fork.")
  const all =
    "Bash, BashOutput, KillShell, Read, Write, Edit, MultiEdit, NotebookEdit, NotebookRead, Glob, Grep, LS, " +
    "WebFetch, WebSearch, Task, Agent, TodoWrite, Skill, SlashCommand, ExitPlanMode, AskUserQuestion"
  check([
    ["claude PreToolUse", { matcher: "." }, loose(".", all)],
    ["claude PreToolUse", {}, everything],
    ["codex PreToolUse", { matcher: "*" }, everything],
    ["claude PreToolUse", { matcher: " " }, everything],
    ["claude PostToolUse", {}],
    ["factory PreToolUse", {}],
    ["claude Stop", {}],
    ["claude Stop", { matcher: "*" }],
    ["claude Stop", { matcher: "Bash" }, "hint matcher-ignored: Stop has no matcher | Remove the matcher."],
    ["claude SessionStart", { matcher: "startup|resume" }],
    ["claude SessionStart", { matcher: "startup, start|x" }, source("start"), source("x")],
    ["claude SessionStart", { matcher: "start.*" }],
    ["claude Notification", { matcher: "bash" }],
    ["claude NoSuchEvent", { matcher: "bash" }],
    ["claude PreToolUse", { matcher: "bash" }, nothing("error", "no tool is called \"bash\"", "Write \"Bash\".")],
    [
      "claude PreToolUse",
      { matcher: "Bash|write, LS" },
      nothing("error", "no tool is called \"write\"", "Write \"Write\".")
    ],
    ["claude PreToolUse", { matcher: "Bash,|MyTool" }],
    [
      "claude PreToolUse",
      { matcher: "mcp__git" },
      nothing("warning", "\"mcp__git\" is the name of a server, not of a tool", "Write \"mcp__git__.*\".")
    ],
    ["claude PreToolUse", { matcher: "mcp__git__log" }],
    ["claude PreToolUse", { matcher: "Edit.*" }, loose("Edit.*", "MultiEdit, NotebookEdit")],
    ["claude PreToolUse", { matcher: "Wr.te|Edit" }, loose("Wr.te|Edit", "MultiEdit, NotebookEdit, TodoWrite")],
    ["claude PreToolUse", { matcher: "^(Write|Edit)$" }],
    ["claude PreToolUse", { matcher: "mcp__.*" }],
    ["claude PreToolUse", { matcher: "(" }],
    ["claude PreToolUse", { matcher: "(?=Edit)." }],
    ["claude PreToolUse", { matcher: "(Edi+t)+" }],
    ["claude PreToolUse", { matcher: `Edit|${".".repeat(196)}` }],
    [
      "claude PreToolUse",
      { matcher: `Edit|${".".repeat(195)}` },
      loose(`Edit|${".".repeat(195)}`, "MultiEdit, NotebookEdit")
    ],
    ["gemini BeforeTool", {}],
    ["gemini SessionStart", { matcher: "Bash" }],
    [
      "gemini BeforeTool",
      { matcher: "Bash|Edit|MultiEdit" },
      nothing(
        "error",
        "no tool of Gemini CLI is called Bash or Edit or MultiEdit",
        "Write \"run_shell_command|replace\"."
      )
    ],
    ["gemini BeforeTool", { matcher: "Bash|replace" }],
    ["gemini BeforeTool", { matcher: "(Bash" }],
    ["cursor preToolUse", {}],
    ["cursor beforeShellExecution", { matcher: "Bash" }],
    [
      "cursor preToolUse",
      { matcher: "Bash|Edit|Agent|Bash" },
      nothing("error", "no tool of Cursor is called Bash or Edit or Agent", "Write \"Shell|Write|Task\".")
    ],
    ...["Shell", "Read", "Write", "Grep", "Glob", "Delete", "Task", "WebFetch", "WebSearch", "MCP:x"].map((
      name
    ): Row => [
      "cursor preToolUse",
      { matcher: `Bash|^${name}$` }
    ]),
    ["cursor preToolUse", { matcher: "MyBash" }],
    ["cursor preToolUse", { matcher: "(Bash" }]
  ])
})

describe("a guard", () => {
  it("is an entry before a prompt, a call or a decision about one", () => {
    const is = (name: string) => isGuard(item("claude", name))
    assert.deepEqual(["PreToolUse", "UserPromptSubmit", "PermissionRequest"].map(is), [true, true, true])
    assert.deepEqual(["PostToolUse", "Stop", "NoSuchEvent"].map(is), [false, false, false])
  })
})
