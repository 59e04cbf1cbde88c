import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import { success } from "@belay/core/Tool"
import * as Redaction from "@belay/hooks/Redaction"
import { random } from "@belay/testing/SeededRandom"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { answer, call, request } from "../../../../test/support/events.ts"

const every: ReadonlyArray<Redaction.Kind> = [
  "email",
  "phone",
  "card",
  "iban",
  "ip",
  "mac",
  "url-credentials",
  "ssn",
  "url",
  "wallet",
  "passport",
  "birth-date"
]

const mail = "ada@example.com"
const card = "4111 1111 1111 1111"
const iban = "DE89 3704 0044 0532 0130 00"

/** What becomes of a message. */
const said = (options: Redaction.Options, message: string) =>
  Effect.map(
    HookChain.makeUnsafe([Redaction.make(options)]).run("preTurn", { message }, TestScope.make()),
    ({ action, event }) => action._tag === "Reject" ? `rejected: ${action.reason}` : event.message
  )

const kindOf = (kind: Redaction.Kind, text: string) => said({ kinds: [kind], strategy: "redact" }, text)

describe("what Redaction finds", () => {
  const finds: ReadonlyArray<readonly [Redaction.Kind, text: string, left: string]> = [
    ["email", `write to ${mail}.`, "write to [EMAIL]."],
    ["email", "a.b+c_d%e@mail.example.co.uk, mailto:x@y.de", "[EMAIL], mailto:[EMAIL]"],
    ["email", "'jürgen@müller.example' <zoë@exämple.com>", "'[EMAIL]' <[EMAIL]>"],
    ["phone", "call +49 170 1234567 or +1 (212) 555-0123!", "call [PHONE] or [PHONE]!"],
    ["phone", "+33123456789, 0044 20 7946 0958", "[PHONE], [PHONE]"],
    ["phone", "(212) 555-0123, 212-555-0123, 212.555.0123, 1-212-555-0123", "[PHONE], [PHONE], [PHONE], [PHONE]"],
    [
      "phone",
      "+49 170 1234567 4111 1111 1111 1111, 0151 234567 0170 234567",
      "[PHONE] 4111 1111 1111 1111, [PHONE] [PHONE]"
    ],
    ["phone", "tel_+49 170 1234567_x, 0151 23456789 (212) 555-0123", "tel_[PHONE]_x, [PHONE] [PHONE]"],
    ["card", "+49 170 1234567 0151 23456789", "+49 170 1234567 0151 23456789"],
    ["phone", "030 1234567, 0151/23456789, 01 23 45 67 89, 020 7946 0958", "[PHONE], [PHONE], [PHONE], [PHONE]"],
    ["card", `${card}, 4111111111111111, 4111-1111-1111-1111`, "[CARD], [CARD], [CARD]"],
    ["card", "3782 822463 10005 and 5555555555554444", "[CARD] and [CARD]"],
    ["card", "order 2026 4111 1111 1111 1111 4 pieces", "order 2026 [CARD] 4 pieces"],
    ["card", "4111\u00a01111\u00a01111\u00a01111", "[CARD]"],
    ["iban", `${iban} is mine`, "[IBAN] is mine"],
    ["iban", "GB82WEST12345698765432, fr14 2004 1010 0505 0001 3m02 606", "[IBAN], [IBAN]"],
    ["iban", `room AB12 is next to ${iban}`, "room AB12 is next to [IBAN]"],
    ["ip", "from 203.0.113.9, 2001:db8::1 and ::ffff:10.0.0.1.", "from [IP], [IP] and [IP]."],
    ["mac", "00:1B:44:11:3A:B7, 00-1b-44-11-3a-b7, 001b.4411.3ab7", "[MAC], [MAC], [MAC]"],
    [
      "url-credentials",
      "https://ada:pass@word@example.com/x and ftp://:p@h",
      "https://[URL_CREDENTIALS]@example.com/x and ftp://[URL_CREDENTIALS]@h"
    ],
    ["ssn", "123-45-6789 123-45-6789, 123 45 6789", "[SSN] [SSN], [SSN]"],
    ["url", "see https://example.com/a?b=c#d now", "see [URL] now"],
    ["wallet", `pay 0x${"ab".repeat(20)}`, "pay [WALLET]"],
    ["passport", "Passport no. C01234567, passport 123456789", "Passport no. [PASSPORT], passport [PASSPORT]"],
    ["birth-date", "born on 1815-12-10, DOB: 10.12.1815", "born on [BIRTH_DATE], DOB: [BIRTH_DATE]"]
  ]
  it.effect.each(finds)(
    "%s in %s",
    ([kind, text, left]) => Effect.map(kindOf(kind, text), (found) => assert.strictEqual(found, left))
  )

  const leaves: ReadonlyArray<readonly [Redaction.Kind, text: string]> = [
    ["email", "@example.com, ada@, ada@localhost, a @ b.c, @media screen"],
    [
      "phone",
      "2026-11-21 10:30, 01.02.2026 10:30, 21.11.2026, 12345678, 1.2.3.4, order 0123456789, v10.20.30, ISBN 978-3-16-148410-0"
    ],
    ["card", "4111 1111 1111 1112, 14111111111111111, 1234567890123456, 41111111111111111111111, 0000 0000 0000 0000"],
    ["iban", "DE89 3704 0044 0532 0130 01, XX89370400440532013000, DE8937040044053201300099"],
    ["ip", "1.2.3, 1.2.3.4.5, 256.1.1.1, 12:30:45, a::b::c, std::vector"],
    ["mac", "00:1B:44:11:3A, 00:1B:44:11:3A:B7:99, 2001:db8::1"],
    ["url-credentials", "https://example.com/a:b@c, git@example.com:x, https://git@example.com"],
    ["ssn", "000-12-3456, 666-12-3456, 912-12-3456, 123-00-4567, 123-45-0000, 1123-45-6789, 123-45-67890"],
    ["wallet", "0x1234, 1234567890"],
    ["passport", "C01234567, the passport is blue"],
    ["birth-date", "1815-12-10, on 10.12.1815"]
  ]
  it.effect.each(leaves)(
    "finds no %s in %s",
    ([kind, text]) => Effect.map(kindOf(kind, text), (found) => assert.strictEqual(found, text))
  )

  it.effect("finds values next to each other, in any order", () =>
    Effect.gen(function*() {
      const values = [
        mail,
        "+49 170 1234567",
        card,
        "5555555555554444",
        iban,
        "2001:db8:85a3::8a2e:370:7334",
        "203.0.113.99",
        "00:1B:44:11:3A:B7",
        "123-45-6789",
        "(212) 555-0123",
        "GB82WEST12345698765432",
        "0151 23456789"
      ]
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "redact" })])
      for (let seed = 0; seed < 3_000; seed++) {
        const { below, pick } = random(seed)
        const used = Array.from({ length: 2 + below(4) }, () => pick(values))
        const message = used.join(pick([" ", ", ", "\n", "; ", "|", "\t", " and "]))
        const { event } = yield* chain.run("preTurn", { message }, TestScope.make())
        assert.notMatch(event.message, /\d{3}|@/, message)
      }
    }))

  it.effect("never mistakes a part of one value for another value", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* said({ strategy: "redact" }, "https://ada:pw@example.com"),
        "https://[URL_CREDENTIALS]@example.com"
      )
      const detectors = [{ kind: "client", find: "client ada@\\w+" }]
      assert.strictEqual(yield* said({ strategy: "redact", detectors }, `client ${mail}`), "[CLIENT].com")
    }))

  it.effect("accepts custom detectors with patterns, functions and validators", () =>
    Effect.gen(function*() {
      const detectors: ReadonlyArray<Redaction.Detector> = [
        { kind: "employee", find: "E-\\d{4}", validate: (value) => value !== "E-0000", strategy: "mask" },
        { kind: "name", find: (text) => text.startsWith("Ada") ? [{ start: 0, end: 3 }] : [] }
      ]
      assert.strictEqual(
        yield* said({ kinds: [], detectors, strategy: "redact" }, "Ada is E-1815, not E-0000"),
        "[NAME] is ****, not E-0000"
      )
    }))

  it.effect("rejects the message, without quoting it, when a detector throws or returns invalid ranges", () =>
    Effect.gen(function*() {
      const breaks: ReadonlyArray<Redaction.Detector["find"]> = [
        (text) => {
          throw new Error(text)
        },
        () => [{ start: 5, end: 2 }],
        () => [{ start: 0, end: 1e9 }],
        () => null as never
      ]
      for (const find of breaks) {
        const found = yield* said({ detectors: [{ kind: "own", find }] }, mail)
        assert.strictEqual(found, "rejected: hook redaction failed at preTurn (threw): the detector of own failed")
      }
    }))

  it.effect("keeps allowed values", () =>
    Effect.gen(function*() {
      const options: Redaction.Options = {
        strategy: "redact",
        allow: ["@example\\.org$", (value) => value === "127.0.0.1"]
      }
      assert.strictEqual(
        yield* said(options, `help@example.org, ${mail}, 127.0.0.1`),
        "help@example.org, [EMAIL], 127.0.0.1"
      )
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      const units = [
        "a",
        "a@",
        "1 ",
        "4111",
        "1.",
        ":",
        "a:",
        "ab12 ",
        "+1",
        "(0",
        "a.",
        "://a:",
        "<",
        "-",
        "é",
        "born ",
        "0x",
        "@a.",
        "https://u:p"
      ]
      const chain = HookChain.makeUnsafe([Redaction.make({ kinds: every, strategy: "redact" })])
      const time = Effect.fnUntraced(function*(message: string) {
        const began = cpuMs()
        yield* chain.run("preTurn", { message }, TestScope.make())
        return cpuMs() - began
      })
      for (const unit of units) {
        const text = unit.repeat(Math.ceil(100_000 / unit.length))
        yield* time(text.slice(0, 10_000))
        assert.isBelow(yield* time(text), 2_000, unit)
      }
    }))
})

describe("what Redaction does", () => {
  it.effect("blocks, redacts, masks, hashes and replaces", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* said({ kinds: { card: "block" } }, `my card ${card}`),
        "rejected: CARD is not allowed in a message"
      )
      assert.strictEqual(yield* said({ kinds: { card: "redact" } }, card), "[CARD]")
      assert.strictEqual(yield* said({ kinds: { card: "mask" } }, card), "****1111")
      assert.match(yield* said({ kinds: { card: "hash" } }, `${card}`), /^\[CARD:[0-9a-f]{8}\]$/)
      assert.strictEqual(yield* said({}, `${mail}, bob@example.com, ${mail}`), "<EMAIL_1>, <EMAIL_2>, <EMAIL_1>")
    }))

  it.effect("hashes equal values equally in a session, and differently in two", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "hash" })])
      const one = yield* chain.run("preTurn", { message: `${mail} ${mail}` }, TestScope.make())
      const [first, second] = one.event.message.split(" ")
      assert.strictEqual(first, second)
      const other = yield* chain.run("preTurn", { message: mail }, TestScope.make({ sessionId: "session-2" }))
      assert.notStrictEqual(other.event.message, first)
    }))

  it.effect("removes values from JSON: nested, in keys, in numbers, under hostile names", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "redact" })])
      const args: Json = JSON.parse(
        `{"a":[{"b":"${mail}"}],"${mail}":1,"bob@example.com":2,"card":4111111111111111,"n":42,"__proto__":"${mail}","constructor":{"x":null}}`
      )
      const { event } = yield* chain.run("preToolCall", call("any", args), TestScope.make())
      assert.strictEqual(
        JSON.stringify(event.args),
        `{"a":[{"b":"[EMAIL]"}],"[EMAIL]":1,"[EMAIL] (2)":2,"card":"[CARD]","n":42,"__proto__":"[EMAIL]","constructor":{"x":null}}`
      )
      assert.isUndefined(({} as { b?: unknown }).b)
    }))

  it.effect("searches only in the places of the option", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ places: ["input"] })])
      assert.isFalse(chain.has("postLlmCall"))
      assert.isFalse(chain.has("preToolCall"))
      assert.strictEqual((yield* chain.run("preTurn", { message: mail }, TestScope.make())).event.message, "<EMAIL_1>")
    }))

  it.effect("reports the kind, the place and the number of findings, but never the value", () =>
    Effect.gen(function*() {
      const heard: Array<Redaction.Detection> = []
      const hook = Redaction.make({
        onDetection: (found) => {
          heard.push(found)
          throw new Error("ignored")
        }
      })
      const chain = HookChain.makeUnsafe([hook])
      yield* chain.run("preTurn", { message: `${mail} ${mail} ${iban}` }, TestScope.make())
      yield* chain.run("postLlmCall", answer({ text: "x@y.de" }), TestScope.make())
      assert.deepEqual(heard, [
        { kind: "email", place: "input", count: 2, sessionId: "session-1" },
        { kind: "iban", place: "input", count: 1, sessionId: "session-1" },
        { kind: "email", place: "output", count: 1, sessionId: "session-1" }
      ])
    }))

  it.effect("replaces what only the reasoning or only the refusal of an answer says", () =>
    Effect.gen(function*() {
      for (const part of ["text", "reasoning", "refusal"] as const) {
        const chain = HookChain.makeUnsafe([Redaction.make()])
        const outcome = yield* chain.run("postLlmCall", answer({ text: "", [part]: mail }), TestScope.make())
        assert.strictEqual(outcome.event.response[part], "<EMAIL_1>")
      }
    }))

  it.effect("checks the changes of later hooks too", () =>
    Effect.gen(function*() {
      const later = defineHook({
        name: "later",
        preTurn: (input) => HookAction.transform({ ...input, message: `${input.message} bob@example.com` })
      })
      const once = defineHook({
        name: "once",
        preTurn: ({ message }) => HookAction.replace({ message: `${message}!` })
      })
      const { event } = yield* HookChain.makeUnsafe([later, Redaction.make(), once]).run(
        "preTurn",
        { message: `${mail} <EMAIL_1>` },
        TestScope.make()
      )
      assert.strictEqual(event.message, "<EMAIL_1> <PII_TEXT_1> <EMAIL_2>!")
    }))

  it.effect("takes no placeholder that a person writes into a message to the running turn for one", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make()])
      const scope = TestScope.make()
      yield* chain.run("preTurn", { message: mail }, scope)
      const { event } = yield* chain.run("preTurn", { message: "mail <EMAIL_1>", steer: true }, scope)
      assert.strictEqual(event.message, "mail <PII_TEXT_1>")
    }))

  it.effect("blocks answers, arguments and results too", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ kinds: { card: "block" } })])
      const reason = (outcome: { readonly action: { readonly _tag: string; readonly reason?: string } }) =>
        outcome.action.reason
      assert.strictEqual(
        reason(yield* chain.run("postLlmCall", answer({ text: card }), TestScope.make())),
        "CARD is not allowed in an answer"
      )
      assert.strictEqual(
        reason(yield* chain.run("preToolCall", call("pay", { card }), TestScope.make())),
        "CARD is not allowed in the arguments of a tool"
      )
      const result = {
        call: call("pay"),
        tool: call("pay").tool,
        result: success({ card }),
        elapsedMs: 1,
        executed: true
      }
      const after = yield* chain.run("postToolCall", result, TestScope.make())
      assert.deepEqual(after.event.result, {
        ok: false,
        error: "the result of pay was withheld: CARD is not allowed in the result of a tool"
      })
    }))

  it.effect("redacts blocked values in the history, so that a session can continue", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ kinds: { card: "block" } })])
      const { event } = yield* chain.run(
        "preLlmCall",
        { ...request(), messages: [{ role: "user", content: card }] },
        TestScope.make()
      )
      assert.deepEqual(event.messages, [{ role: "user", content: "[CARD]" }])
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [Redaction.Options, RegExp]> = [
      [{ kinds: ["e-mail" as never] }, /redaction\.kinds: expected one of url-credentials, .*, found "e-mail"/],
      [{ kinds: ["__proto__" as never] }, /redaction\.kinds/],
      [{ kinds: [] }, /redaction\.kinds: expected at least one kind/],
      [{ strategy: "hide" as never }, /redaction\.strategy: expected one of block, .*, found "hide"/],
      [{ kinds: { email: "hide" as never } }, /redaction\.strategy/],
      [
        { detectors: [{ kind: "Own", find: "x" }] },
        /redaction\.detectors\[0\]\.kind: expected lower-case .*, found "Own"/
      ],
      [{ detectors: [{ kind: "email", find: "x" }] }, /redaction\.detectors\[0\]: the kind "email" exists already/],
      [
        { detectors: [{ kind: "own", find: "(?=x)" }] },
        /redaction\.detectors\[0\]\.find: expected an RE2 pattern, found "\(\?=x\)"/
      ],
      [{ detectors: [{ kind: "own", find: "x", maxLength: 0 }] }, /maxLength/],
      [{ detectors: [{ find: "x" } as never] }, /redaction\.detectors\[0\]\.kind/],
      [{ places: [] }, /redaction\.places: expected at least one place/],
      [{ places: ["tool-results" as never] }, /redaction\.places: expected one of .*, found "tool-results"/],
      [{ allow: ["("] }, /redaction\.allow\[0\]/],
      [{ vault: { key: new Uint8Array(16) } }, /redaction\.vault\.key: expected 32 bytes/],
      [{ hold: { chars: 10 } }, /redaction\.hold\.chars: expected a number from \d+, found 10/]
    ]
    for (const [options, message] of wrong) assert.throws(() => Redaction.make(options), ConfigError, message)
    assert.throws(() => Redaction.make({ name: "mine", kinds: [] }), ConfigError, /mine\.kinds/)
  })

  it.effect("does nothing if it is disabled, and changes nothing as a shadow", () =>
    Effect.gen(function*() {
      assert.deepEqual(
        Object.keys(Redaction.make({ enabled: false })).filter((key) => /^(on|pre|post|wrap|reveal|hold)/.test(key)),
        []
      )
      const shadow = Redaction.make({ mode: "shadow" })
      assert.isUndefined(shadow.wrapToolCall)
      assert.isUndefined(shadow.hold)
      assert.strictEqual(
        (yield* HookChain.makeUnsafe([shadow]).run("preTurn", { message: mail }, TestScope.make())).event.message,
        mail
      )
    }))
})
