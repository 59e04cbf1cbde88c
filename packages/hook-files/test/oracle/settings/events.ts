/** What entries of the other events answer. */
import {
  agent,
  type Answer,
  bash,
  type Outcome,
  type Parts,
  read,
  type Setting,
  setting,
  specific,
  went
} from "../setting.ts"

type Row = readonly [what: string, answer: Answer, expected?: Partial<Outcome>, more?: Parts]

const text: Answer = { stdout: "w-stdout" }
const broken: Answer = { stderr: "w-stderr", code: 1 }
const block: Answer = { stderr: "w-stderr", code: 2 }
const decision: Answer = { json: { decision: "block", reason: "w-reason" } }
const message: Answer = { json: { systemMessage: "w-message" } }
const stop: Answer = { json: { continue: false, stopReason: "w-stop" } }
const context = (event: string) => specific(event, { additionalContext: "w-context" })

/** Settings with one entry. `usual` is what happens if it changes nothing. */
const of = (
  event: string,
  usual: Partial<Outcome>,
  rows: ReadonlyArray<Row>,
  parts: Parts = {}
): ReadonlyArray<Setting> =>
  rows.map(([what, answer, expected = {}, more = {}]) =>
    setting(`${event} answers: ${what}`, { entries: [{ event, answer }], ...parts, ...more }, { ...usual, ...expected })
  )

/** Settings with one entry that answers code 1, and whether it runs with this matcher. */
const matched = (
  event: string,
  usual: Partial<Outcome>,
  matchers: ReadonlyArray<readonly [matcher: string, matches: boolean]>,
  parts: Parts = {}
): ReadonlyArray<Setting> =>
  matchers.map(([matcher, matches]) =>
    setting(
      `matcher ${JSON.stringify(matcher)} of ${event}`,
      { entries: [{ event, matcher, answer: broken }], ...parts },
      matches ? usual : { ...usual, hooks: [] }
    )
  )

const afterTool: ReadonlyArray<Setting> = [
  ...of("PostToolUse", went(), [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2", block, went("w-stderr")],
    ["code 2 and a text", { ...block, ...text }, went("w-stderr")],
    ["block", decision, went("w-reason")],
    ["block and code 1", { ...decision, code: 1 }, went("w-reason")],
    ["block and code 2", { ...decision, ...block }, went("w-reason")],
    ["context", context("PostToolUse"), went("w-context")],
    ["context of another event", context("PreToolUse"), went()],
    [
      "block and context",
      { json: { ...Object(decision.json), ...Object(context("PostToolUse").json) } },
      went("w-context", "w-reason")
    ],
    [
      "a new result",
      specific("PostToolUse", {
        updatedToolOutput: { stdout: "w-new", stderr: "", interrupted: false, isImage: false }
      }),
      { read: ["w-new"] }
    ],
    ["a new result of a server", specific("PostToolUse", { updatedMCPToolOutput: "w-new" })],
    ["a message for the user", message],
    ["the end of the turn", stop, { read: [], requests: 1 }],
    ["deny", specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "w-reason" })]
  ]),
  ...matched("PostToolUse", went(), [["Bash", true], ["Write", false], ["Ba.*", true], ["*", true]]),
  ...of("PostToolUseFailure", { ran: [] }, [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2", block, { read: ["w-stderr"] }],
    ["block", decision, { read: ["w-reason"] }],
    ["context", context("PostToolUseFailure"), { read: ["w-context"] }],
    ["the end of the turn", stop, { requests: 1 }]
  ], { steps: [[read("missing.txt")]] }),
  ...matched("PostToolUseFailure", { ran: [] }, [["Read", true], ["Bash", false]], { steps: [[read("missing.txt")]] }),
  setting(
    "a command that fails, and entries of PostToolUse and PostToolUseFailure",
    { entries: [{ event: "PostToolUse" }, { event: "PostToolUseFailure" }], steps: [[bash("fail")]] },
    { hooks: [1], ran: ["note fail"], read: ["w-failed"] }
  ),
  setting(
    "a result, and entries of PostToolUse and PostToolUseFailure",
    { entries: [{ event: "PostToolUse" }, { event: "PostToolUseFailure" }] },
    { ...went(), hooks: [0] }
  ),
  setting(
    "a refused call, and an entry of PostToolUse",
    { entries: [{ event: "PreToolUse", answer: block }, { event: "PostToolUse" }, { event: "PostToolUseFailure" }] },
    { hooks: [0], ran: [], read: ["w-stderr"] }
  ),
  setting("a new result of Read that is a text", {
    entries: [{ event: "PostToolUse", answer: specific("PostToolUse", { updatedToolOutput: "w-new" }) }],
    steps: [[read()]]
  }, { ran: [], read: ["w-note"] }),
  ...of("PostToolBatch", went(), [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2", block, { read: [], requests: 1 }],
    ["block", decision, { read: [], requests: 1 }],
    ["context", context("PostToolBatch"), went("w-context")],
    ["the end of the turn", stop, { read: [], requests: 1 }]
  ]),
  ...matched("PostToolBatch", went(), [["Write", true]]),
  setting("two calls in one step, and an entry of PostToolBatch", {
    entries: [{ event: "PostToolBatch" }, { event: "PostToolUse" }],
    steps: [[bash(), read()]]
  }, { ...went("w-note"), hooks: [0, 1, 1] })
]

const nothing: Partial<Outcome> = { ran: [], read: [], requests: 0 }

const prompts: ReadonlyArray<Setting> = [
  ...of("UserPromptSubmit", went(), [
    ["nothing", {}],
    ["a text", text, went("w-stdout")],
    ["a text and code 1", { ...text, code: 1 }],
    ["code 1", broken],
    ["code 2", block, nothing],
    ["code 2 and a text", { ...block, ...text }, nothing],
    ["block", decision, nothing],
    ["block and code 1", { ...decision, code: 1 }, nothing],
    ["context", context("UserPromptSubmit"), went("w-context")],
    ["context of another event", context("Stop")],
    ["a message for the user", message],
    ["the end of the turn", stop, nothing],
    ["JSON that is cut off", { stdout: "{\"decision\":\"block\"" }]
  ]),
  ...matched("UserPromptSubmit", went(), [["never", true]]),
  ...of("SessionStart", went(), [
    ["nothing", {}],
    ["a text", text, went("w-stdout")],
    ["a text and code 1", { ...text, code: 1 }],
    ["code 1", broken],
    ["code 2", block],
    ["block", decision],
    ["context", context("SessionStart"), went("w-context")],
    ["a message for the user", message]
  ]),
  ...matched("SessionStart", went(), [
    ["startup", true],
    ["resume", false],
    ["startup|resume", true],
    ["clear,startup", true],
    ["clear", false],
    ["start.*", true]
  ]),
  ...of("SessionEnd", went(), [
    ["nothing", {}],
    ["a text", text],
    ["code 2", block],
    ["block", decision],
    ["the end of the turn", stop]
  ]),
  ...matched("SessionEnd", went(), [["other", true], ["clear", false]])
]

/** A command that blocks, unless it was the reason why the agent continues. */
const once = (how: string) => ({ command: `grep -q '"stop_hook_active":true' || { ${how}; }` })
const nine = Array.from({ length: 9 }, () => 0)

const stops: ReadonlyArray<Setting> = [
  ...of("Stop", went(), [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2, always", block, { ...went("w-stderr"), hooks: nine, requests: 10 }],
    ["block, always", decision, { ...went("w-reason"), hooks: nine, requests: 10 }],
    ["context, always", context("Stop"), { ...went("w-context"), hooks: nine, requests: 10 }],
    ["a message for the user", message],
    ["the end of the turn", stop],
    ["the end of the turn and block", { json: { ...Object(decision.json), ...Object(stop.json) } }]
  ]),
  ...matched("Stop", went(), [["never", true]]),
  setting(
    "Stop blocks once with code 2",
    { entries: [{ event: "Stop", more: once("echo w-stderr >&2; exit 2") }] },
    { ...went("w-stderr"), hooks: [], requests: 3 }
  ),
  setting(
    "Stop blocks once with JSON",
    { entries: [{ event: "Stop", more: once(`echo '${JSON.stringify(decision.json)}'`) }] },
    { ...went("w-reason"), hooks: [], requests: 3 }
  ),
  setting(
    "a condition at Stop",
    { entries: [{ event: "Stop", more: { if: "Bash(note *)" }, answer: block }] },
    { ...went(), hooks: [] }
  )
]

/** The lead agent starts a sub-agent. */
const withAgent: Parts = { steps: [[agent]] }
const usual: Partial<Outcome> = { ran: [], read: ["w-done"] }
const running: Parts = { ...withAgent, child: [[bash()]] }
const inChild = (...words: ReadonlyArray<string>): Partial<Outcome> => ({
  read: ["w-done"],
  child: ["w-ran-one", ...words]
})

const subAgents: ReadonlyArray<Setting> = [
  ...of("SubagentStart", usual, [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2", block],
    ["context", context("SubagentStart"), { child: ["w-context"] }]
  ], withAgent),
  ...matched("SubagentStart", usual, [["general-purpose", true], ["Explore", false], ["general.*", true]], withAgent),
  ...of("SubagentStop", usual, [
    ["nothing", {}],
    ["a text", text],
    ["code 1", broken],
    ["code 2, always", block, { hooks: nine, child: ["w-stderr"] }],
    ["block, always", decision, { hooks: nine, child: ["w-reason"] }]
  ], withAgent),
  ...matched("SubagentStop", usual, [["general-purpose", true], ["Explore", false]], withAgent),
  setting(
    "Stop in a session with a sub-agent",
    { entries: [{ event: "Stop" }, { event: "UserPromptSubmit" }, { event: "SessionStart" }], ...withAgent },
    usual
  ),
  ...([
    ["nothing", {}, inChild()],
    ["code 1", broken, inChild()],
    ["code 2", block, { ran: [], read: ["w-done"], child: ["w-stderr"] }],
    ["deny", specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "w-reason" }), {
      ran: [],
      read: ["w-done"],
      child: ["w-reason"]
    }],
    ["allow", specific("PreToolUse", { permissionDecision: "allow" }), inChild()],
    ["ask", specific("PreToolUse", { permissionDecision: "ask" }), { ran: [], read: ["w-done"], child: [] }],
    ["context", context("PreToolUse"), inChild("w-context")],
    ["new input", specific("PreToolUse", { updatedInput: { command: "note two" } }), {
      ran: ["note two"],
      read: ["w-done"],
      child: ["w-ran-two"]
    }]
  ] satisfies ReadonlyArray<Row>).map(([what, answer, expected]) =>
    setting(
      `PreToolUse in a sub-agent: ${what}`,
      { entries: [{ event: "PreToolUse", matcher: "Bash", answer }], ...running },
      expected
    )
  ),
  setting(
    "PreToolUse without a matcher sees the call of the agent and its calls",
    { entries: [{ event: "PreToolUse" }], ...running },
    { ...inChild(), hooks: [0, 0] }
  ),
  setting(
    "the matcher Task at a call of Agent",
    { entries: [{ event: "PreToolUse", matcher: "Task", answer: block }], ...running },
    { ran: [], read: ["w-stderr"], child: [] }
  ),
  setting(
    "PostToolUse in a sub-agent: code 2",
    { entries: [{ event: "PostToolUse", matcher: "Bash", answer: block }], ...running },
    inChild("w-stderr")
  ),
  setting(
    "PostToolUse of a sub-agent's call: block",
    { entries: [{ event: "PostToolUse", matcher: "Agent", answer: decision }], ...running },
    { read: ["w-done", "w-reason"], child: ["w-ran-one"] }
  )
]

const files: ReadonlyArray<Setting> = [
  setting("the settings of the user block", {
    entries: [{ event: "PreToolUse", file: "user", answer: block }]
  }, { ran: [], read: ["w-stderr"] }),
  setting("the local settings block", {
    entries: [{ event: "PreToolUse", file: "local", answer: block }]
  }, { ran: [], read: ["w-stderr"] }),
  setting("entries of three files", {
    entries: [{ event: "PreToolUse" }, { event: "PreToolUse", file: "local" }, {
      event: "PreToolUse",
      file: "user",
      answer: context("PreToolUse")
    }]
  }, went("w-context"))
]

export const events: ReadonlyArray<Setting> = [...afterTool, ...prompts, ...stops, ...subAgents, ...files]
