import * as Secrets from "@belay/hooks/Secrets"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { chunks, stream } from "../support/guarded.ts"
import { noise, samples } from "../support/secrets.ts"

const names = [
  "api_key: ",
  "my-api-key=",
  "\"clientSecret\": \"",
  "client_secret = '",
  "token:",
  "PASSWORD= ",
  "pwd: ",
  "authorization: Bearer ",
  "Authorization: Basic ",
  "bearer ",
  "access_key:   "
]
const schemes = ["postgres://ada:", "mongodb+srv://ada:", "redis://:", "xmysql://root:"]
const webhook = `https://hooks.slack.com/services/T${noise(9, "0123456789")}/B${noise(9, "0123456789")}/${noise(24)}`

/** Text without a secret, with much that looks like the beginning of one. */
const fillers = [
  "so ",
  "Hello",
  "s",
  "sk",
  "sk-",
  " AK",
  "gh",
  "-----",
  "-----BEGIN ",
  "eyJ ",
  "pass",
  "\n",
  "é",
  "\"",
  ": ",
  " = "
]

/** A text of fillers and secrets, and its secrets. */
const sentence = (seed: number) => {
  const { below, pick } = random(seed)
  const short = samples.map(([, secret]) => secret).filter(({ length }) => length < 150)
  const secrets: Array<string> = []
  const add = (secret: string): string => {
    secrets.push(secret)
    return secret
  }
  const parts = Array.from({ length: 3 + below(30) }, () => {
    switch (below(8)) {
      case 0:
        return ` ${add(pick(short))} `
      case 1:
        return `${pick(names)}${add(`${noise(12 + below(20))}7$`)} `
      case 2:
        return `${pick(schemes)}${add(`p${noise(14 + below(9))}`)}@db.example.com/x `
      case 3:
        return `${webhook} `
      default:
        return pick(fillers)
    }
  })
  return { text: parts.join(""), secrets: [...secrets, webhook.slice(-24)] }
}

describe("Secrets in a stream", () => {
  it.effect.prop(
    "are the same as in the whole text, wherever it is cut",
    [Schema.Int, Schema.Int],
    ([seed, cut]) =>
      Effect.gen(function*() {
        const { secrets, text } = sentence(seed)
        const whole = yield* stream(Secrets.make(), [text])
        const pieces = chunks(text, cut, 1 + Math.abs(cut) % 30)
        const streamed = yield* stream(Secrets.make(), pieces)
        assert.strictEqual(streamed.text, whole.text)
        assert.isTrue(streamed.text.startsWith(streamed.shown))
        for (const secret of secrets) {
          if (!whole.text.includes(secret.slice(4, 12))) assert.notInclude(streamed.shown, secret.slice(4, 12))
        }
      }),
    { arbitrary: { runs: 400 } }
  )

  it.effect("stay secret directly behind another secret", () =>
    Effect.gen(function*() {
      const keys = samples.filter(([, secret]) => secret.length < 2_000)
      for (const [first, [kind, one]] of keys.entries()) {
        for (const [second, [other, two]] of keys.entries()) {
          for (const between of ["", "\n", " "]) {
            const text = `so ${one}${between}${two} and so on`
            const whole = yield* stream(Secrets.make(), [text])
            const { shown, text: streamed } = yield* stream(Secrets.make(), chunks(text, first * 31 + second, 40))
            const body = two.slice(0, -30)
            for (let at = 0; at + 14 <= body.length; at += 5) {
              const part = body.slice(at, at + 14)
              if (!whole.text.includes(part)) {
                assert.notInclude(shown, part, `${kind} ${JSON.stringify(between)} ${other}`)
              }
            }
            assert.isTrue(streamed.startsWith(shown))
            assert.isTrue(streamed.endsWith(" and so on"))
          }
        }
      }
    }))

  it.effect("leave the text behind a private key as it is", () =>
    Effect.gen(function*() {
      for (const [kind, secret] of samples) {
        if (kind !== "private-key") continue
        const text = `The key is\n${secret}\nThe key above is old`
        for (const size of [1, 7, 60, 5_000]) {
          const streamed = yield* stream(Secrets.make(), chunks(text, size, size))
          assert.strictEqual(streamed.text, "The key is\n[PRIVATE_KEY]\nThe key above is old")
          assert.isTrue(streamed.text.startsWith(streamed.shown))
        }
      }
    }))

  it.effect("that never end leave no sign of how they were cut", () =>
    Effect.gen(function*() {
      for (const [, secret] of samples) {
        for (const end of [Math.min(secret.length, 300), secret.length - 3]) {
          const { text } = yield* stream(Secrets.make(), chunks(`so ${secret.slice(0, end)}`, end, 30))
          assert.match(text, /^so [\x20-\x7e\n]*$/)
        }
      }
    }))

  it.effect("do not keep other text back", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "Hello",
          "The answer is 42.",
          "Hello World! ",
          "path/to/file.ts\n",
          "(x) => x + 1;",
          "das sei so"
        ]
      ) {
        const { shown } = yield* stream(Secrets.make(), [text])
        assert.strictEqual(shown, text)
      }
    }))

  it.effect("keep only what may become one", () =>
    Effect.gen(function*() {
      const kept = [
        ["Thanks", "ks"],
        ["a task", ""],
        ["so s", "s"],
        ["it is sk", "sk"],
        ["the password", "password"],
        ["the password: ", "password: "],
        ["the password is long", ""],
        ["redis://", "redis://"]
      ] as const
      for (const [text, tail] of kept) {
        const { shown } = yield* stream(Secrets.make(), [text])
        assert.strictEqual(shown, text.slice(0, text.length - tail.length), text)
      }
    }))

  it("keep every beginning of every secret", () => {
    const { hold } = Secrets.make()
    for (const [kind, secret] of samples) {
      for (let end = 1; end <= Math.min(secret.length, 240); end++) {
        const shown = typeof hold === "object" ? hold.from?.(`so ${secret.slice(0, end)}`) ?? Infinity : Infinity
        assert.isAtMost(shown, 3, `${kind}, ${end} characters`)
      }
    }
  })
})
