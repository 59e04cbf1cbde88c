/** Sentences with personal data, streamed in pieces through a redaction. */
import * as Redaction from "@belay/hooks/Redaction"
import { random } from "@belay/testing/SeededRandom"
import * as TestScope from "@belay/testing/TestScope"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chunks, contextOf, stream } from "./guarded.ts"

const values: ReadonlyArray<readonly [kind: Redaction.Kind, value: string]> = [
  ["email", "ada@example.com"],
  ["email", `${"a".repeat(60)}@${"b".repeat(50)}.example.com`],
  ["phone", "+49 170 1234567"],
  ["card", "4111 1111 1111 1111"],
  ["iban", "DE89 3704 0044 0532 0130 00"],
  ["ip", "2001:db8:85a3::8a2e:370:7334"],
  ["mac", "00:1B:44:11:3A:B7"],
  ["ssn", "123-45-6789"],
  ["url-credentials", "adalovelace:correct-horse"]
]
const fillers = ["The ", "answer is ", "😀👩‍👩‍👧 ", "é\u0301, ", "well\n", "— ", "𝒳 ", "in short ", "(so) ", "\ud83d "]
const sentence = (seed: number): { readonly text: string; readonly secrets: ReadonlyArray<string> } => {
  const { below, pick } = random(seed)
  const secrets: Array<string> = []
  const words = Array.from({ length: 2 + below(60) }, () => {
    if (below(5) > 0) return pick(fillers)
    const [kind, value] = pick(values)
    secrets.push(value)
    return kind === "url-credentials" ? `https://${value}@host.test/ ` : `${value} `
  })
  return { text: words.join(""), secrets }
}
/** The secrets of which eight characters in a row are shown. */
const leaks = (shown: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
  secrets.filter((secret) =>
    Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((part) => shown.includes(part))
  )

/** Checks that no strategy shows a value of the sentence, however it is cut, and that placeholders can be reversed. */
export const staysHidden = (sentenceSeed: number, cut: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { secrets, text } = sentence(sentenceSeed)
    for (const strategy of ["placeholder", "redact", "hash"] as const) {
      const hook = Redaction.make({ strategy })
      const streamed = yield* stream(hook, chunks(text, cut, 1 + Math.abs(cut) % 40))
      assert.deepEqual(leaks(streamed.text, secrets), [])
      assert.isTrue(streamed.text.startsWith(streamed.shown))
      if (strategy === "placeholder") {
        const revealed = hook.revealText!(streamed.text, contextOf(TestScope.make(), hook.name) as never)
        assert.strictEqual(revealed, text)
      }
    }
  })
