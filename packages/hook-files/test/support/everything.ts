/**
 * Every event of a system, what its entry reads, and what each of its answers does: all as text. No process is started,
 * because the answers are given.
 */
import type { HookPointName } from "@belay/core/HookPoint"
import type { Finished, Runner } from "@belay/hook-files/Command"
import type { Dialect } from "@belay/hook-files/Discovery"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { builtIn } from "@belay/hook-files/Systems"
import { dryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { folder, write } from "./processes.ts"

/** What happens in an agent: the point, its event, and how deep the agent is. */
type Moment = readonly [point: HookPointName, event: object, depth?: number]

const call = (name: string, args: object) => ({ id: "c1", name, args })
const bash = call("bash", { command: "ls" })
const tools = {
  bash,
  read: call("read", { path: "a.txt" }),
  write: call("write", { path: "a.txt", content: "text" }),
  edit: call("edit", { path: "a.txt", oldText: "a", newText: "b" }),
  own: call("own_tool", { a: 1 }),
  mcp: call("mcp__git__log", { a: 1 })
}
const others = {
  web_fetch: call("web_fetch", { uri: "https://example.org" }),
  grep: call("grep_search", { regex: "a+" }),
  glob: call("find_files", { glob: "*.ts" }),
  ls: call("list_dir", {}),
  multi_edit: call("multi_edit", { filename: "a.txt", edits: [] }),
  todo: call("TodoWrite", { todos: [] }),
  "a tool without an object": call("bash", "ls" as never)
}
const failing = (error: object, more: object = {}, depth = 0): Moment => [
  "onTurnError",
  { input: { message: "hello" }, error, ...more },
  depth
]
const done = (of: object, output: unknown): Moment => ["postToolCall", { call: of, result: { ok: true, output } }]
const messages = [
  { role: "user", content: "hello" },
  { role: "assistant", content: "", toolCalls: [bash] },
  { role: "tool", toolCallId: "c1", toolName: "bash", content: "done" }
]

const moments: { readonly [what: string]: Moment } = {
  "a session that begins": ["onSessionStart", { source: "startup" }],
  "a session that is resumed": ["onSessionStart", { source: "resume" }],
  "a prompt": ["preTurn", { message: "hello" }],
  "a sub-agent that begins": ["preTurn", { message: "hello" }, 1],
  "a request to a model": ["preLlmCall", { messages: [{ role: "user", content: "hello" }] }],
  "an answer of a model": ["postLlmCall", { response: { text: "hi", reasoning: "hm" }, request: { messages: [] } }],
  "a model that fails": ["onLlmError", {}],
  ...Object.fromEntries(
    Object.entries(tools).map(([name, of]) => [`a call of ${name}`, ["preToolCall", of] satisfies Moment])
  ),
  "a question about a call": ["onPermission", { call: bash }],
  ...Object.fromEntries(
    ["write", "own", "mcp"].map((name) => [
      `a question about ${name}`,
      ["onPermission", { call: tools[name as "own"] }] satisfies Moment
    ])
  ),
  "a call that was denied": ["onToolDenied", { call: bash, reason: "not allowed" }],
  "a result of bash": done(bash, "text"),
  "a result of bash with fields": done(bash, { stdout: "out", exitCode: 0 }),
  "a result of read": done(tools.read, "text"),
  "a result of edit": done(tools.edit, "text"),
  "a result of an MCP tool": done(tools.mcp, { b: 2 }),
  "a tool that failed": ["postToolCall", { call: bash, result: { ok: false, error: "it timed out" } }],
  "the end of a step": ["postStep", { messages }],
  "an agent that is about to stop": ["preStop", { text: "hi", followUps: 0 }],
  "an agent that was kept going": ["preStop", { text: "hi", followUps: 2 }],
  "a sub-agent that is about to stop": ["preStop", { text: "hi", followUps: 0 }, 1],
  "the end of a turn": ["postTurn", { input: { message: "hello" }, output: { text: "hi" } }],
  "a turn that fails": ["onTurnError", { input: { message: "hello" } }],
  "a conversation that is compacted": ["preCompaction", { trigger: "manual", hint: { keepRecent: 3 } }],
  "a conversation that is too long": ["preCompaction", { trigger: "threshold" }],
  "a conversation that was compacted": ["postCompaction", { trigger: "threshold", summary: "short" }],
  "a budget that is used up": ["onBudget", { level: "exceeded" }],
  "a session that ends": ["onSessionEnd", { reason: "done" }],
  "a session that fails": ["onSessionEnd", { reason: "error" }],
  "a session that is aborted": ["onSessionEnd", { reason: "abort" }],
  "a session that another one follows": ["onSessionEnd", { reason: "rotate" }],
  "a session that begins after another": ["onSessionStart", { source: "rotate" }],
  ...Object.fromEntries(
    Object.entries(others).map(([name, of]) => [`a call: ${name}`, ["preToolCall", of] satisfies Moment])
  ),
  "a call in a sub-agent": ["preToolCall", bash, 1],
  "a result in a sub-agent": ["postToolCall", { call: bash, result: { ok: true, output: "text" } }, 1],
  "a result of a search": done(others.grep, { matches: ["a"] }),
  "a result of a write": done(tools.write, null),
  "a result that is null": done(bash, null),
  "a call that was not run": [
    "postToolCall",
    { call: bash, executed: false, result: { ok: false, error: "not allowed" } }
  ],
  "a turn that another process ended": failing({ name: "AbortError", message: "aborted" }),
  "a prompt that was refused": failing({ _tag: "HookRejected", point: "preTurn", message: "no" }),
  "a model without credit": failing({ _tag: "Auth", message: "no key" }),
  "a model that is too busy": failing({ _tag: "RateLimited", message: "slow down" }),
  "a sub-agent that fails": failing({ _tag: "Auth", message: "no key" }, {}, 1),
  "the end of a turn of a sub-agent": ["postTurn", { input: { message: "hello" }, output: { text: "hi" } }, 1],
  "a second compaction": [
    "preCompaction",
    { trigger: "manual", messages: [{ role: "user", source: "summary", content: "short" }, ...messages] }
  ],
  "a compaction of an unknown window": ["preCompaction", { budget: { usedTokens: 7, windowTokens: 0 } }],
  "a compaction that somebody wanted": ["postCompaction", { trigger: "manual", summary: "short", removedCount: 2 }],
  "a budget that is nearly used up": ["onBudget", { level: "warn", kind: "cost", scope: "turn", used: 8, limit: 10 }],
  "a model that is tried again": ["onLlmError", { attempt: 2, decision: { type: "retry", delayMs: 5 } }],
  "an agent that has said nothing": ["preStop", { text: "", followUps: 0 }]
}

export interface World {
  readonly dialect: Dialect
  /** The files below `home` and `project`, by path: an entry without a matcher for each event. */
  readonly files: { readonly [path: string]: string | object }
  /** The name of the event of a request, if its input does not say it. */
  readonly eventOf?: (request: Parameters<Runner>[0]) => string | undefined
  /** What the host says, for the events that only hosts have. */
  readonly signals?: ReadonlyArray<string>
  /** What it says there. */
  readonly payload?: object
}

const ended = (more: Partial<Finished> = {}): Finished => ({
  exitCode: 0,
  stdout: "",
  stderr: "",
  timedOut: false,
  overflowed: false,
  durationMs: 1,
  ...more
})

/** Ends that mean something in each system. */
const ends: { readonly [what: string]: Partial<Finished> } = {
  "0 with a text": { stdout: "a text" },
  "1": { exitCode: 1, stderr: "an error" },
  "2": { exitCode: 2, stderr: "no" },
  "2 without a text": { exitCode: 2 },
  "3 with a text": { exitCode: 3, stdout: "a text" },
  "a signal": { exitCode: null as never, stderr: "killed" },
  "too late": { exitCode: null as never, timedOut: true },
  "too much": { overflowed: true, stdout: "{" },
  "JSON that is cut off": { stdout: "{\"decision\":" },
  "a list": { stdout: "[]" }
}

/** What a request has: the fields of its input, and the rest. */
export type Request = { readonly [field: string]: unknown }

const requestOf = ({ onFirstLine: _, onLinger: _linger, input, ...rest }: Parameters<Runner>[0]): Request => {
  const fields = Object.entries(JSON.parse(input === "" ? "{}" : input) as object)
  return { ...rest, ...Object.fromEntries(fields.map(([name, value]) => [`.${name}`, value])) }
}

/** What differs from the first request. */
const since = (first: Request, request: Request): Request => {
  const isSame = (name: string) => JSON.stringify(first[name]) === JSON.stringify(request[name])
  const gone = Object.keys(first).filter((name) => !(name in request))
  return {
    ...(gone.length === 0 ? {} : { without: gone.join(" ") }),
    ...Object.fromEntries(Object.entries(request).filter(([name]) => !isSame(name)))
  }
}

/** Replaces what differs from run to run. */
const plain = (text: string, root: string): string =>
  text.replaceAll(root, "ROOT")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME")
    .replaceAll(
      /"(\.?(?:timestamp|time|duration|duration_ms|durationMs|elapsed_ms|elapsedMs))":\d+(?:\.\d+)?/g,
      "\"$1\":0"
    )
    .replaceAll(/"command":"[^"]*sh","args":\["-lc"/g, "\"command\":\"SHELL\",\"args\":[\"-lc\"")
    .replaceAll(/\b\d{13}\b/g, "0")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")

/** An entry without a matcher for each event of a system. `entryOf` is the entry, or the list of them. */
export const forEachEvent = (
  dialect: Dialect,
  entryOf: (name: string) => unknown
): { readonly [event: string]: unknown } =>
  Object.fromEntries(
    builtIn.find((one) => one.dialect === dialect)!.guide.events.map(({ name }) => [name, [entryOf(name)]])
  )

/** The events of a system that only a host has. */
export const signalsOf = (dialect: Dialect): ReadonlyArray<string> =>
  builtIn.find((one) => one.dialect === dialect)!.guide.events
    .flatMap(({ name, occasion }) => occasion === "signal" ? [name] : [])

/** The moments at which answers have most effects. */
export const mainMoments = [
  "a call of bash",
  "a prompt",
  "an agent that is about to stop",
  "a result of bash",
  "a session that begins"
] as const

/** Loads a system. `happen` is a moment with an answer of its entries. */
export const everything = (
  { dialect, eventOf, files, payload = { a: 1 }, signals = [] }: World,
  hasTranscripts: boolean
) => {
  const root = folder()
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  write(join(cwd, "a.txt"), "what is in the file")
  for (const [path, content] of Object.entries(files)) {
    write(join(root, path), typeof content === "string" ? content : JSON.stringify(content))
  }
  const one = (text: string) => plain(text, root).replaceAll(/\bs\d+\b/g, "SESSION")
  let answer: Partial<Finished> | ((event: string) => Partial<Finished>) = {}
  let heard: Array<readonly [event: string, request: Request]> = []
  const run: Runner = (request) =>
    Effect.sync(() => {
      const event = eventOf?.(request) ?? ""
      if (event.startsWith("is ")) return ended({ stdout: event.slice(3) })
      heard.push([event, JSON.parse(one(JSON.stringify(requestOf(request)))) as Request])
      return ended(typeof answer === "function" ? answer(event) : answer)
    })
  const options: HookFiles.Options = {
    cwd,
    home,
    managed: join(root, "no"),
    sources: [dialect],
    trust: join(root, "trust"),
    transcripts: hasTranscripts ? join(root, "transcripts") : false,
    run
  }
  if (Object.keys(files).some((path) => path.startsWith("project/"))) {
    HookFiles.load(options).untrusted.forEach((project) => project.trust())
  }
  const { hooks, warnings } = HookFiles.load(options)
  const all: { readonly [what: string]: Moment } = {
    ...moments,
    ...Object.fromEntries(signals.map((name) => [
      `the signal ${name}`,
      ["onSignal", { name, payload, blockable: true }] satisfies Moment
    ]))
  }
  let sessions = 0
  const happen = async (what: string, given: typeof answer, sessionId = `s${sessions++}`) => {
    const [point, event, depth = 0] = all[what]!
    answer = given
    heard = []
    const { answer: verdict, policy, reason, seen, value } = await dryRun(hooks, point, event as never, {
      sessionId,
      cwd,
      agent: depth === 0 ? {} : { depth, invokedBy: "subagent", name: "worker" }
    })
    const lists = {
      injected: seen.injected,
      followUps: seen.followUps,
      notices: seen.notices,
      warnings: seen.warnings,
      failures: seen.failures.map(({ message }) => message)
    }
    const facts = {
      answer: verdict,
      ...(policy === undefined ? {} : { policy }),
      ...(reason === undefined ? {} : { reason }),
      ...(verdict === "Continue" || verdict === "Reject" ? {} : { value }),
      ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
    }
    const events = seen.events.filter(({ name }) => name !== "hook-run")
      .map(({ name, payload }) => one(`event ${name} ${JSON.stringify(payload)}`))
    return { heard, events, facts: one(JSON.stringify(facts)) }
  }
  /** The conversations that entries can read. */
  const transcripts = () => {
    const path = join(root, "transcripts")
    const names = existsSync(path) ? readdirSync(path, { recursive: true, encoding: "utf8" }).toSorted() : []
    return names.filter((name) => statSync(join(path, name)).isFile())
      .map((name) => one(`${name}\n${readFileSync(join(path, name), "utf8")}`))
  }
  return { all, happen, transcripts, warnings }
}

/** What the entries read at each moment, as far as it differs from the first request. */
export const inputs = async (world: World): Promise<string> => {
  const { all, happen, warnings } = everything(world, true)
  const lines: Array<string> = warnings.map(({ key, reason }) => `warning ${key}: ${reason}`)
  let first: Request | undefined
  for (const what of Object.keys(all)) {
    const { events, facts, heard } = await happen(what, {})
    const read = heard.map(([event, request]) => {
      const shown = first === undefined ? request : since(first, request)
      first ??= request
      return `${event} ${JSON.stringify(shown)}`
    })
    lines.push(`# ${what}`, ...read, ...events, ...(facts === `{"answer":"Continue"}` ? [] : [facts]), "")
  }
  return `${lines.join("\n")}\n`
}

/** What each answer does at these moments. Answers that do the same are listed together. */
export const effects = async (
  world: World,
  at: ReadonlyArray<string>,
  answers: ReadonlyArray<object>
): Promise<string> => {
  const { happen } = everything(world, false)
  const lines: Array<string> = []
  for (const [index, what] of at.entries()) {
    const same = new Map<string, Array<string>>()
    const note = async (name: string, given: Parameters<typeof happen>[1]) => {
      const { facts } = await happen(what, given)
      const shown = facts.replaceAll(/[\w.]+\[\d\][^ ]* \([^)]*\)/g, "ENTRY")
      same.set(shown, [...same.get(shown) ?? [], name])
    }
    await note("nothing", {})
    // How a process ends means the same at most moments.
    for (const [name, end] of index < 3 ? Object.entries(ends) : []) await note(`exit ${name}`, end)
    for (const one of answers) {
      const text = JSON.stringify(one)
      await note(text, (event) => ({ stdout: text.replaceAll("$E", event) }))
    }
    lines.push(`# ${what}`, ...[...same].flatMap(([shown, names]) => [shown, `  ${names.join("  ")}`]), "")
  }
  return `${lines.join("\n")}\n`
}
