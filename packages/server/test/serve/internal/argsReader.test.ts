/** The arguments of calls in the history of a client. */
import { assert, describe, it } from "vitest"
import { argsReader } from "../../../src/serve/internal/chat/readChat.ts"

describe("the arguments of the calls of one request", () => {
  it("are JSON as long as all together are not too long, and text after that", () => {
    const read = argsReader(20)
    const args = "{\"a\":1}"
    assert.deepStrictEqual([read(args), read(args)], [{ a: 1 }, { a: 1 }])
    assert.deepStrictEqual([read(args), read("{}")], [args, "{}"])
    assert.strictEqual(argsReader(20)("not JSON"), "not JSON")
  })
})
