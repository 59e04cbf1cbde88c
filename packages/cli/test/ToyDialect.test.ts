import type { HookMethod } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { JsonObject } from "@belay/core/Json"
import type { Answer, Dialect, Entry } from "@belay/hook-files/Dialect"
import * as Engine from "@belay/hook-files/Engine"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { entriesOf, type System } from "@belay/hook-files/Systems"
import { dryRun } from "@belay/testing/TestHook"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { runHere, world } from "./belay.ts"

// toy: begin
/** Refuses if there is a reason. */
type ToyAnswer = Answer & { readonly no?: string }

const silent: ToyAnswer = { outcome: "success", messages: [], problems: [] }

/** A file of lines such as `before bash: ./guard.sh`. An entry that ends with 9 refuses with its output. */
const toy: Dialect<Entry, JsonObject, ToyAnswer, ReadonlyArray<string>> = {
  name: "toy",
  matches: ({ name }, [tool]) => name === "*" || name === tool,
  concurrency: () => 8,
  request: (_entry, input, { cwd }) => ({ input, cwd, timeoutMs: 2_000 }),
  decode: (ending) => {
    if (ending.type !== "finished" || ending.finished.exitCode === 0) return silent
    const { exitCode, stdout, timedOut } = ending.finished
    if (exitCode === 9) return { ...silent, outcome: "blocking", no: stdout.trim() }
    return { ...silent, outcome: "cancelled", problem: timedOut ? "took too long" : `ended with ${exitCode}` }
  },
  silent,
  ask: (reason) => ({ no: reason }),
  merge: (answers) => answers.flatMap(({ no }) => no ?? [])
}

const before = {
  name: "before",
  occasion: "tool-call",
  when: "A tool is about to run.",
  may: "refuse the call"
} as const
const example = { example: () => "before *: ./guard.sh", script: () => "#!/bin/bash\nexit 9\n" }

const system: System = {
  dialect: "toy",
  folders: [".toy"],
  places: ({ cwd }) => [{ scope: "project", path: join(cwd, "toy.hooks") }],
  decode: ({ path: file, text }) => {
    const lines = text.trim().split("\n").map((line) => /^(\w+) (\S+): (.+)$/.exec(line) ?? [])
    const handlers = lines.flatMap(([, event, name = "", command = ""], index): ReadonlyArray<Entry> =>
      event === undefined ? [] : [{ event, name, file, key: `line ${index + 1}`, work: { type: "command", command } }]
    )
    const warnings = [{ file, key: "", reason: "has lines that are no entries" }]
    return { handlers, warnings: handlers.length === lines.length ? [] : warnings, disableAllHooks: false }
  },
  about: ({ text }) => text,
  hooks: (sources, { refuse, runners }) => {
    const entries = entriesOf<Entry>(sources)
    const { fire, has } = Engine.make(toy, { name: "toy", entries: () => entries, runners, refuse })
    const run: HookMethod<"preToolCall"> = ({ name: tool }, ctx) =>
      Engine.onVerdict(
        fire({ event: "before", subjects: [tool], input: { tool } }, ctx),
        (reasons) => reasons.length === 0 ? undefined : HookAction.reject(reasons.join("; "))
      )
    return [{ name: "toy", timeout: "none", ...Engine.methodsOf({ preToolCall: { events: ["before"], run } }, has) }]
  },
  guide: {
    ...{ dialect: "toy", name: "Toy", files: "toy.hooks", input: ["tool"], timeout: 2, keys: [], groupKeys: [] },
    ...{ codes: [["9", "refuses"]], answers: [], ...example },
    events: [{ ...before, dialect: "toy", fields: ["tool"], two: "a warning", answers: [] }]
  }
}
// toy: end

/** A project with entries of the toy system, trusted unless `untrusted` says so. */
const project = (text: string, more: { readonly [path: string]: string } = {}, isTrusted = true) => {
  const made = world({ "project/toy.hooks": text, ...more })
  const { cwd, home, managed, root } = made
  const options: HookFiles.Options = {
    cwd,
    home,
    managed,
    sources: ["toy"],
    systems: [system],
    trust: join(root, "trust")
  }
  if (isTrusted) { for (const one of HookFiles.load(options).untrusted) one.trust() }
  const loaded = HookFiles.load(options)
  const call = (name: string) => dryRun(loaded.hooks, "preToolCall", { id: "1", name, args: {} }, { cwd: made.cwd })
  return { ...made, loaded, call }
}

describe("a dialect that is defined in 60 lines", () => {
  it("has 60 lines at most", () => {
    const [, body = ""] = readFileSync(import.meta.filename, "utf8").split(/\/\/ toy: (?:begin|end)\n/)
    assert.isBelow(body.trim().split("\n").length, 61)
  })

  it("has matchers, and merges what its entries answer", async () => {
    const { call } = project("before bash: echo no; exit 9\nbefore *: echo never; exit 9\nbefore write: exit 1\n")
    assert.deepInclude(await call("bash"), { answer: "Reject", reason: "no; never" })
    const write = await call("write")
    assert.deepInclude(write, { answer: "Reject", reason: "never" })
    assert.match(write.seen.warnings.join("\n"), /line 3 \(exit 1\) ended with 1/)
    assert.deepInclude(await project("before bash: exit 0\n").call("read"), { answer: "Continue" })
  })

  it("runs entries at the same time, and ends those that take too long", async () => {
    // Each waits for the file that the other one makes.
    const wait = (mine: string, other: string) =>
      `before *: touch ${mine}; until [ -e ${other} ]; do sleep 0.01; done; echo ${mine}; exit 9`
    const { call } = project(`${wait("a", "b")}\n${wait("b", "a")}\nbefore late: sleep 60\n`)
    assert.deepInclude(await call("bash"), { answer: "Reject", reason: "a; b" })
    assert.match((await call("late")).seen.warnings.join("\n"), /line 3 \(sleep 60\) took too long/)
  })

  it("runs only in projects that somebody trusts, as they are", async () => {
    const text = "before *: ./guard.sh\n"
    const guard = { "project/guard.sh": "#!/bin/bash\necho no; exit 9\n" }
    const untrusted = project(text, guard, false)
    assert.strictEqual(untrusted.loaded.untrusted[0]?.commands[0]?.command, "./guard.sh")
    assert.deepEqual(untrusted.loaded.hooks.map(({ preToolCall }) => preToolCall), [undefined])
    const trusted = project(text, guard)
    assert.deepInclude(await trusted.call("bash"), { answer: "Reject", reason: "no" })
    trusted.write("project/guard.sh", "#!/bin/bash\nexit 0\n")
    const changed = await trusted.call("bash")
    assert.strictEqual(changed.answer, "Reject")
    assert.match(changed.reason ?? "", /changed since they were trusted \(guard\.sh\)/)
  })

  it("is checked by the doctor", async () => {
    const { cwd, home, managed } = world({ "project/toy.hooks": "before bash: ./missing.sh\nwhat is this\n" })
    const flags = ["--cwd", cwd, "--home", home, "--managed", managed]
    const doctor = (args: ReadonlyArray<string>) => runHere(["hooks", "doctor", ...flags, ...args], "", [system])
    const { code, stdout } = await doctor([])
    assert.strictEqual(code, 1)
    assert.match(stdout, /toy\.hooks/)
    assert.match(stdout, /has lines that are no entries/i)
    assert.match(stdout, /there is no file .*missing\.sh/i)
    assert.match(stdout, /1 entry does not run/)
  })
})
