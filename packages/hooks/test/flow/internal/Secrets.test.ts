/** By what the values of secret sources are recognised. */
import { assert, describe, it } from "vitest"
import { leaks, secretsIn } from "../../../src/flow/internal/secrets.ts"
import { leavesOf } from "../../../src/flow/internal/text/leaves.ts"

const hash = (text: string) => text.padEnd(6, "_").slice(-6)
const isFound = (secret: string, text: string) =>
  leaks(text, [...secretsIn(leavesOf({ secret }), hash, () => false)].join(""), hash)

describe("a value of a secret source", () => {
  it("is recognised by a word of 8 letters, 3 characters with a digit, or words with 4 letters", () => {
    for (const secret of ["password", "a1b", "an ox"]) assert.isTrue(isFound(secret, `it is ${secret} here`), secret)
    for (const secret of ["home", "a1", "a b"]) assert.isFalse(isFound(secret, `it is ${secret} here`), secret)
  })
})
