/** By what the values of secret sources are recognised. */
import { assert, describe, it } from "vitest"
import { leaks, secretsIn, withSecrets } from "../../../src/flow/internal/secrets.ts"
import { leavesOf } from "../../../src/flow/internal/text/leaves.ts"

const hash = (text: string) => text.padEnd(6, "_").slice(-6)
const isFound = (secret: string, text: string) =>
  leaks(text, [...secretsIn(leavesOf({ secret }), hash, () => false)].join(""), hash, () => false)

describe("a value of a secret source", () => {
  it("is recognised by a word of 8 letters, 3 characters with a digit, or words with 4 letters", () => {
    for (const secret of ["password", "a1b", "an ox"]) assert.isTrue(isFound(secret, `it is ${secret} here`), secret)
    for (const secret of ["home", "a1", "a b"]) assert.isFalse(isFound(secret, `it is ${secret} here`), secret)
  })

  it("is recognised in parts, with other characters between its letters, and encoded twice", () => {
    const secret = "xK9-trombone-4471-Quartz"
    const twice = btoa(btoa(secret))
    for (const text of ["xK9-trombone", "4471-Quartz", [...secret].join(" "), secret.replaceAll("-", ""), twice]) {
      assert.isTrue(isFound(secret, `it is ${text} here`), text)
    }
    assert.isFalse(isFound(secret, "it is a trombone, made in 1971"))
  })

  it("may be any that the person did not say, when there are more than can be kept", () => {
    const many = new Set(Array.from({ length: 9_000 }, (_, index) => String(index).padStart(6, "0")))
    const kept = withSecrets(withSecrets("", new Set([hash("s:first-1")])), many)
    assert.isTrue(leaks("first-1", kept, hash, () => false))
    assert.isFalse(leaks("first-1", kept, hash, () => true))
  })
})
