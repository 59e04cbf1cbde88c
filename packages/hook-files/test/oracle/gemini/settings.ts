/**
 * Settings of Gemini CLI: hooks in the settings of a project, what their commands answer, and what a model does. The
 * program and Belay both run them. `recorded.json` has what the program did.
 */
import { type Answer, type NotedSetting, specific } from "../setting.ts"

interface More {
  readonly matcher?: string
  readonly words?: ReadonlyArray<string>
  /** More fields of the entries, and of their groups. */
  readonly entry?: object
  readonly group?: object
  /** More settings of the file. */
  readonly settings?: object
}

/** Entries of one event. */
const at = (name: string, event: string, answers: ReadonlyArray<Answer>, more: More = {}): NotedSetting => {
  const { entry, group, matcher, settings, words = ["one"] } = more
  return {
    name: `${event}: ${name}`,
    answers,
    words,
    file: (command) => {
      const groups = answers.map((_, index) => ({
        ...(matcher === undefined ? {} : { matcher }),
        ...group,
        hooks: [{ type: "command", command: command(index), ...entry }]
      }))
      return [".gemini/settings.json", JSON.stringify({ hooks: { [event]: groups }, ...settings })]
    }
  }
}

const answersAt = (event: string): ReadonlyArray<readonly [name: string, answer: Answer]> => [
  ["nothing", {}],
  ["text", { stdout: "w-stdout" }],
  ["code 1", { code: 1, stderr: "w-err", stdout: "w-out" }],
  ["code 2", { code: 2, stderr: "w-err" }],
  ["code 2 with a text on standard output", { code: 2, stdout: "w-out" }],
  ["deny", { json: { decision: "deny", reason: "w-reason" } }],
  ["block", { json: { decision: "block", reason: "w-reason" } }],
  ["allow", { json: { decision: "allow", reason: "w-reason" } }],
  ["context", specific(event, { additionalContext: "w-context" })],
  ["context of another event", specific("Notification", { additionalContext: "w-context" })],
  ["the end of the turn", { json: { continue: false, stopReason: "w-stop" } }],
  ["a message", { json: { systemMessage: "w-sys" } }],
  ["a list", { json: [1] }],
  ["broken JSON", { stdout: "{\"decision\": \"deny\"" }]
]

/** A hook that refuses every answer of the agent has no end in the program. */
const isEndless = (event: string, name: string): boolean =>
  event === "AfterAgent" && /^(?:code 2.*|deny|block)$/.test(name)

const events = [
  "SessionStart",
  "BeforeAgent",
  "BeforeToolSelection",
  "BeforeModel",
  "BeforeTool",
  "AfterTool",
  "AfterAgent",
  "SessionEnd"
]

const answered = events.flatMap((event) =>
  answersAt(event).filter(([name]) => !isEndless(event, name)).map(([name, answer]) => at(name, event, [answer]))
)

const before = (fields: object): Answer => specific("BeforeTool", fields)
const after = (fields: object): Answer => specific("AfterTool", fields)

const decided = [
  at("new input", "BeforeTool", [before({ tool_input: { command: "./note two" } })]),
  at("allow with new input", "BeforeTool", [
    { json: { decision: "allow", hookSpecificOutput: { tool_input: { command: "./note two" } } } }
  ]),
  at("deny without a reason", "BeforeTool", [{ json: { decision: "deny" } }]),
  at("a refusal in the specific fields", "BeforeTool", [
    before({ permissionDecision: "deny", permissionDecisionReason: "w-reason" })
  ]),
  at("a second call", "AfterTool", [
    after({ tailToolCallRequest: { name: "run_shell_command", args: { command: "./note two" } } })
  ], { matcher: "^never$" }),
  at("a command that fails", "AfterTool", [{}], { words: ["fail"] }),
  at("a command that fails, and a refusal", "AfterTool", [{ json: { decision: "deny", reason: "w-reason" } }], {
    words: ["fail"]
  })
]

const matched = [
  ..."run_shell_command|run_shell|shell$|^run_|read_file|.*|*||RUN_SHELL_COMMAND|[".split("|").map((matcher) =>
    at(`matcher ${JSON.stringify(matcher)}`, "BeforeTool", [{ code: 2, stderr: "w-err" }], { matcher })
  ),
  ...["read_file|run_shell_command", "run_shell_command,read_file", "Bash", "(?i)RUN_.*", "^(?!read)"].map((matcher) =>
    at(`matcher ${JSON.stringify(matcher)}`, "BeforeTool", [{ code: 2, stderr: "w-err" }], { matcher })
  ),
  ...["startup", "resume", "startup|resume", "*"].map((matcher) =>
    at(`matcher ${JSON.stringify(matcher)}`, "SessionStart", [specific("SessionStart", { additionalContext: "w-x" })], {
      matcher
    })
  ),
  at("matcher \"x\"", "BeforeAgent", [specific("BeforeAgent", { additionalContext: "w-x" })], { matcher: "x" })
]

const two = (first: Answer, second: Answer) => [first, second]
const several = [
  at("two that refuse", "BeforeTool", two({ code: 2, stderr: "w-one" }, { code: 2, stderr: "w-two" })),
  at(
    "two that refuse with reasons",
    "BeforeTool",
    two({ json: { decision: "deny", reason: "w-one" } }, { json: { decision: "deny", reason: "w-two" } })
  ),
  at(
    "one that allows and one that refuses",
    "BeforeTool",
    two({ json: { decision: "allow" } }, { code: 2, stderr: "w-two" })
  ),
  at(
    "one that fails and one that refuses",
    "BeforeTool",
    two({ code: 1, stderr: "w-one" }, { code: 2, stderr: "w-two" })
  ),
  at(
    "two with context",
    "AfterTool",
    two(after({ additionalContext: "w-one" }), after({ additionalContext: "w-two" }))
  ),
  at(
    "two with context",
    "BeforeAgent",
    two(
      specific("BeforeAgent", { additionalContext: "w-one" }),
      specific("BeforeAgent", { additionalContext: "w-two" })
    )
  ),
  at(
    "two with new input",
    "BeforeTool",
    two(before({ tool_input: { command: "./note two" } }), before({ tool_input: { command: "./note three" } }))
  )
]

const refuses: Answer = { code: 2, stderr: "w-err" }
const files = [
  at("a name and a description", "BeforeTool", [refuses], { entry: { name: "guard", description: "guards" } }),
  at("a timeout of 0", "BeforeTool", [refuses], { entry: { timeout: 0 } }),
  at("sequential", "BeforeTool", [refuses, {}], { group: { sequential: true } }),
  at("hooks that are disabled", "BeforeTool", [refuses], { settings: { hooksConfig: { enabled: false } } }),
  at("an entry that is disabled by its name", "BeforeTool", [refuses], {
    entry: { name: "guard" },
    settings: { hooksConfig: { disabled: ["guard"] } }
  }),
  at("an unknown event", "BeforeEverything", [refuses]),
  at("an event of Claude Code", "PreToolUse", [refuses])
]

export const geminiSettings: ReadonlyArray<NotedSetting> = [...answered, ...decided, ...matched, ...several, ...files]
