/** What entries of `PreToolUse` answer, and which of them run. */
import {
  agent,
  type Answer,
  bash,
  type Call,
  ended,
  type Entry,
  type Outcome,
  read,
  refused,
  type Setting,
  setting,
  specific,
  went,
  write
} from "../setting.ts"

const event = "PreToolUse"
const decide = (permissionDecision: string, more: object = {}) =>
  specific(event, { permissionDecision, permissionDecisionReason: "w-reason", ...more })

export const deny = decide("deny")
export const allow = decide("allow")
export const ask = decide("ask")
export const block: Answer = { code: 2, stderr: "w-stderr" }
export const other = { updatedInput: { command: "note two" } }

type Row = readonly [what: string, answer: Answer, expected: Partial<Outcome>]

const two: Partial<Outcome> = { ran: ["note two"], read: ["w-ran-two"] }

/** Each answer. */
const answers: ReadonlyArray<Row> = [
  ["nothing", {}, went()],
  ["a text", { stdout: "w-stdout" }, went()],
  ["a text and code 1", { stdout: "w-stdout", stderr: "w-stderr", code: 1 }, went()],
  ["code 1", { stderr: "w-stderr", code: 1 }, went()],
  ["code 3", { stderr: "w-stderr", code: 3 }, went()],
  ["code 127", { stderr: "w-stderr", code: 127 }, went()],
  ["code 2", block, refused("w-stderr")],
  ["code 2 without a text", { code: 2 }, refused()],
  ["code 2 with a text on standard output", { ...block, stdout: "w-stdout" }, refused("w-stderr")],
  ["code 2 with a text on standard output only", { stdout: "w-stdout", code: 2 }, refused()],
  ["code 2 with allow", { ...block, ...allow }, refused("w-stderr")],
  ["code 2 with deny", { ...block, ...deny }, refused("w-reason")],
  ["code 2 with JSON that is cut off", { ...block, stdout: "{\"decision\":" }, refused("w-stderr")],
  ["code 2 with a field of a wrong type", { ...block, json: { continue: "w" } }, refused("w-stderr")],
  ["code 1 with deny", { ...deny, code: 1 }, refused("w-reason")],
  ["code 1 with allow", { ...allow, code: 1 }, went()],
  ["code 3 with new input", { ...specific(event, other), code: 3 }, two],
  ["deny", deny, refused("w-reason")],
  ["deny without a reason", specific(event, { permissionDecision: "deny" }), refused()],
  ["deny and a text on standard error", { ...deny, stderr: "w-stderr" }, refused("w-reason")],
  ["allow", allow, went()],
  ["ask", ask, refused("w-reason")],
  ["defer", decide("defer"), ended],
  ["a decision that does not exist", decide("never"), went()],
  ["the old block", { json: { decision: "block", reason: "w-reason" } }, refused("w-reason")],
  ["the old approve", { json: { decision: "approve", reason: "w-reason" } }, went()],
  ["new input", specific(event, other), two],
  ["new input and allow", decide("allow", other), two],
  ["new input and deny", decide("deny", other), refused("w-reason")],
  ["new input and ask", decide("ask", other), refused("w-reason")],
  ["context", specific(event, { additionalContext: "w-context" }), went("w-context")],
  ["context and allow", decide("allow", { additionalContext: "w-context" }), went("w-context")],
  ["a message for the user", { json: { systemMessage: "w-message" } }, went()],
  ["suppressed output", { json: { suppressOutput: true } }, went()],
  ["continue", { json: { continue: true } }, went()],
  ["the end of the turn", { json: { continue: false, stopReason: "w-stop" } }, ended],
  ["the end of the turn and allow", { json: { ...Object(allow.json), continue: false, stopReason: "w-stop" } }, ended],
  ["an empty object", { json: {} }, went()],
  ["an unknown field", { json: { w: 1 } }, went()],
  ["JSON that is cut off", { stdout: "{\"decision\":\"block\"" }, went()],
  ["a list", { json: [deny.json] }, went()],
  ["a text before deny", { stdout: `w-log\n${JSON.stringify(deny.json)}` }, went()],
  ["a text after deny", { stdout: `${JSON.stringify(deny.json)}\nw-log` }, went()],
  ["spaces around deny", { stdout: `\n  ${JSON.stringify(deny.json, null, 2)}\n\n` }, refused("w-reason")],
  ["deny of no event", { json: { hookSpecificOutput: { permissionDecision: "deny" } } }, went()],
  ["deny of another event", specific("PostToolUse", { permissionDecision: "deny" }), went()],
  ["deny beside a field of a wrong type", { json: { ...Object(deny.json), continue: "no" } }, went()]
]

const ofAnswers = answers.map(([what, answer, expected]) =>
  setting(`PreToolUse answers: ${what}`, { entries: [{ event, answer }] }, expected)
)

/** How a command fails without an answer. */
const commands: ReadonlyArray<readonly [what: string, more: NonNullable<Entry["more"]>, expected?: Partial<Outcome>]> =
  [
    ["does not exist", { command: "no-such-program" }],
    ["is killed", { command: "kill -9 $$" }],
    ["is killed, but has a net", { command: "sh -c 'kill -9 $$' || exit 2" }, refused()],
    ["takes too long", { command: "sleep 5; exit 2", timeout: 1 }],
    ["is a program with arguments", { command: "sh", args: ["-c", "echo w-stderr >&2; exit 2"] }, refused("w-stderr")],
    ["runs in the background", { command: "exit 2", async: true }],
    ["is empty", { command: "exit 2", type: "no-such-type" }]
  ]
const ofCommands = commands.map(([what, more, expected = went()]) =>
  setting(`a command that ${what}`, { entries: [{ event, more }] }, { ...expected, hooks: [] })
)

/** The matchers that select `Bash`, and those that do not. */
const matchers: ReadonlyArray<readonly [matcher: string, matches: boolean]> = [
  ["", true],
  ["*", true],
  ["Bash", true],
  ["Bash|Write", true],
  ["Write|Bash", true],
  ["Write | Bash", true],
  ["Write,Bash", true],
  ["Write, Bash", true],
  ["Write", false],
  ["Write|Edit", false],
  ["bash", false],
  ["Ba", false],
  ["BashOutput", false],
  ["mcp__mail", false],
  [".*", true],
  ["^Ba", true],
  ["^B.sh$", true],
  ["B.s", true],
  ["Bas.*", true],
  ["ash$", true],
  ["[A-Z]ash", true],
  ["(Bash)", true],
  ["Bash(.*)", true],
  ["^(Write|Edit)$", false],
  ["mcp__.*", false],
  ["^ash", false],
  ["^(?!Bash)", false],
  ["^(?!Write)", true],
  ["(?i)bash", false],
  ["[", false]
]
const ofMatchers = matchers.map(([matcher, matches]) =>
  setting(
    `matcher ${JSON.stringify(matcher)} at a call of Bash`,
    { entries: [{ event, matcher, answer: block }] },
    matches ? refused("w-stderr") : { ...went(), hooks: [] }
  )
)

const edit: Call = { tool: "Edit", input: { file_path: "notes.txt", old_string: "note", new_string: "text" } }

/** What a tool that reads or changes a file does. */
const doneBy = ({ tool }: Call): Partial<Outcome> =>
  tool === "Read"
    ? { ran: [], read: ["w-note"] }
    : { ran: [tool === "Edit" ? "notes.txt" : "new.txt"], read: [] }

const line = (command: string): Call => ({ tool: "Bash", input: { command } })

/** Conditions, and whether the entry runs. */
const conditions: ReadonlyArray<readonly [rule: string, matches: boolean, call?: Call]> = [
  ["Bash", true],
  ["Bash(*)", true],
  ["Bash(note *)", true],
  ["Bash(note:*)", true],
  ["Bash(note one)", true],
  ["Bash(note two)", false],
  ["Bash(not *)", false],
  ["Bash(git *)", false],
  ["Bash(* one)", true],
  ["Write", false],
  ["Write(*)", false],
  ["Read(*.txt)", false],
  ["Bash(note *)", true, line("true && note one")],
  ["Bash(note *)", true, line("true; note one")],
  ["Bash(note one)", true, line("note one | cat")],
  ["Bash(git *)", false, line("true && note one")]
]
const ofConditions = conditions.map(([rule, matches, call = bash()]) => {
  const command = String(call.input["command"])
  return setting(
    `the condition ${rule} at ${command}`,
    { entries: [{ event, more: { if: rule }, answer: block }], steps: [[call]] },
    matches ? refused("w-stderr") : { ...went(), ran: ["note one"], hooks: [] }
  )
})

/** Conditions about files. */
const ofFiles = ([
  ["Read", read(), true],
  ["Read(notes.txt)", read(), true],
  ["Read(*.txt)", read(), true],
  ["Read(**/*.txt)", read(), true],
  ["Read(*.md)", read(), false],
  ["Read(src/**)", read(), false],
  ["Write(new.txt)", write(), true],
  ["Write(*.txt)", write(), true],
  ["Write(*.md)", write(), false],
  ["Write(src/**)", write("src/new.txt"), true],
  ["Edit(*.txt)", write(), false],
  ["Edit(notes.txt)", edit, true],
  ["Edit(*.md)", edit, false]
] as const).map(([rule, call, matches]) =>
  setting(
    `the condition ${rule} at ${call.tool} ${String(call.input["file_path"])}`,
    { entries: [{ event, more: { if: rule }, answer: block }], steps: [[call]] },
    matches ? refused("w-stderr") : { ...doneBy(call), hooks: [] }
  )
)

/** Other tools, with what they do when they run. */
const tools: ReadonlyArray<readonly [call: Call, expected: Partial<Outcome>]> = [
  [edit, doneBy(edit)],
  [write(), { ran: ["new.txt"] }],
  [read(), { ran: [], read: ["w-note"] }],
  [{ tool: "Glob", input: { pattern: "*.txt", path: "." } }, { ran: [], read: [] }],
  [{ tool: "Grep", input: { pattern: "w-note", path: ".", output_mode: "content" } }, { ran: [], read: ["w-note"] }],
  [agent, { ran: [], read: ["w-done"] }]
]
const ofTools = tools.flatMap(([call, runs]) =>
  ([
    ["code 2", block, refused("w-stderr")],
    ["deny", deny, refused("w-reason")],
    ["ask", ask, refused("w-reason")],
    ["allow", allow, runs],
    ["context", specific(event, { additionalContext: "w-context" }), {
      ...runs,
      read: [...runs.read ?? [], "w-context"]
    }]
  ] satisfies ReadonlyArray<Row>).map(([what, answer, expected]) =>
    setting(
      `${what} at a call of ${call.tool}`,
      { entries: [{ event, matcher: call.tool, answer }], steps: [[call]] },
      expected
    )
  )
)

/** What a second entry does beside the first. Both run. */
const pairs: ReadonlyArray<readonly [what: string, answer: Answer]> = [
  ["nothing", {}],
  ["code 1", { code: 1 }],
  ["allow", allow],
  ["ask", ask],
  ["deny", deny],
  ["code 2", block],
  ["context", specific(event, { additionalContext: "w-context" })],
  ["new input", specific(event, other)],
  ["the end of the turn", { json: { continue: false } }]
]

const together = (names: ReadonlyArray<string>): Partial<Outcome> => {
  if (names.includes("the end of the turn")) return ended
  const context = names.includes("context") ? ["w-context"] : []
  const reasons = [...(names.includes("deny") ? ["w-reason"] : []), ...(names.includes("code 2") ? ["w-stderr"] : [])]
  if (reasons.length > 0) return refused(...reasons, ...context)
  if (names.includes("ask")) return refused("w-reason", ...context)
  const word = names.includes("new input") ? "two" : "one"
  return { ran: [`note ${word}`], read: [`w-ran-${word}`, ...context] }
}

const ofPairs = pairs.flatMap(([first, one], index) =>
  pairs.slice(index + 1).map(([second, another]) =>
    setting(
      `two entries: ${first} and ${second}`,
      { entries: [{ event, answer: one }, { event, matcher: "Bash", answer: another }] },
      together([first, second])
    )
  )
)

const ofCalls: ReadonlyArray<Setting> = [
  setting("two calls in one step, one of which is refused", {
    entries: [{ event, matcher: "Write", answer: block }],
    steps: [[bash(), write()]]
  }, went("w-stderr")),
  setting("two calls in one step, and an entry for both", {
    entries: [{ event }],
    steps: [[bash(), read()]]
  }, { ...went("w-note"), hooks: [0, 0] }),
  setting("a call that is refused, and another one", {
    entries: [{ event, more: { if: "Bash(note one)" }, answer: block }],
    steps: [[bash()], [bash("two")]]
  }, { ran: ["note two"], read: ["w-stderr", "w-ran-two"] })
]

export const preToolUse: ReadonlyArray<Setting> = [
  ...ofAnswers,
  ...ofCommands,
  ...ofMatchers,
  ...ofConditions,
  ...ofFiles,
  ...ofTools,
  ...ofPairs,
  ...ofCalls
]
