/** Secrets of every kind, and streams that contain them. */
import * as Secrets from "@belay/hooks/Secrets"
import { random } from "@belay/testing/SeededRandom"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chunks, stream } from "./guarded.ts"

/** Letters and digits that look random. Keys are built from parts, so that no scanner finds a key in this file. */
export const noise = (length: number, alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") => {
  const { below } = random(length)
  return Array.from({ length }, () => alphabet[below(alphabet.length)]!).join("")
}
const fake = (...parts: ReadonlyArray<string>) => parts.join("")
const pem = fake(
  "-----BEGIN RSA ",
  "PRIVATE KEY-----\n",
  `${noise(64)}\n`.repeat(12),
  "-----END RSA ",
  "PRIVATE KEY-----"
)
const encrypted = fake(
  "-----BEGIN ",
  "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
  noise(64),
  "\n-----END ",
  "PRIVATE KEY-----"
)

export const samples: ReadonlyArray<readonly [Secrets.Kind, secret: string]> = [
  ["openai-key", fake("sk", "-", noise(48))],
  ["openai-key", fake("sk", "-proj-", noise(120))],
  ["anthropic-key", fake("sk", "-ant-api03-", noise(95))],
  ["aws-key", fake("AK", "IA", noise(16, "ABCDEFGHIJKLMNOP234567"))],
  ["github-token", fake("gh", "p_", noise(36))],
  ["github-token", fake("github", "_pat_", noise(82))],
  ["gitlab-token", fake("gl", "pat-", noise(20))],
  ["slack-token", fake("xo", "xb-", noise(12, "0123456789"), "-", noise(24))],
  ["stripe-key", fake("sk", "_live_", noise(24))],
  ["google-key", fake("AI", "za", noise(35))],
  ["jwt", fake("ey", "J", noise(40), ".", noise(400), ".", noise(43))],
  ["private-key", pem],
  ["private-key", encrypted],
  ["private-key", pem.replaceAll("\n", "\\n")]
]

/** Streams every secret in pieces of at most these sizes, and checks that none of it is shown. */
export const staySecret = Effect.fnUntraced(function*(sizes: ReadonlyArray<number>) {
  for (const [index, [, secret]] of samples.entries()) {
    for (const size of sizes) {
      const text = `${"so ".repeat(20)}"${secret}" ${"and so on ".repeat(60)}`
      const { shown, text: whole } = yield* stream(Secrets.make(), chunks(text, index, size))
      const body = secret.slice(28)
      for (let at = 0; at + 12 <= body.length - 30; at += 6) assert.notInclude(shown, body.slice(at, at + 12))
      assert.isTrue(whole.startsWith(shown))
      assert.isTrue(whole.endsWith("and so on "))
    }
  }
})
