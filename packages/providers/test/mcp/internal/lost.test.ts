import { assert, describe, it } from "@effect/vitest"
import { fateOf } from "../../../src/mcp/internal/lost.ts"

const failed = (message: string, code?: string): TypeError =>
  Object.assign(new TypeError(message), code === undefined ? {} : { code })

describe("the fate of a call whose connection failed", () => {
  it("is known from the errors of fetch in Node, Bun and Deno", () => {
    const socket = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
    assert.strictEqual(fateOf(new TypeError("fetch failed", { cause: socket })), "unknown")
    assert.strictEqual(
      fateOf(failed("ECONNRESET: The socket connection was closed unexpectedly", "ECONNRESET")),
      "unknown"
    )
    assert.strictEqual(fateOf(failed("getaddrinfo ENOTFOUND no.such.host.invalid", "ENOTFOUND")), "not-sent")
    assert.strictEqual(fateOf(failed("fetch failed")), "unknown")
  })

  it("is nothing for an error that is not about the connection", () => {
    assert.isUndefined(fateOf(failed("Invalid URL", "ERR_INVALID_URL")))
    assert.isUndefined(fateOf(failed("undefined is not a function")))
  })
})
