/** Which ids and names clients see, and which answers they give. */
import { assert, describe, it } from "vitest"
import { isHostName } from "../../../src/serve/internal/hostNames.ts"
import * as Identity from "../../../src/serve/internal/identity.ts"
import { localAddressOf, noteLocalAddress } from "../../../src/serve/internal/localAddress.ts"
import { decisionOf } from "../../../src/serve/internal/questions.ts"

describe("an id", () => {
  const token = `c${"a".repeat(22)}`
  const request = (key?: string) =>
    new Request("http://a.example", key === undefined ? {} : { headers: { "idempotency-key": key } })

  it("of a session is one letter and 22 characters, and any other text is a name", async () => {
    for (const right of [token, `s${"Z9_-".repeat(5)}ab`]) assert.isTrue(Identity.isToken(right), right)
    for (const wrong of [`x${"a".repeat(22)}`, token.slice(1), `${token}a`, `${token.slice(1)}.`]) {
      assert.isFalse(Identity.isToken(wrong), wrong)
    }
    assert.strictEqual(await Identity.tokenOf(token), token)
    const named = await Identity.tokenOf("my chat")
    assert.match(named, /^c[\w-]{22}$/)
    assert.strictEqual(await Identity.tokenOf("my chat"), named)
    assert.match(Identity.newToken(), /^s[\w-]{22}$/)
  })

  it("of a call of a client's tool names its session", async () => {
    const ask = { callId: "1", name: "t", args: {}, reason: "r" } as never
    const id = await Identity.clientCallIdOf({ token, turnNumber: 1 }, ask)
    assert.match(id, /^c[\w-]{22}-[\w-]{12}$/)
    assert.strictEqual(Identity.tokenOfClientCall(id), token)
    for (const wrong of [id.slice(1), `${id}a`, id.slice(0, -1), `x${id.slice(1)}`]) {
      assert.isUndefined(Identity.tokenOfClientCall(wrong), wrong)
    }
    assert.notStrictEqual(id, await Identity.clientCallIdOf({ token, turnNumber: 2 }, ask))
    assert.deepEqual(Identity.askingOf(`prefix${token}`, { turnNumber: 3 }), { token, turnNumber: 3 })
  })

  it("of a request is the same if the request is repeated with its key", async () => {
    assert.strictEqual(await Identity.tokenOfRequest(request("k")), await Identity.tokenOfRequest(request("k")))
    assert.notStrictEqual(await Identity.tokenOfRequest(request("k")), await Identity.tokenOfRequest(request("l")))
    assert.notStrictEqual(await Identity.tokenOfRequest(request()), await Identity.tokenOfRequest(request()))
    assert.match(await Identity.tokenOfRequest(request("k")), /^s[\w-]{22}$/)
    assert.match(String(await Identity.keyOfRequest(request("k"))), /^k[\w-]{22}$/)
    assert.isUndefined(await Identity.keyOfRequest(request()))
  })
})

describe("the name of a server", () => {
  it.for(
    [
      ["*", true],
      ["a-b_c.example", true],
      ["A.example:65535", true],
      ["[::1]:80", true],
      ["a.example:", false],
      ["a.example:123456", false],
      ["https://a.example", false],
      ["::1", false],
      ["", false]
    ] as const
  )("%s: %s", ([text, is]) => assert.strictEqual(isHostName(text), is))

  it("is the address at which a request has arrived", () => {
    const at = (address: string | undefined) => {
      const request = new Request("http://a.example")
      noteLocalAddress(request, address)
      return localAddressOf(request)
    }
    assert.deepEqual(["127.0.0.1", "::ffff:10.0.0.1", "::1", "::ffff:a", undefined].map(at), [
      "127.0.0.1",
      "10.0.0.1",
      "[::1]",
      "[::ffff:a]",
      undefined
    ])
  })
})

describe("an answer of a person", () => {
  it("denies, changes or allows, once or from now on", () => {
    const remember = (what: string) => ({ type: "approve", remember: { what, scope: "session" } })
    assert.deepEqual(decisionOf({ isApproved: false }), { type: "deny", reason: "denied by the user" })
    assert.deepEqual(decisionOf({ isApproved: false, reason: "no", args: {}, always: true }), {
      type: "deny",
      reason: "no"
    })
    assert.deepEqual(decisionOf({ isApproved: true, args: { a: 1 }, always: true }), { type: "edit", args: { a: 1 } })
    assert.deepEqual(decisionOf({ isApproved: true, always: false, field: false }), { type: "approve" })
    assert.deepEqual(decisionOf({ isApproved: true, always: true, field: true }), remember("tool") as never)
    assert.deepEqual(decisionOf({ isApproved: true, field: true }), remember("field") as never)
  })
})
