/** The names of accounts whose owner is erased. */
import { assert, describe, it } from "@effect/vitest"
import * as Erasure from "../../src/port/Erasure.ts"

describe("an account of somebody who is erased", () => {
  it("keeps its scope and its window, and loses its owner", () => {
    assert.match(
      Erasure.anonymousAccount("person:ada@1790000000000", ["ada"]) ?? "",
      /^person:erased-[\w-]{36}@1790000000000$/
    )
    assert.match(Erasure.anonymousAccount("person:ada", ["ada"]) ?? "", /^person:erased-[\w-]{36}$/)
  })

  it("is not that of somebody else", () => {
    for (const account of ["person:ada2", "person:bob", "ada", "person:"]) {
      assert.isUndefined(Erasure.anonymousAccount(account, ["ada"]), account)
    }
  })
})
