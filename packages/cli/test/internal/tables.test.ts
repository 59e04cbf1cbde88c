/** Sessions, changes and decisions as people read them. */
import type { Change } from "@belay/hook-files/Trust"
import { assert, describe, it } from "vitest"
import { difference } from "../../src/internal/difference.ts"
import { changeLines, json } from "../../src/internal/files/changes.ts"
import { conversationText, listText, outcomeText, overviewText } from "../../src/internal/host/texts.ts"
import { groupKey, read } from "../../src/internal/raw.ts"
import { plain, visible, wrap } from "../../src/internal/screen.ts"
import { decide, isBlocked, isDecided } from "../../src/internal/trial/decide.ts"
import { describeWork, short } from "../../src/internal/world.ts"
import { colored, painted } from "../support/painted.ts"

const shown = (text: string) => painted(text, "/nowhere/at/all")

describe("a list of sessions", () => {
  const session = (id: string, status: string, more: object = {}) =>
    ({ id, status, messages: 2, turnNumber: 1, updatedAt: 1_000, ...more }) as never

  it("has a line for each, and the next page", () => {
    const all = [
      session("a", "idle"),
      session("longer-id", "open", { messages: 1 }),
      session("b", "suspended"),
      session("c", "limited")
    ]
    assert.deepEqual(shown(listText(all, 7, colored)), [
      "<bold>a        </>  <dim>waits for nothing           </>  turn 1, 2 messages        <dim>1970-01-01T00:00:01Z</>",
      "<bold>longer-id</>  <dim>runs, or waits for a process</>  turn 1, 1 message         <dim>1970-01-01T00:00:01Z</>",
      "<bold>b        </>  <yellow>waits for people            </>  turn 1, 2 messages        <dim>1970-01-01T00:00:01Z</>",
      "<bold>c        </>  <dim>reached a limit             </>  turn 1, 2 messages        <dim>1970-01-01T00:00:01Z</>",
      "next page: --before 7"
    ])
    assert.deepEqual(shown(listText([], undefined, colored)), ["no sessions"])
    assert.match(shown(listText([session("a", "idle")], undefined, colored))[0]!, /^<bold>a {6}<\/>/)
  })
})

describe("an overview of sessions", () => {
  it("has the colour of how much each needs somebody, and its entries", () => {
    const session = (id: string, state: string, ...entries: ReadonlyArray<object>) =>
      ({ id, state, why: `why ${id}`, since: 1_999, entries }) as never
    const entry = (attempts: number) => ({ key: "k", kind: "message", status: "waiting", attempts })
    const all = [
      session("a", "dead", entry(1), entry(2)),
      session("b", "stuck"),
      session("c", "waiting", entry(0)),
      session("d", "busy")
    ]
    const end = (id: string) => `why ${id}  <dim>1970-01-01T00:00:01Z</>`
    assert.deepEqual(shown(overviewText(all, colored)), [
      `<bold>a</>  <red>dead</>  ${end("a")}`,
      "<dim>  message k: waiting, 1 attempt</>",
      "<dim>  message k: waiting, 2 attempts</>",
      `<bold>b</>  <red>stuck</>  ${end("b")}`,
      `<bold>c</>  <yellow>waiting</>  ${end("c")}`,
      "<dim>  message k: waiting, 0 attempts</>",
      `<bold>d</>  <green>busy</>  ${end("d")}`
    ])
    assert.deepEqual(shown(overviewText([], colored)), ["no sessions with something unfinished"])
  })
})

describe("a conversation", () => {
  const of = (more: object) =>
    shown(
      conversationText(
        "s1",
        { messages: [], open: [], turnNumber: 2, waiting: { type: "nothing" }, ...more } as never,
        colored
      )
    )

  it("has its messages, what is open, and its questions with how to answer them", () => {
    const pending = [{ callId: "c1", tool: "send", args: { a: 1 }, by: "gate", reason: "right?" }]
    assert.deepEqual(
      of({
        messages: [
          { role: "user", content: "one\ntwo" },
          { role: "assistant", content: "", toolCalls: [{ id: "c0", name: "look", args: { b: 2 } }] },
          { role: "tool", toolCallId: "c0", toolName: "look", content: "seen" },
          { role: "assistant", content: "so", toolCalls: [{ id: "c1", name: "send", args: { a: 1 } }] },
          { role: "assistant", content: "" }
        ],
        open: [{ key: "k", kind: "message", status: "suspended" }],
        waiting: { type: "people", pending }
      }),
      [
        "<bold>s1</>  <dim>turn 2, waits for people</>",
        "<cyan>user:</> one",
        "  two",
        "<dim>calls look {\"b\":2} (c0)</>",
        "<dim>look c0:</> seen",
        "<green>assistant:</> so",
        "<dim>calls send {\"a\":1} (c1)</>",
        "<green>assistant:</> ",
        "<dim>message k: suspended</>",
        "<yellow>question c1: send {\"a\":1}</>",
        "  gate asks: right?",
        "  belay sessions decide s1 c1 approve",
        "  belay sessions decide s1 c1 deny --reason \"...\""
      ]
    )
  })

  it("says what it waits for", () => {
    const waits = (waiting: object) => of({ waiting: { pending: [], ...waiting } })[0]
    assert.strictEqual(waits({ type: "nothing" }), "<bold>s1</>  <dim>turn 2, waits for nothing</>")
    assert.strictEqual(waits({ type: "limit", limit: "steps" }), "<bold>s1</>  <dim>turn 2, reached the limit steps</>")
    assert.strictEqual(
      waits({ type: "process", why: "left" }),
      "<bold>s1</>  <dim>turn 2, runs, or waits for a process</>"
    )
    assert.strictEqual(waits({ type: "process", why: "parked" }), "<bold>s1</>  <dim>turn 2, waits for a process</>")
  })
})

describe("an outcome", () => {
  const of = (outcome: object) => shown(outcomeText("s1", "k", outcome as never, colored)).join("|")
  it.each<readonly [object, string]>([
    [{ status: "completed", text: "a\nb\n" }, "a|b"],
    [{ status: "suspended", text: "" }, "<yellow>k waits for people: belay sessions show s1</>"],
    [{ status: "limited", text: "", limit: "steps", used: 2, max: 1 }, "<red>k reached the limit steps (2 of 1)</>"],
    [{ status: "aborted", text: "", by: "gate", reason: "no" }, "<red>gate ended the turn: no</>"],
    [{ status: "failed", error: { message: "broke" } }, "<red>k failed: broke</>"],
    [{ status: "dead", reason: "too often" }, "<red>k: too often</>"],
    [{ status: "late", reason: "over" }, "<red>k: over</>"],
    [{ status: "cancelled" }, "k: cancelled"],
    [{ status: "delivered" }, "k: delivered"]
  ])("%j is %s", (outcome, text) => assert.strictEqual(of(outcome), text))
})

describe("changes of a trusted project", () => {
  const world = { where: { cwd: "/p", home: "/h" } } as never
  const changes: ReadonlyArray<Change> = [
    { path: "/p/a.sh", kind: "changed", before: "one\ntwo", after: "one\nthree" },
    { path: "/p/b.sh", kind: "new", after: "x" },
    { path: "/h/c.sh", kind: "removed", before: "x" },
    { path: "/p/d.sh", kind: "mode", after: "x" },
    { path: "/x/e.sh", kind: "link", before: "x", after: "y" },
    { path: "/p/f.sh", kind: "changed", after: "y" },
    { path: "/p/g.sh", kind: "changed", before: "y" }
  ]

  it("are shown file by file, with the lines if that is wanted", () => {
    const lines = [
      "  <yellow>changed</>  a.sh",
      "      one",
      "    <red>- two</>",
      "    <green>+ three</>",
      "  <yellow>new</>  b.sh",
      "  <yellow>removed</>  ~/c.sh",
      "  <yellow>other execute bits</>  d.sh",
      "  <yellow>leads to another file</>  /x/e.sh",
      "  <yellow>changed</>  f.sh",
      "  <yellow>changed</>  g.sh"
    ]
    assert.deepEqual(shown(changeLines(changes, world, colored, true).join("\n")), lines)
    assert.deepEqual(
      shown(changeLines(changes, world, colored, false).join("\n")),
      lines.filter((line) => !line.startsWith("   "))
    )
  })

  it("are shown up to 20", () => {
    const many = (count: number) => Array.from({ length: count }, () => changes[1]!)
    assert.lengthOf(changeLines(many(20), world, colored, false), 20)
    assert.deepEqual(changeLines(many(21), world, colored, false).slice(20), ["  and 1 more file"])
    assert.deepEqual(changeLines(many(22), world, colored, false).slice(20), ["  and 2 more files"])
  })

  it("are JSON with their differences", () => {
    assert.deepEqual(json(changes.slice(0, 2)), [
      { path: "/p/a.sh", kind: "changed", difference: ["  one", "- two", "+ three"] },
      { path: "/p/b.sh", kind: "new" }
    ])
  })
})

describe("a difference", () => {
  const of = (before: string, after: string, most?: number) =>
    difference([...before].join("\n"), [...after].join("\n"), most).join(" ")
  it.each<readonly [string, string, string]>([
    ["abc", "abc", ""],
    ["", "a", "+ a"],
    ["a", "", "- a"],
    ["aa", "a", "  a - a"],
    ["a", "aa", "  a + a"],
    ["aba", "a", "  a - b - a"],
    ["a", "aba", "  a + b + a"],
    ["abcdefg", "abcXefg", "…   b   c - d + X   e   f"],
    ["abcdefgh", "XbcdefgY", "- a + X   b   c …   f   g - h + Y"],
    ["abcde", "XbcdY", "- a + X   b   c   d - e + Y"],
    ["abcdef", "XbcdeY", "- a + X   b   c   d   e - f + Y"],
    ["abcabba", "cbabac", "- a - b   c - a   b + a   b   a + c"]
  ])("of %s and %s is %s", (before, after, lines) => assert.strictEqual(of(before, after), lines))

  it("is cut after so many lines", () => {
    assert.strictEqual(of("ab", "cd", 4), "- a - b + c + d")
    assert.strictEqual(of("ab", "cd", 3), "- a - b + c … 1 more lines")
  })

  it("does not compare very long parts line by line", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at}`)
    const [before, after] = [lines(500), lines(500).toReversed()]
    assert.include(difference(before.join("\n"), after.join("\n"), 2_000), "  499")
    const longer = [...after, "x"]
    assert.notInclude(difference(before.join("\n"), longer.join("\n"), 2_000), "  499")
  })
})

describe("a decision", () => {
  const seen = { injected: [], followUps: [] }
  const of = (occasion: string, run: object, more: object = {}) => {
    const { context, ...rest } = decide(
      occasion as never,
      { answer: "Continue", seen: { ...seen, ...more }, ...run } as never
    )
    return { ...rest, ...(context.length === 0 ? {} : { context }) }
  }
  it.each<readonly [string, object, object]>([
    ["tool-call", {}, { decision: "allow" }],
    ["permission", {}, { decision: "ask" }],
    ["prompt", {}, { decision: "continue" }],
    ["tool-call", { answer: "Fail", policy: "open", reason: "r" }, { decision: "allow", reason: "r" }],
    ["tool-call", { answer: "Fail" }, { decision: "allow" }],
    ["tool-call", { answer: "Fail", policy: "reject", reason: "r" }, { decision: "deny", reason: "r" }],
    ["permission", { answer: "Fail", policy: "abort" }, { decision: "deny" }],
    ["prompt", { answer: "Fail", policy: "reject" }, { decision: "block" }],
    ["prompt", { answer: "Abort", reason: "r" }, { decision: "stop", reason: "r" }],
    ["tool-call", { answer: "Reject" }, { decision: "deny" }],
    ["permission", { answer: "Reject" }, { decision: "deny" }],
    ["stop", { answer: "Reject" }, { decision: "block" }],
    ["tool-call", { answer: "Ask", reason: "r" }, { decision: "ask", reason: "r" }],
    ["tool-call", { answer: "Ask", action: { args: { a: 1 } } }, { decision: "ask", updatedInput: { a: 1 } }],
    ["tool-call", { answer: "Ask", action: {} }, { decision: "ask" }],
    ["prompt", { answer: "Respond", value: { text: "t" } }, { decision: "respond", output: { text: "t" } }],
    ["tool-call", { answer: "Transform", value: { a: 1 } }, { decision: "allow", updatedInput: { a: 1 } }],
    ["permission", { answer: "Replace", value: { type: "deny", reason: "r" } }, { decision: "deny", reason: "r" }],
    ["permission", { answer: "Transform", value: { type: "allow" } }, { decision: "allow" }],
    ["tool-result", { answer: "Transform", value: { ok: true, output: "o" } }, { decision: "continue", output: "o" }],
    ["tool-result", { answer: "Transform", value: { ok: true } }, { decision: "continue", output: null }],
    ["tool-failure", { answer: "Replace", value: { ok: false, error: "e" } }, { decision: "continue", output: "e" }],
    ["tool-failure", { answer: "Replace", value: { ok: false } }, { decision: "continue", output: null }],
    ["model-request", { answer: "Transform", value: { m: 1 } }, { decision: "continue", output: { m: 1 } }],
    [
      "session-start",
      { answer: "Transform", value: { context: [{ role: "user", content: "c" }] } },
      { decision: "continue", context: ["c"] }
    ],
    ["session-start", { value: null }, { decision: "continue" }],
    ["session-start", { value: {} }, { decision: "continue" }],
    ["prompt", { value: { context: [{ role: "user", content: "c" }] } }, { decision: "continue" }]
  ])("at %s about %j is %j", (occasion, run, decision) => assert.deepEqual(of(occasion, run), decision as never))

  it("keeps an agent going only at its end", () => {
    const more = { followUps: ["a", "b"] }
    for (const occasion of ["stop", "subagent-stop"]) {
      assert.deepEqual(of(occasion, {}, more), { decision: "block", reason: "a\nb" } as never)
    }
    assert.deepEqual(of("prompt", {}, more), { decision: "continue" } as never)
    assert.deepEqual(of("prompt", {}, { injected: ["c"] }), { decision: "continue", context: ["c"] } as never)
  })

  it("is one if it is not the usual one, and blocks if it denies, blocks or stops", () => {
    const is = (occasion: string, decision: string) => isDecided(occasion as never, { decision, context: [] } as never)
    assert.deepEqual([is("tool-call", "allow"), is("tool-call", "ask"), is("permission", "ask")], [false, true, false])
    assert.deepEqual([is("permission", "allow"), is("stop", "continue"), is("stop", "block")], [true, false, true])
    const blocks = ["deny", "block", "stop", "ask", "allow"].map((decision) =>
      isBlocked({ decision, context: [] } as never)
    )
    assert.deepEqual(blocks, [true, true, true, false, false])
  })
})

describe("a key in a file", () => {
  it("leads to its value and its line, in every format", () => {
    const json = read("a.json", "{\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [1, 2] }]\n  },\n}")
    assert.deepEqual([json.at("hooks.Stop[0].hooks[1]"), json.line("hooks.Stop[0].hooks[1]")], [2, 3])
    assert.deepEqual([json.at("hooks.Other"), json.line("hooks.Other"), json.line("")], [
      undefined,
      undefined,
      undefined
    ])
    assert.strictEqual(json.at("plugin x: hooks.Stop[0].hooks[0]"), 1)
    assert.strictEqual(read("a.json", "\uFEFF{\n\"a\": 1}").line("a"), 2)
    assert.deepEqual([read("a.json", "").at("a"), read("a.json", "").line("a")], [undefined, undefined])
    const toml = read("a.toml", "[[hooks.Stop]]\nx = 1\n")
    assert.deepEqual([toml.at("hooks.Stop[0].x"), toml.line("hooks.Stop[0].x")], [1, undefined])
    assert.isUndefined(read("a.toml", "= 1").at("hooks"))
    assert.strictEqual(read("a.md", "---\nhooks:\n  Stop:\n    - 1\n---\ntext").at("hooks.Stop[0]"), 1)
    assert.strictEqual(read("a.md", "\uFEFF---\r\nhooks: 1\r\n---\r\n").at("hooks"), 1)
    assert.isUndefined(read("a.md", "text").at("constructor"))
    assert.isUndefined(toml.at("hooks.constructor"))
  })

  it("of an entry leads to its group", () => {
    assert.strictEqual(groupKey("hooks.Stop[0].hooks[1]"), "hooks.Stop[0]")
    assert.isUndefined(groupKey("hooks.Stop[0]"))
  })
})

describe("a text on a terminal", () => {
  it("is wrapped at words, with a margin", () => {
    assert.strictEqual(wrap("aa bb cc", "  ", 0), "  aa bb cc")
    assert.strictEqual(
      wrap(`${"a".repeat(10)} ${"b".repeat(9)} c`, "> ", 22),
      `> ${"a".repeat(10)} ${"b".repeat(9)}\n> c`
    )
    assert.strictEqual(wrap(`${"a".repeat(30)} b`, "", 20), `${"a".repeat(30)}\nb`)
    assert.strictEqual(wrap("", "  ", 80), "  ")
  })

  it("shows characters that a terminal would obey", () => {
    assert.strictEqual(
      plain("a\n\r\t\u0000\u001B\u00AD\u202E\u{E0001}b"),
      "a\\n\\r\\t\\x00\\x1b\\xad\\u{202e}\\u{e0001}b"
    )
    assert.strictEqual(visible("\"\u007F\u202E\""), "\"\\u007f\\u202e\"")
  })
})

describe("what an entry runs", () => {
  it.each<[work: object, line: string]>([
    [{ type: "command", command: "a b" }, "a b"],
    [
      { type: "command", command: "a", args: ["-x", "b c", "a@b%c+d=e:f,g./h", "\"", ""] },
      "a -x \"b c\" a@b%c+d=e:f,g./h \"\\\"\" \"\""
    ],
    [{ type: "http", url: "https://h" }, "POST https://h"],
    [{ type: "mcp_tool", server: "s", tool: "t" }, "s.t"],
    [{ type: "prompt", prompt: "p" }, "p"],
    [{ type: "agent", prompt: "p" }, "p"],
    [{ type: "other" }, ""]
  ])("%j is %j", (work, line) => assert.strictEqual(describeWork(work as never), line))

  it.each([
    ["/p/a", "a"],
    ["/p", "/p"],
    ["/h", "/h"],
    ["/h/a/b", "~/a/b"],
    ["/other", "/other"],
    ["/h/p/x", "x", "/h/p"]
  ])("at %j is %j", (path, shown, cwd = "/p") => assert.strictEqual(short(path, { cwd, home: "/h" }), shown))
})
