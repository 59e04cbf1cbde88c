/** What each command of `belay sessions` asks of the host, prints and ends with, to the letter. */
import { HostError } from "@belay/server/HostError"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { runHere } from "../../belay.ts"
import { answers, calls } from "./support/noting.config.ts"

const config = fileURLToPath(new URL("./support/noting.config.ts", import.meta.url))

const usage = { inputTokens: 1, outputTokens: 2 }
const turn = { turnNumber: 1, text: "the\nanswer\u001b[2J", usage }
const listed = (id: string, status: string, updatedAt: number) => ({
  id,
  status,
  messages: 2,
  turnNumber: 1,
  updatedAt
})
const dead = (key: string, seq: number, outcome: object | null) => ({
  sessionId: "s\u001b",
  key,
  kind: "message",
  status: "dead",
  seq,
  attempts: 5,
  at: 0,
  body: null,
  outcome
})
const receipt = { sessions: ["a"], messages: 1, entries: 1, artifacts: 2, isCompacted: true, at: 7, running: [] }
const pending = [
  { callId: "c1", tool: "pay", args: { sum: 1 }, by: "gate", reason: "sure?", fingerprint: "f" },
  { callId: "c2", tool: "pay", args: {}, by: "gate", reason: "sure?", fingerprint: "g" }
]
const talk = (waiting: object) => ({ messages: [], open: [], turnNumber: 1, waiting })
const asking = talk({ type: "people", turnNumber: 1, pending })
const wrong = new HostError({ problem: "wrong-input", message: "the key must be a text" })
const away = new HostError({ problem: "store", message: "the store is away" })

/** Runs a command, also with `--json` if that is wanted, and says everything that happened. */
const told = async (line: string, given: { readonly [method: string]: unknown }, isBoth = true) => {
  for (const name of Object.keys(answers)) delete answers[name]
  Object.assign(answers, given)
  const args = line.split(" ")
  const out: Array<string> = [`$ belay sessions ${line}`]
  for (const more of isBoth ? [[], ["--json"]] : [[]]) {
    calls.length = 0
    const { code, stderr, stdout } = await runHere(["sessions", ...args, "--config", config, ...more])
    if (more.length === 0) out.push(...calls.map((call) => `  asks: ${call}`))
    const printed = more.length === 0 ? stdout : stdout === "" ? "" : JSON.stringify(JSON.parse(stdout))
    out.push(...printed.trimEnd().split("\n").filter((one) => one !== "").map((one) => `  ${one}`))
    out.push(...stderr.trimEnd().split("\n").filter((one) => one !== "").map((one) => `  error: ${one}`))
    out.push(`  ends with ${code}`)
  }
  return out
}

type Row = readonly [line: string, given?: { readonly [method: string]: unknown }, isBoth?: boolean]

const same = async (name: string, rows: ReadonlyArray<Row>) => {
  const lines: Array<string> = []
  for (const [line, given = {}, isBoth] of rows) lines.push(...await told(line, given, isBoth))
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./told/${name}.txt`)
}

describe("belay sessions", () => {
  it("looks into sessions exactly like this", async () => {
    const [two, one] = [listed("two", "suspended", 2_000), listed("one", "idle", 1_000)]
    const overview = [{
      id: "s",
      state: "stuck",
      why: "no process has begun k",
      since: 1_000,
      entries: [
        { key: "k\u001b", kind: "message", status: "waiting", attempts: 1 },
        { key: "d", kind: "decide", status: "waiting", attempts: 2 }
      ]
    }, { id: "t", state: "busy", why: "the turn of k runs", since: 0, entries: [] }]
    await same("looking", [
      ["list", { list: [two, one] }],
      ["list --limit 2 --before 5.5", { list: [two, one] }],
      ["list --limit 1 --status idle", { list: [two] }],
      ["list --limit 3 --status idle", { list: [two, one] }],
      ["list", { list: [] }],
      ["list --limit 0", {}, false],
      ["list --limit 1", { list: [one] }, false],
      ["list --before x", {}, false],
      ["list", { list: away }, false],
      ["open", { overview }],
      ["open --state stuck --stuck-after 1", { overview: [] }],
      ["open --stuck-after 0", {}, false],
      ["show s", { conversation: asking }],
      ["show s", { conversation: undefined }],
      ["show s", { conversation: wrong }, false]
    ])
  })

  it("sends to sessions exactly like this", async () => {
    const sent = { send: { key: "k", type: "added" } }
    const outcomes = [
      { status: "completed", ...turn },
      { status: "suspended", ...turn, pending },
      { status: "limited", ...turn, limit: "steps", used: 2, max: 1 },
      { status: "aborted", ...turn, by: "gate", reason: "no" },
      { status: "failed", error: { _tag: "Auth", message: "no key" } },
      { status: "cancelled" },
      { status: "dead", attempts: 5, reason: "poison" },
      { status: "delivered" },
      { status: "late", reason: "over" }
    ]
    await same("sending", [
      ["send s hello", sent],
      ["send s hello --key k --tenant t --at 1970-01-01T00:00:07Z --steer", sent],
      ["send s hello --at soon", {}, false],
      ["send s hello", { send: wrong }, false],
      ...outcomes.map((result): Row => ["send s hello --wait", { ...sent, result }]),
      ["send s hello --wait", { ...sent, result: away }, false],
      ["decide s c2 approve", { conversation: asking, decide: { key: "d", type: "added" } }],
      ["decide s c1 deny", { conversation: asking, decide: { key: "d", type: "added" } }, false],
      ["decide s c1 deny --reason no", { conversation: asking, decide: { key: "d", type: "added" } }, false],
      ["decide s c1 approve --wait", {
        conversation: talk({ type: "process", why: "left", turnNumber: 1, pending }),
        decide: { key: "d", type: "added" },
        result: { status: "completed", ...turn }
      }, false],
      ["decide s c1 approve --reason no", {}, false],
      ["decide s c3 approve", { conversation: asking }, false],
      ["decide s c1 approve", { conversation: undefined }, false],
      ["decide s c1 approve", { conversation: talk({ type: "nothing" }) }, false],
      ["decide s c1 maybe", {}, false],
      ["cancel s k", { status: { status: "waiting", attempts: 0 }, cancel: { key: "cancel k", type: "added" } }],
      ["cancel s k", { status: undefined }, false]
    ])
  })

  it("looks after sessions exactly like this", async () => {
    const [one, two] = [dead("a\u001b", 1, { status: "dead", attempts: 1, reason: "poison\u001b" }), dead("b", 2, null)]
    await same("caring", [
      ["dead", { entries: [one, two] }],
      ["dead --limit 2 --after 7", { entries: [one, two] }],
      ["dead --limit 3", { entries: [one, two] }, false],
      ["dead", { entries: [] }],
      ["dead --limit 0", {}, false],
      ["dead --limit 1", { entries: [] }, false],
      ["dead --after x", {}, false],
      ["dead --after 1.5", {}, false],
      ["retry s k", { retry: true }],
      ["retry s k", { retry: false }, false],
      ["drop s k", { status: { status: "dead", attempts: 1 }, drop: true }],
      ["drop s k --yes", { status: { status: "dead", attempts: 1 }, drop: true }],
      ["drop s k --yes", { status: { status: "waiting", attempts: 1 }, drop: true }, false],
      ["drop s k --yes", { status: undefined, drop: true }, false],
      ["erase --session s", { erase: receipt }],
      ["erase --principal p", { erase: receipt }],
      ["erase --session s --yes", { erase: receipt }],
      ["erase --principal p --yes", { erase: { ...receipt, sessions: ["a", "b"], entries: 2, artifacts: 1 } }, false],
      ["erase --session s --yes", { erase: { ...receipt, isCompacted: false } }],
      ["erase --session s --yes", { erase: { ...receipt, running: ["a\u001b", "b"] } }],
      ["erase", {}, false],
      ["erase --session s --principal p", {}, false],
      ["move s v2", { conversation: asking }],
      ["move s", { conversation: asking }],
      ["move s v2", { conversation: undefined }, false],
      ["page --port 65536", {}, false],
      ["page --port -1", {}, false]
    ])
  })
})
