/**
 * Settings of Codex: files with hooks, what their commands answer, and what a model does. The program and Belay both run
 * them. `recorded.json` has what the program did.
 */
import { type Answer, type NotedSetting, specific } from "../setting.ts"

const json = (content: unknown): readonly [string, string] => [
  ".codex/hooks.json",
  typeof content === "string" ? content : JSON.stringify(content)
]

/** Entries of one event. */
const at = (
  name: string,
  event: string,
  answers: ReadonlyArray<Answer>,
  { matcher, words = ["one"] }: { readonly matcher?: string; readonly words?: ReadonlyArray<string> } = {}
): NotedSetting => ({
  name: `${event}: ${name}`,
  answers,
  words,
  file: (command) =>
    json({
      hooks: {
        [event]: answers.map((_, index) => ({
          ...(matcher === undefined ? {} : { matcher }),
          hooks: [{ type: "command", command: command(index) }]
        }))
      }
    })
})

const block: Answer = { code: 2, stderr: "w-err" }

const answersAt = (event: string): ReadonlyArray<readonly [name: string, answer: Answer]> => [
  ["nothing", {}],
  ["text", { stdout: "w-stdout" }],
  ["code 1", { code: 1, stderr: "w-err", stdout: "w-out" }],
  ["code 2", block],
  ["code 2 without a text", { code: 2 }],
  ["code 2 with a text on standard output", { code: 2, stdout: "w-out" }],
  ["block", { json: { decision: "block", reason: "w-reason" } }],
  ["block without a reason", { json: { decision: "block" } }],
  ["context", specific(event, { additionalContext: "w-context" })],
  ["the end of the turn", { json: { continue: false, stopReason: "w-stop" } }],
  ["a message", { json: { systemMessage: "w-sys" } }],
  ["an unknown key", { json: { decision: "block", reason: "w-reason", more: 1 } }],
  ["context of another event", specific("Notification", { additionalContext: "w-context" })],
  ["context without an event", { json: { additionalContext: "w-context" } }],
  ["approve", { json: { decision: "approve" } }],
  ["a list", { json: [1] }],
  ["broken JSON", { stdout: "{\"decision\": \"block\"" }]
]

/** A hook that blocks `Stop` in the program has no end. */
const isEndless = (event: string, name: string): boolean => event === "Stop" && /^(?:code 2|block)$/.test(name)

const answered = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"].flatMap(
  (event) =>
    answersAt(event).filter(([name]) => !isEndless(event, name)).map(([name, answer]) => at(name, event, [answer]))
)

const before = (fields: object): Answer => specific("PreToolUse", fields)
const decided = Object.entries<Answer>({
  deny: before({ permissionDecision: "deny", permissionDecisionReason: "w-reason" }),
  "deny without a reason": before({ permissionDecision: "deny" }),
  ask: before({ permissionDecision: "ask", permissionDecisionReason: "w-reason" }),
  allow: before({ permissionDecision: "allow" }),
  "allow with new input": before({ permissionDecision: "allow", updatedInput: { command: "./note two" } }),
  "new input": before({ updatedInput: { command: "./note two" } }),
  "deny and context": before({
    permissionDecision: "deny",
    permissionDecisionReason: "w-reason",
    additionalContext: "w-context"
  })
}).map(([name, answer]) => at(name, "PreToolUse", [answer]))

const matchers = (event: string, ...all: ReadonlyArray<string>): ReadonlyArray<NotedSetting> =>
  all.map((matcher) => at(`matcher ${JSON.stringify(matcher)}`, event, [{ stdout: "w-stdout" }], { matcher }))

const matched = [
  ...matchers("PreToolUse", "Bash", "bash", "exec_command", "Bash|Edit", "*", "", "^Bash$", "B.*", "Bas", "(?i)bash"),
  ...matchers("PreToolUse", "Write|Edit", ".*", "Bash, Edit", "[", "^(?!Edit)", "Bash(./note *)"),
  ...matchers("SessionStart", "startup", "resume", "startup|resume", "clear"),
  ...matchers("UserPromptSubmit", "x"),
  ...matchers("Stop", "x")
]

const several = [
  at("two that refuse", "PostToolUse", [{ code: 2, stderr: "w-one" }, { code: 2, stderr: "w-two" }]),
  at("one that refuses, and context", "PreToolUse", [
    { code: 2, stderr: "w-one" },
    before({ additionalContext: "w-two" })
  ]),
  at("two that refuse", "PreToolUse", [{ code: 2, stderr: "w-one" }, { code: 2, stderr: "w-two" }]),
  at("two with context", "SessionStart", [{ stdout: "w-one" }, { stdout: "w-two" }]),
  at("a command that fails", "PostToolUse", [{}], { words: ["fail"] }),
  at("a command that fails, and a block", "PostToolUse", [{ json: { decision: "block", reason: "w-reason" } }], {
    words: ["fail"]
  })
]

/** Files with one hook that refuses, in many spellings. */
const file = (name: string, of: (command: string) => readonly [string, string]): NotedSetting => ({
  name: `file: ${name}`,
  answers: [block],
  words: ["one"],
  file: (command) => of(command(0))
})

const group = (more: object, own: object = {}) => (command: string) =>
  json({ hooks: { PreToolUse: [{ ...own, hooks: [{ type: "command", command, ...more }] }] } })

const toml = (text: (command: string) => string) => (command: string): readonly [string, string] => [
  ".codex/config.toml",
  text(JSON.stringify(command))
]

const files = [
  file(
    "tables",
    toml((command) =>
      `[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = ${command}\n`
    )
  ),
  file(
    "an inline table",
    toml((command) => `[hooks]\nPreToolUse = [{ hooks = [{ type = "command", command = ${command} }] }]\n`)
  ),
  file(
    "an event in snake case",
    toml((command) => `[[hooks.pre_tool_use]]\n[[hooks.pre_tool_use.hooks]]\ntype = "command"\ncommand = ${command}\n`)
  ),
  file("a status message", group({ statusMessage: "checking", timeout: 10 })),
  file("a timeout of 0", group({ timeout: 0 })),
  file("a timeout that is a text", group({ timeout: "10" })),
  file("timeoutSec", group({ timeoutSec: 5 })),
  file("async", group({ async: true })),
  file("if", group({ if: "Bash(git *)" })),
  file("args", group({ args: [] })),
  file("an unknown key of an entry", group({ more: 1 })),
  file("an unknown key of a group", group({}, { more: 1 })),
  file("a matcher that is null", group({}, { matcher: null })),
  file("a matcher that is a list", group({}, { matcher: ["Bash"] })),
  file("no type", (command) => json({ hooks: { PreToolUse: [{ hooks: [{ command }] }] } })),
  file("an entry without a group", (command) => json({ hooks: { PreToolUse: [{ matcher: "Bash", command }] } })),
  file("no list", (command) => json({ hooks: { PreToolUse: { hooks: [{ type: "command", command }] } } })),
  file("no key hooks", (command) => json({ PreToolUse: [{ hooks: [{ type: "command", command }] }] })),
  file(
    "an event in camel case",
    (command) => json({ hooks: { preToolUse: [{ hooks: [{ type: "command", command }] }] } })
  ),
  ...["version", "description", "$schema", "disableAllHooks"].map((key) =>
    file(`the key ${key}`, (command) =>
      json({
        [key]: { version: 1, disableAllHooks: true }[key] ?? "x",
        hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] }
      }))
  ),
  file(
    "an unknown event",
    (command) => json({ hooks: { Unknown: [], PreToolUse: [{ hooks: [{ type: "command", command }] }] } })
  ),
  file(
    "an entry of type prompt",
    (command) =>
      json({ hooks: { PreToolUse: [{ hooks: [{ type: "prompt", prompt: "x" }, { type: "command", command }] }] } })
  ),
  file("an entry of type http", (command) =>
    json({
      hooks: { PreToolUse: [{ hooks: [{ type: "http", url: "http://127.0.0.1:1" }, { type: "command", command }] }] }
    })),
  file("an empty command", (command) =>
    json({
      hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "" }, { type: "command", command }] }] }
    })),
  file("twins", (command) =>
    json({
      hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }, { hooks: [{ type: "command", command }] }] }
    })),
  file("a comment", (command) => json(`// x\n${group({})(command)[1]}`))
]

export const codexSettings: ReadonlyArray<NotedSetting> = [...answered, ...decided, ...matched, ...several, ...files]
