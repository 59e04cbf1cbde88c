/** What is written on a terminal, line by line. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { assert, describe, it } from "vitest"
import { makeShow } from "../../src/internal/demo/show.ts"
import { difference } from "../../src/internal/difference.ts"
import { type Screen, screenOf } from "../../src/internal/screen.ts"
import { text } from "../../src/internal/trial/show.ts"

const screen: Screen = { columns: 100, colors: false, interactive: false, path: "" }

describe("the terminal of a process", () => {
  const of = (env: { readonly [name: string]: string }, columns?: number, isInput = true) =>
    screenOf({
      env,
      stdin: { isTTY: isInput },
      stdout: columns === undefined ? {} : { isTTY: true, columns }
    })

  it("has lines of 80 to 160 letters, and of 100 where nobody says how many", () => {
    const widths = ["60", "120", "500", "many"].map((COLUMNS) => of({ COLUMNS }).columns)
    assert.deepEqual(widths, [80, 120, 160, 100])
    assert.deepEqual([of({}).columns, of({ COLUMNS: "90" }, 140).columns], [100, 140])
  })

  it("has colours and a person only if it is a terminal that wants them", () => {
    const { colors, interactive, path } = of({ PATH: "/bin", TERM: "xterm" }, 100)
    assert.deepEqual([colors, interactive, path], [true, true, "/bin"])
    assert.deepInclude(of({}), { colors: false, interactive: false, path: "" })
    assert.deepInclude(of({ NO_COLOR: "1" }, 100), { colors: false, interactive: true })
    assert.isTrue(of({ NO_COLOR: "" }, 100).colors)
    assert.isFalse(of({ TERM: "dumb" }, 100).colors)
    assert.isFalse(of({}, 100, false).interactive)
  })
})

describe("the lines of the demonstration", () => {
  /** The lines for some events. Of each event, the fields that are not shown are left out. */
  const lines = (events: ReadonlyArray<object>, isVerbose = false, columns = 100): ReadonlyArray<string> => {
    const written: Array<string> = []
    const write = (line: string) => written.push(line)
    const show = makeShow({ cost: () => "$1", isVerbose, screen: { ...screen, columns }, write })
    for (const event of events) show(event as AgentEvent)
    return written
  }
  const call = (args: object, id = "c1") => ({ id, name: "read", args })
  const hooks = (point: string, ...hooks: ReadonlyArray<object>) => ({ type: "hook", record: { point, hooks } })

  it("name a tool with its first argument, and what it failed with", () => {
    const ended = (args: object, result: object) => ({ type: "tool-end", call: call(args), result })
    assert.deepEqual(
      lines([
        ended({ path: "a.ts", n: 1 }, { ok: true, output: "text" }),
        ended({}, { ok: true, output: "" }),
        ended({ list: ["x".repeat(80)] }, { ok: false, error: "no such file" })
      ]),
      ["  ✓ read a.ts  $1", "  ✓ read  $1", `  ✗ read ["${"x".repeat(57)}…  no such file`]
    )
    assert.deepEqual(lines([ended({}, { ok: true, output: { a: 1 } })], true), ["  ✓ read  $1", "    {\"a\":1}"])
    // Texts leave room for the rest of the line.
    assert.deepEqual(lines([ended({}, { ok: false, error: "e".repeat(61) })]), [`  ✗ read  ${"e".repeat(59)}…`])
    assert.deepEqual(lines([ended({}, { ok: false, error: "e".repeat(60) })]), [`  ✗ read  ${"e".repeat(60)}`])
    const narrow = lines([ended({}, { ok: false, error: "e".repeat(31) })], false, 50)
    assert.deepEqual(narrow, [`  ✗ read  ${"e".repeat(29)}…`])
  })

  it("say once that a call was refused", () => {
    const end = { type: "tool-end", call: call({ path: "b" }), result: { ok: false, error: "refused" } }
    assert.deepEqual(
      lines([
        { type: "tool-denied", call: call({ path: "b" }), by: "gate", reason: "not this" },
        end,
        { ...end, call: call({ path: "c" }, "c2") }
      ]),
      ["  ✗ read b", "      refused by gate: not this", "  ✗ read c  refused"]
    )
  })

  it("leave out hooks that changed nothing, and show refusals and questions only when everything is shown", () => {
    const one = (answer: string, more: object = {}) => ({ hook: "h", answer, ...more })
    const changed = one("Transform", { why: "shorter", change: { diff: "-a" } })
    const events = [
      hooks("preTurn", one("Continue"), one("skipped"), changed, one("Reject"), one("Ask")),
      hooks("onLlmError", one("Transform")),
      hooks("onLlmDelta", one("Transform"))
    ]
    assert.deepEqual(lines(events), ["    h: Transform at preTurn shorter; -a"])
    assert.deepEqual(lines(events, true).map((line) => line.trim()), [
      "h: Continue at preTurn",
      "h: skipped at preTurn",
      "h: Transform at preTurn shorter; -a",
      "h: Reject at preTurn",
      "h: Ask at preTurn",
      "h: Transform at onLlmError"
    ])
  })

  it("say what happens after an error of a model", () => {
    const failed = (decision: object) => ({ type: "llm-error", provider: "p", error: "Overloaded", decision })
    assert.deepEqual(
      lines([
        failed({ type: "fallback", provider: "q", model: "m" }),
        failed({ type: "fallback", model: "m" }),
        failed({ type: "retry" }),
        failed({ type: "fail" })
      ]),
      ["q answers instead", "m answers instead", "it is tried again", "the turn fails"].map((then) =>
        `  ↻ p Overloaded: ${then}`
      )
    )
  })

  it("show calls of models only when everything is shown, and troubles always", () => {
    const calls = [
      { type: "llm-start", provider: "p", model: "m" },
      { type: "llm-end", finishReason: "stop", durationMs: 1.6 }
    ]
    const troubles = [
      { type: "hook-failed", hook: "h", point: "preTurn", message: "broken" },
      { type: "warning", hook: "h", message: "w".repeat(300) },
      { type: "limit", limit: "steps", used: 5, max: 4 },
      { type: "turn-start" }
    ]
    assert.deepEqual(lines(calls), [])
    assert.deepEqual(lines(calls, true), ["  → model p m", "  ← stop  2 ms, $1"])
    assert.deepEqual(lines(troubles), [
      "  ! hook h failed at preTurn: broken",
      `  ! h: ${"w".repeat(199)}…`,
      "  ! limit reached: steps, 5 of 4"
    ])
  })
})

describe("the result of a trial", () => {
  const where = { cwd: "/p", home: "/h", dialects: [], files: [], plugins: [], off: false, systems: [] } as never
  const shown = (more: object) =>
    text(
      {
        event: "PreToolUse",
        point: "preToolCall",
        decision: "allow",
        untrusted: 0,
        context: [],
        messages: [],
        warnings: [],
        runs: [],
        ...more
      } as never,
      where,
      screen
    ).split("\n")

  it("names the event and the decision, and what the model and the user would read", () => {
    assert.deepEqual(
      shown({
        decision: "deny",
        reason: "no\nreally",
        updatedInput: { a: 1 },
        output: { b: 2 },
        context: ["more"],
        messages: ["hello"],
        warnings: ["odd"]
      }),
      [
        "PreToolUse (preToolCall)  deny",
        "  reason      no",
        "              really",
        "  new input   {\"a\":1}",
        "  output      {\"b\":2}",
        "  context     more",
        "  to the user hello",
        "  warning     odd",
        "",
        "No entry is for this event."
      ]
    )
    assert.include(shown({ output: "plain\ntext" }), "              text")
  })

  it("says how many entries of the project were held back", () => {
    assert.match(shown({ untrusted: 1 })[0]!, /allow, but 1 entry of the project did not run .* has trusted it$/)
    assert.match(shown({ untrusted: 2 })[0]!, /allow, but 2 entries of the project did not run .* has trusted them$/)
  })

  it("shows what each entry did, by file, and why others did not run", () => {
    const run = { file: "/p/a.json", key: "k", type: "command", command: "x", matched: true, durationMs: null }
    assert.deepEqual(
      shown({
        runs: [
          { ...run, outcome: "success", exitCode: 0, durationMs: 5, stdout: "one\ntwo", stderr: "err" },
          { ...run, file: "/h/b.json", command: "y".repeat(301), matched: false, why: "other tool" },
          { ...run, exitCode: null, key: "k2" }
        ]
      }).slice(1).map((line) => line.trimEnd()),
      [
        "",
        "a.json",
        "  ran       command  x",
        "            success, exit 0, 5 ms  k",
        "            stdout  one",
        "                    two",
        "            stderr  err",
        "  ran       command  x",
        "              k2",
        "",
        "~/b.json",
        "  not run   command",
        `            ${"y".repeat(300)}…`,
        "            other tool"
      ]
    )
  })
})

describe("the difference of two texts", () => {
  it("keeps the lines that both have, in their order", () => {
    const shown = (before: string, after: string) => difference(before, after)
    assert.deepEqual(shown("a\nb\nc\nd", "a\nx\nc\ny\nd"), ["  a", "- b", "+ x", "  c", "+ y", "  d"])
    assert.deepEqual(shown("a\nb\nc\nd\ne", "b\nd\nz\ne"), ["- a", "  b", "- c", "  d", "+ z", "  e"])
    assert.deepEqual(shown("a", ""), shown("a", ""))
  })
})
