/** Sessions as files of lines: whole, cut off anywhere, damaged anywhere, newer, and hostile. */
import * as HookState from "@belay/core/HookState"
import { whyInvalid } from "@belay/core/Message"
import type { RunState } from "@belay/core/RunState"
import * as SessionFile from "@belay/providers/SessionFile"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const call = (id: string) => ({ id, name: "look", args: { at: id } })
const state: RunState = {
  version: 3,
  sessionId: "session-1",
  revision: 9,
  turnNumber: 3,
  stepNumber: 2,
  coreType: "tool-loop",
  input: { message: "go" },
  phase: "tools",
  messages: [
    { role: "user", content: "line\nbreak \u2028 \ud83d 👋" },
    { role: "assistant", content: "", toolCalls: [call("a"), call("b")] },
    { role: "tool", toolCallId: "a", toolName: "look", content: { seen: [1, null] } },
    { role: "tool", toolCallId: "b", toolName: "look", content: "no", isError: true },
    { role: "assistant", content: "so" }
  ],
  open: { role: "assistant", content: "", toolCalls: [call("c")] },
  calls: [{ call: call("c"), status: "asked" }],
  injections: [],
  usage: { inputTokens: 1, outputTokens: 2 },
  counts: { llmCalls: 2, toolCalls: 2, followUps: 0, elapsedMs: 3 },
  hookState: HookState.make({ constructor: 1 }).snapshot()
}
const records = [{ point: "preTurn" }, { point: "postTurn" }]
const text = SessionFile.exportJsonl(state, records)
const lines = text.trimEnd().split("\n")

const refused = (given: string) => Effect.flip(SessionFile.importJsonl(given))
const withLine = (index: number, line: string) =>
  [...lines.slice(0, index), line, ...lines.slice(index + 1)].join("\n") + "\n"

describe("a session file", () => {
  it.effect("is read back unchanged", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* SessionFile.importJsonl(text), { state, records })
      assert.deepStrictEqual(
        (yield* SessionFile.importJsonl(SessionFile.exportJsonl({ ...state, messages: [] }))).state.messages,
        []
      )
    }))

  it.effect("has to be a text", () =>
    Effect.gen(function*() {
      for (const given of [undefined, null, 5, {}]) {
        assert.strictEqual((yield* refused(given as never)).problem, "not-a-session-file")
      }
    }))

  it("has a header, a line for each message and record, and the state at the end", () => {
    assert.deepStrictEqual(lines.map((line) => (JSON.parse(line) as { readonly type: string }).type), [
      "session",
      ...state.messages.map(() => "message"),
      "record",
      "record",
      "state"
    ])
    assert.deepStrictEqual(JSON.parse(lines[0]!), {
      type: "session",
      version: 1,
      sessionId: "session-1",
      revision: 9,
      turnNumber: 3,
      coreType: "tool-loop",
      messages: 5
    })
    assert.isFalse(lines.at(-1)!.includes("line\\nbreak"))
  })

  it.effect("can have been saved by an editor of another system", () =>
    Effect.map(
      SessionFile.importJsonl(`\uFEFF${text.replaceAll("\n", "\r\n")}`),
      (imported) => assert.deepStrictEqual(imported, { state, records })
    ))

  it.effect("that was cut off is read up to there, and says so", () =>
    Effect.gen(function*() {
      const first = lines[0]!.length
      for (let length = first; length < text.length - 1; length++) {
        const { state: kept, torn } = yield* SessionFile.importJsonl(text.slice(0, length))
        assert.match(
          torn ?? "",
          /^(line \d+ is torn|the file ends after line \d+, before its state): \d of 5 messages are kept, the state is lost$/
        )
        assert.isUndefined(whyInvalid(kept.messages))
        assert.deepStrictEqual(kept.messages, state.messages.slice(0, kept.messages.length))
        assert.deepStrictEqual([kept.phase, kept.sessionId, kept.revision, kept.turnNumber], [
          "ended",
          "session-1",
          9,
          3
        ])
      }
      const { state: most } = yield* SessionFile.importJsonl(text.slice(0, -2))
      assert.deepStrictEqual(most.messages, state.messages)
    }))

  it.effect.each<readonly [what: string, entries: ReadonlyArray<string | undefined>, kept: number]>([
    ["a result is missing", [lines[1], lines[2], lines[4], lines[5]], 1],
    ["all results are missing", [lines[1], lines[2], lines[5]], 1],
    ["an id is used twice", [...lines.slice(1, 6), lines[2], lines[3], lines[4]], 5],
    ["a result follows no call", [lines[1], lines[3]], 1]
  ])(
    "that was cut off, and in which %s, is kept up to there",
    ([, entries, kept]) =>
      Effect.map(
        SessionFile.importJsonl([lines[0], ...entries, "{\"type"].join("\n")),
        ({ state: { messages }, torn }) => {
          assert.lengthOf(messages, kept)
          assert.isUndefined(whyInvalid(messages))
          assert.match(torn ?? "", new RegExp(`: ${kept} of 5 messages are kept`))
        }
      )
  )

  it.effect("that was cut off in its header is refused", () =>
    Effect.gen(function*() {
      for (let length = 0; length < lines[0]!.length; length++) {
        assert.deepInclude(yield* refused(text.slice(0, length)), {
          _tag: "SessionFileError",
          problem: "not-a-session-file",
          line: 1
        })
      }
    }))

  it.effect.each<readonly [given: string, line: number, message: RegExp]>([
    [withLine(2, "{\"type\":\"mess"), 3, /^line 3 is not JSON: /],
    [withLine(2, ""), 3, /^line 3 is not JSON: /],
    [
      withLine(3, "{\"type\":\"message\",\"message\":{\"role\":\"system\",\"content\":\"\"}}"),
      4,
      /^line 4 is not a message, record or state$/
    ],
    [withLine(3, "null"), 4, /^line 4 is not a message, record or state$/],
    [withLine(6, "{\"type\":\"note\",\"record\":1}"), 7, /^line 7 is not a message, record or state$/],
    [withLine(6, "{\"type\":\"record\"}"), 7, /^line 7 is not a message, record or state$/],
    [
      withLine(3, lines[4]!),
      9,
      /^line 9 follows messages that are not a valid conversation: message 2: expected the result of a, found b$/
    ],
    [
      [...lines.slice(0, 5), ...lines.slice(6)].join("\n"),
      8,
      /^line 8 follows 4 messages, there were 5: lines are missing$/
    ],
    [[lines[0], lines[6], ...lines.slice(1)].join("\n"), 3, /^line 3 is a message after the records$/],
    [`${text}${lines[6]}\n`, 10, /^line 10 follows the state, which is the end$/],
    [
      withLine(8, lines[8]!.replace("session-1", "session-2")),
      9,
      /^line 9 is the state of session session-2, not of session-1$/
    ],
    [withLine(8, lines[8]!.replace("\"tools\"", "\"thinking\"")), 9, /^line 9: not a run snapshot: .*phase/s],
    [
      withLine(2, `{"type":"record","record":${"[".repeat(5000)}${"]".repeat(5000)}}`),
      3,
      /^line 3 is not valid: .*deeper/
    ]
  ])(
    "that is damaged is refused with the line (%#)",
    ([given, line, message]) =>
      Effect.map(refused(given), (error) => {
        assert.deepInclude(error, { problem: "corrupt", line })
        assert.match(error.message, message)
      })
  )

  it.effect("of another kind is refused, whatever version it has", () =>
    Effect.gen(function*() {
      const headers = ["{\"type\":\"session\"}", "{\"type\":\"notebook\",\"version\":9}", "[1]", "null", "go"]
      for (const header of [...headers, lines[0]!.replace("\"version\":1", "\"version\":0")]) {
        const { line, message, problem } = yield* refused(withLine(0, header))
        assert.deepStrictEqual([problem, line, message], [
          "not-a-session-file",
          1,
          "line 1 is not the header of a session file"
        ])
      }
    }))

  it.effect("of a newer version is refused, with what to do", () =>
    Effect.gen(function*() {
      const file = yield* refused(withLine(0, lines[0]!.replace("\"version\":1", "\"version\":2")))
      assert.deepInclude(file, {
        problem: "newer-version",
        line: 1,
        message: "the file has version 2, and this Belay reads up to version 1: import it with a newer Belay"
      })
      assert.deepInclude(yield* refused(withLine(8, lines[8]!.replace("\"version\":3", "\"version\":4"))), {
        problem: "newer-version",
        line: 9
      })
    }))

  it.effect("keeps hostile keys as keys", () =>
    Effect.gen(function*() {
      const hostile = text.replace(
        "{\"at\":\"a\"}",
        "{\"__proto__\":{\"polluted\":1},\"constructor\":{\"name\":\"x\"}}"
      )
      const { state: back } = yield* SessionFile.importJsonl(hostile)
      assert.isUndefined(({} as { readonly polluted?: unknown }).polluted)
      assert.strictEqual(back.messages.length, 5)
    }))
})
