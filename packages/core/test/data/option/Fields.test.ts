import { defined } from "@belay/core/Fields"
import { assert, describe, it } from "vitest"

describe("defined", () => {
  it("leaves out fields that are undefined and keeps all others", () => {
    const fields = defined({ a: 1, b: undefined, c: null, d: "", e: false })
    assert.deepStrictEqual(fields, { a: 1, c: null, d: "", e: false } as never)
    assert.notProperty(fields, "b")
  })

  it("keeps a field `__proto__` as a field", () => {
    const fields = defined(JSON.parse(`{ "__proto__": { "isAdmin": true } }`) as object)
    assert.strictEqual(Object.getPrototypeOf(fields), Object.prototype)
    assert.isTrue(Object.hasOwn(fields, "__proto__"))
  })

  it("makes fields optional that can be undefined", () => {
    const title: string | undefined = ["first"].at(1)
    const label: { readonly id: number; readonly title?: string } = defined({ id: 1, title })
    assert.deepStrictEqual(label, { id: 1 })
  })
})
