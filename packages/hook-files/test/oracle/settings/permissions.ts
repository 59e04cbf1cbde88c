/** Rules of `permissions`, and entries of `PermissionRequest`. */
import {
  agent,
  type Answer,
  bash,
  type Call,
  type Outcome,
  read,
  refused,
  type Setting,
  setting,
  specific,
  went,
  write
} from "../setting.ts"
import { allow, ask, block, deny, other } from "./preToolUse.ts"

const event = "PreToolUse"
const line = (command: string): Call => ({ tool: "Bash", input: { command } })
const written: Partial<Outcome> = { ran: ["new.txt"] }
const seen: Partial<Outcome> = { ran: [], read: ["w-note"] }

/** A rule, a call, and what happens if the rule does not match it. Without that, it matches. */
const rules: ReadonlyArray<readonly [rule: string, call: Call, runs?: Partial<Outcome>]> = [
  ["Bash", bash()],
  ["Bash(*)", bash()],
  ["Bash(note one)", bash()],
  ["Bash(note *)", bash()],
  ["Bash(note:*)", bash()],
  ["Bash(* one)", bash()],
  ["Bash(note two)", bash(), went()],
  ["Bash(git *)", bash(), went()],
  ["Bash(not)", bash(), went()],
  ["Bash(note *)", line("true && note one")],
  ["Bash(note *)", line("true; note one")],
  ["Bash(note *)", line("true | note one")],
  ["Bash(git *)", line("true && note one"), went()],
  ["Read", read()],
  ["Read(notes.txt)", read()],
  ["Read(./notes.txt)", read()],
  ["Read(*.txt)", read()],
  ["Read(**/*.txt)", read()],
  ["Read(other/**)", read(), seen],
  ["Read(*.md)", read(), seen],
  ["Edit", write()],
  ["Edit(new.txt)", write()],
  ["Edit(*.txt)", write()],
  ["Edit(src/**)", write(), written],
  ["Read(new.md)", write(), written],
  ["Agent(general-purpose)", agent],
  ["Agent(Explore)", agent, { ran: [], read: ["w-done"] }],
  ["WebFetch(domain:example.org)", bash(), went()],
  ["mcp__mail", bash(), went()]
]

const ofRules = (["deny", "ask"] as const).flatMap((list) =>
  rules.map(([rule, call, runs = refused()]) =>
    setting(
      `${list} ${rule} at ${call.tool}: ${Object.values(call.input).join(", ")}`,
      { permissions: { [list]: [rule] }, steps: [[call]] },
      runs
    )
  )
)

/** Rules with a path, and commands. The first ones name the file, so rules that deny stop them. */
const files: ReadonlyArray<readonly [rule: string, command: string, isStopped?: boolean]> = [
  ["Read(notes.txt)", "cat notes.txt > /dev/null && note one"],
  ["Read(/notes.txt)", "head notes.txt > /dev/null; note one"],
  ["Read(notes.txt)", "cp notes.txt /dev/null; note one"],
  ["Read(notes.txt)", "grep -c text notes.txt; note one"],
  ["Read(notes.txt)", "awk 1 notes.txt > /dev/null; note one"],
  ["Read(notes.txt)", "note one < notes.txt"],
  ["Edit(notes.txt)", "note one; true >> notes.txt"],
  ["Edit(notes.txt)", "note one; true | tee -a notes.txt"],
  ["Edit(notes.txt)", "sed -i s/w/w/ notes.txt; note one"],
  ["Read(notes.txt)", "note one", false],
  ["Read(other/**)", "cat notes.txt > /dev/null; note one", false],
  ["Read(./*.txt)", "cat *.txt > /dev/null; note one", false]
]

const ofFiles = files.flatMap(([rule, command, isStopped = true]) =>
  (["deny", "ask"] as const).map((list) =>
    setting(
      `${list} ${rule} at the command ${command}`,
      { permissions: { [list]: [rule] }, steps: [[line(command)]] },
      list === "deny" && isStopped ? refused() : went()
    )
  )
)

const request = (decision: object) => specific("PermissionRequest", { decision })

/** Answers to a question that nobody is there to answer. */
const answers: ReadonlyArray<readonly [what: string, answer: Answer, expected?: Partial<Outcome>]> = [
  ["nothing", {}],
  ["a text", { stdout: "w-stdout" }],
  ["code 1", { stderr: "w-stderr", code: 1 }],
  ["code 2", block],
  ["allow", request({ behavior: "allow" }), went()],
  ["allow and code 1", { ...request({ behavior: "allow" }), code: 1 }, went()],
  ["allow and new input", request({ behavior: "allow", ...other }), { ran: ["note two"], read: ["w-ran-two"] }],
  ["deny", request({ behavior: "deny", message: "w-message" }), refused("w-message")],
  ["deny without a message", request({ behavior: "deny" })],
  ["deny and the end of the turn", request({ behavior: "deny", message: "w-message", interrupt: true }), {
    ran: [],
    requests: 1
  }],
  ["a message for the user", { json: { systemMessage: "w-message" } }]
]
const ofRequests = answers.map(([what, answer, expected = refused()]) =>
  setting(
    `PermissionRequest answers: ${what}`,
    { entries: [{ event: "PermissionRequest", answer }], isAllowed: false },
    expected
  )
)

const together: ReadonlyArray<Setting> = [
  setting("nothing is allowed, and nobody is there", { isAllowed: false }, refused()),
  setting("a call that needs no permission", { isAllowed: false, steps: [[read()]] }, seen),
  setting("allow Bash(note *)", { isAllowed: false, permissions: { allow: ["Bash(note *)"] } }, went()),
  setting("allow Bash(git *)", { isAllowed: false, permissions: { allow: ["Bash(git *)"] } }, refused()),
  setting("allow and deny", { permissions: { allow: ["Bash"], deny: ["Bash(note *)"] } }, refused()),
  setting("allow and ask", { permissions: { allow: ["Bash"], ask: ["Bash(note *)"] } }, refused()),
  setting("allow of a hook, without a rule", { entries: [{ event, answer: allow }], isAllowed: false }, went()),
  setting("ask of a hook, without a rule", { entries: [{ event, answer: ask }], isAllowed: false }, refused()),
  setting("nothing of a hook, without a rule", { entries: [{ event }], isAllowed: false }, refused()),
  setting("a hook sees a call that a rule denies", {
    entries: [{ event }],
    permissions: { deny: ["Bash(note *)"] }
  }, refused()),
  setting("allow of a hook, and a rule that denies", {
    entries: [{ event, answer: allow }],
    permissions: { deny: ["Bash(note *)"] }
  }, refused()),
  setting("allow of a hook, and a rule that asks", {
    entries: [{ event, answer: allow }],
    permissions: { ask: ["Bash(note *)"] }
  }, refused()),
  setting("deny of a hook, and a rule that denies", {
    entries: [{ event, answer: deny }],
    permissions: { deny: ["Bash(note *)"] }
  }, refused("w-reason")),
  setting("deny of a hook, and a rule that asks", {
    entries: [{ event, answer: deny }],
    permissions: { ask: ["Bash(note *)"] }
  }, refused("w-reason")),
  setting("new input that a rule denies", {
    entries: [{ event, answer: specific(event, other) }],
    permissions: { deny: ["Bash(note two)"] }
  }, refused()),
  setting("new input that a rule asks about", {
    entries: [{ event, answer: specific(event, other) }],
    permissions: { ask: ["Bash(note two)"] }
  }, refused()),
  setting("PermissionRequest, and everything is allowed", { entries: [{ event: "PermissionRequest", answer: deny }] }, {
    ...went(),
    hooks: []
  }),
  setting("PermissionRequest with another matcher", {
    entries: [{ event: "PermissionRequest", matcher: "Write", answer: request({ behavior: "allow" }) }],
    isAllowed: false
  }, { ...refused(), hooks: [] }),
  setting("PreToolUse allows, so PermissionRequest does not run", {
    entries: [{ event, answer: allow }, { event: "PermissionRequest" }],
    isAllowed: false
  }, { ...went(), hooks: [0] }),
  setting("PreToolUse asks, and PermissionRequest allows", {
    entries: [{ event, answer: ask }, { event: "PermissionRequest", answer: request({ behavior: "allow" }) }]
  }, went()),
  setting("PreToolUse denies, so PermissionRequest does not run", {
    entries: [{ event, answer: deny }, { event: "PermissionRequest", answer: request({ behavior: "allow" }) }],
    isAllowed: false
  }, { ...refused("w-reason"), hooks: [0] }),
  setting("a rule asks, so PermissionRequest runs", {
    entries: [{ event: "PermissionRequest", answer: request({ behavior: "deny", message: "w-message" }) }],
    permissions: { ask: ["Bash(note *)"] }
  }, refused("w-message")),
  setting("a rule denies, so PermissionRequest does not run", {
    entries: [{ event: "PermissionRequest", answer: request({ behavior: "allow" }) }],
    permissions: { deny: ["Bash(note *)"] }
  }, { ...refused(), hooks: [] })
]

export const permissions: ReadonlyArray<Setting> = [...ofRules, ...ofFiles, ...ofRequests, ...together]
