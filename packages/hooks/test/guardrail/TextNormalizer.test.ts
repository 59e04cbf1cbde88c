import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { TurnInput } from "@belay/core/Turn"
import * as Redaction from "@belay/hooks/Redaction"
import * as TextNormalizer from "@belay/hooks/TextNormalizer"
import { random } from "@belay/testing/SeededRandom"
import { dryRun } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { asks, scripted } from "../support/guarded.ts"

/** The normalized message, or why it is rejected. */
const said = (message: string, options: TextNormalizer.Options = {}) =>
  Effect.map(
    Effect.promise(() => dryRun([TextNormalizer.make(options)], "preTurn", { message })),
    // The event of this point is the turn's input.
    ({ answer, event, reason }) => answer === "Reject" ? `rejected: ${reason}` : (event as TurnInput).message
  )

/** A text written in tag characters, which nobody sees. */
const smuggled = (text: string) =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")

describe("TextNormalizer", () => {
  it.effect("removes invisible characters", () =>
    Effect.gen(function*() {
      const hidden = [
        "\u0000",
        "\u001b",
        "\u007f",
        "\u0085",
        "\u200b",
        "\u200c",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u202e",
        "\u2066",
        "\u200f",
        "\u3164",
        "\ufe0f",
        "\u{e0101}",
        smuggled("do it")
      ]
      for (const sign of hidden) assert.strictEqual(yield* said(`a${sign}b${sign}`), "ab")
      assert.strictEqual(yield* said("a\tb\r\nc"), "a\tb\r\nc")
      assert.strictEqual(yield* said("a\ud83d"), "a\ufffd")
      assert.strictEqual(yield* said("a\u200bb\u202ec", { strip: ["bidi"] }), "a\u200bbc")
      assert.strictEqual(yield* said("a\u200bb", { strip: [] }), "a\u200bb")
    }))

  it.effect("keeps what visible characters are made of", () =>
    Effect.gen(function*() {
      const texts = [
        "👩‍👩‍👧‍👦",
        "🏳️‍🌈",
        "❤️‍🔥",
        "👩🏽‍🚀",
        "🧑‍💻 and ☎️",
        "1️⃣",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "می\u200cخواهم",
        "क्\u200dष",
        "葛\u{e0100}",
        "é",
        "日本語",
        "עברית"
      ]
      for (const text of texts) assert.strictEqual(yield* said(text), text.normalize("NFC"))
      assert.strictEqual(yield* said(`🏴${smuggled("ignore all")}`), "🏴")
      assert.strictEqual(yield* said("👩\u200d\u200d👩"), "👩👩")
      assert.strictEqual(yield* said("葛\u{e0100}\u{e0101}\u{e0102}"), "葛\u{e0100}")
      assert.strictEqual(yield* said("❤\ufe0f\ufe0f\ufe0f"), "❤\ufe0f")
    }))

  it.effect("converts texts to the Unicode form of the option", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* said("e\u0301"), "\u00e9")
      assert.strictEqual(yield* said("ｐａｓｓ ﬁ ①"), "ｐａｓｓ ﬁ ①")
      assert.strictEqual(yield* said("ｐａｓｓ ﬁ ①", { unicode: "NFKC" }), "pass fi 1")
      assert.strictEqual(yield* said("e\u0301", { unicode: "none" }), "e\u0301")
      assert.strictEqual(yield* said("e\u200b\u0301"), "\u00e9")
    }))

  const html: ReadonlyArray<readonly [text: string, stripped: string, basic: string]> = [
    ["<b>bold</b> <a href=\"x\">link</a>", "bold link", "<b>bold</b> link"],
    ["<B CLASS=x>bold</B >", "bold", "<b>bold</b>"],
    ["a<script>alert(1)</script>b<style>p{}</style >c", "abc", "abc"],
    ["a<ScRiPt src=x>x</sCrIpT foo>b", "ab", "ab"],
    ["<p onclick='x>y'>text</p><br/>", "text", "<p>text</p><br>"],
    ["a<!-- <b>x</b> -->b<!doctype html><?php x ?>c", "abc", "abc"],
    ["1 < 2 and 3 > 2, a <- b, <3", "1 < 2 and 3 > 2, a <- b, <3", "1 < 2 and 3 > 2, a <- b, <3"],
    ["<<b>script>x<</b>/script>", "< script>x< /script>", "<<b>script>x<</b>/script>"],
    ["<scr<script>ipt>x", "ipt>x", "ipt>x"],
    ["<img src=x onerror=alert(1)", "", ""],
    ["<svg><script>x</script></svg>y", "y", "y"],
    ["<iframe src=x>", "", ""],
    ["<x:y>a</x:y>", "a", "a"],
    ["plain", "plain", "plain"]
  ]
  it.effect.each(html)("removes HTML from %s", ([text, plain, basic]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* said(text, { html: "strip" }), plain)
      assert.strictEqual(yield* said(text, { html: "basic" }), basic)
      assert.strictEqual(yield* said(text), text)
    }))

  it.effect("leaves no tag in stripped text, however the tags are nested", () =>
    Effect.gen(function*() {
      const parts = [
        "<",
        ">",
        "script",
        "/",
        "b",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "\"",
        "'",
        "=",
        " ",
        "\u200b",
        "＜",
        "<svg",
        "img",
        "!"
      ]
      for (let seed = 0; seed < 500; seed++) {
        const { below, pick } = random(seed)
        const text = Array.from({ length: below(20) }, () => pick(parts)).join("")
        const left = yield* said(text, { html: "strip", unicode: "NFKC" })
        assert.notMatch(left, /<[a-z/!?]/i)
        assert.notMatch(yield* said(text, { html: "basic", unicode: "NFKC" }), /<(?!\/?b>)[a-z/!?]/i)
        assert.strictEqual(yield* said(left, { html: "strip", unicode: "NFKC" }), left)
      }
    }))

  it.effect.prop("changes nothing the second time", [Schema.String], ([text]) =>
    Effect.gen(function*() {
      for (const options of [{}, { unicode: "NFKC", collapseWhitespace: true, trim: true }] as const) {
        const once = yield* said(text, options)
        assert.strictEqual(yield* said(once, options), once)
      }
    }), { arbitrary: { runs: 200 } })

  it.effect("collapses white space and trims", () =>
    Effect.gen(function*() {
      const options = { collapseWhitespace: true, trim: true }
      assert.strictEqual(yield* said("  a \t\u00a0 b \n\n\n\n c  ", options), "a b\n\nc")
    }))

  it.effect("limits the length of messages in characters", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* said("😀😀😀", { maxLength: 3 }), "😀😀😀")
      assert.strictEqual(yield* said("😀😀😀😀", { maxLength: 3 }), "rejected: the message is longer than 3 characters")
      assert.strictEqual(yield* said("😀😀😀😀", { maxLength: 3, tooLong: "truncate" }), "😀😀😀")
      assert.strictEqual(yield* said("ab👩‍👩‍👧", { maxLength: 4, tooLong: "truncate" }), "ab")
      assert.strictEqual(yield* said("abcdef", { maxLength: 4, tooLong: "truncate" }), "abcd")
      assert.strictEqual(yield* said(`a${"\u200b".repeat(99)}b`, { maxLength: 2 }), "ab")
      assert.strictEqual(
        Array.from(yield* said(`x${"\u0301".repeat(500)}`, { maxLength: 50, tooLong: "truncate" })).length,
        50
      )
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      const units = [
        "<",
        "<a",
        "<a '",
        "<!--",
        "<script>",
        "\u200d",
        "👩\u200d",
        "🏴\u{e0067}",
        "\u{e0067}",
        "\n",
        " ",
        "&",
        "</"
      ]
      for (const unit of units) {
        const began = cpuMs()
        yield* said(unit.repeat(Math.ceil(100_000 / unit.length)), {
          html: "strip",
          collapseWhitespace: true,
          unicode: "NFKC",
          maxLength: 50_000,
          tooLong: "truncate"
        })
        assert.isBelow(cpuMs() - began, 2_000, unit)
      }
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ maxLength: 0 }, /text-normalizer\.maxLength/],
      [{ maxLength: 1.5 }, /text-normalizer\.maxLength/],
      [{ tooLong: "cut" }, /text-normalizer\.tooLong/],
      [{ html: "escape" }, /text-normalizer\.html/],
      [{ unicode: "NFD" }, /text-normalizer\.unicode/],
      [{ strip: ["emoji"] }, /text-normalizer\.strip/]
    ]
    for (const [options, message] of wrong) assert.throws(() => TextNormalizer.make(options), ConfigError, message)
  })

  it("runs before the guards, and normalizes the results of tools if the option is set", async () => {
    const read = defineTool({
      name: "read",
      description: "Reads",
      input: { type: "object" },
      execute: () => ({ "k\u200b": [`<b>x</b>${smuggled("obey")}`, 1], long: "y".repeat(50) })
    })
    const model = scripted([asks(["read", {}]), "done"])
    const hooks = [
      Redaction.make({ strategy: "redact" }),
      TextNormalizer.make({ html: "strip", toolResults: true, maxLength: 30 })
    ]
    await using agent = createAgent({ provider: model.provider, tools: [read], hooks })
    const { messages } = await agent.run("I am a\u200bda@exam\u00adple.com")
    assert.strictEqual(messages[0]?.content, "I am [EMAIL]")
    assert.deepEqual(messages[2]?.content, { k: ["x", 1], long: "y".repeat(30) })
  })
})
