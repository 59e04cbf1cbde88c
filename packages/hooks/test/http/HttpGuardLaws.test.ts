/** Laws for every URL and for every answer of a resolver. */
import * as Address from "@belay/hooks/Address"
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isIP } from "node:net"
import { answer, home, network, outcome, v4, v6 } from "../../../../test/support/http.ts"
import { bad } from "../support/addresses.ts"

const signs = Schema.Literals([
  "http:",
  "https:",
  "//",
  "/",
  "\\",
  "@",
  ":",
  ":80",
  ":443",
  "?",
  "#",
  ".",
  "%",
  "[",
  "]",
  "::1",
  "::ffff:",
  "127",
  "0x7f",
  "0177",
  "1",
  "example.com",
  "localhost",
  "\u3002",
  "\uff11",
  "\u00ad",
  "\t"
])

const policy: HttpGuard.Policy = { allowHttp: true, loopback: ["localhost:443"] }

/** Whether the target of a URL is consistent, and equal to what the URL parser of Node finds. */
const isSound = (url: string): boolean => {
  const result = HttpGuard.check(url, policy)
  if (Result.isFailure(result)) return result.failure.message.length < 400
  const { host, kind, origin, path, port, scheme } = result.success
  const again = new URL(`${origin}${path}`)
  assert.strictEqual(again.hostname.replace(/^\[|\]$/g, ""), host)
  assert.strictEqual(again.port === "" ? (scheme === "http" ? 80 : 443) : Number(again.port), port)
  assert.strictEqual(`${again.pathname}${again.search}`, path)
  assert.deepStrictEqual(HttpGuard.check(again.href, policy), result)
  if (kind === "loopback") return host === "localhost" && port === 443
  return kind === "address"
    ? isIP(host) !== 0 && Address.classify(host) === "public"
    : isIP(host) === 0 && Address.classify(host) === "name"
}

const address = Schema.Literals([
  home,
  "8.8.8.8",
  "2606:4700::1111",
  ...bad.map(([one]) => one),
  "::1",
  "fe80::1",
  "::ffff:10.0.0.1"
])

describe("laws of HttpGuard", () => {
  it.prop("reads any text in the same way as the URL parser of Node", [Schema.String], ([text]) => {
    for (const url of [text, `https://${text}`, `http://${text}.example.com/`, `https://example.com/${text}`]) {
      if (!isSound(url)) return false
    }
    return true
  }, { arbitrary: { runs: 500 } })

  it.prop(
    "reads any mixture of URL characters in the same way as the URL parser of Node",
    [Schema.Array(signs)],
    ([pieces]) => {
      const text = pieces.join("")
      return [text, `https://${text}`, `http://${text}`].every(isSound)
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.effect.prop(
    "connects to the addresses of a name only if all of them are public",
    [Schema.NonEmptyArray(address)],
    ([given]) =>
      Effect.gen(function*() {
        const answers = given.map((one) => one.includes(":") ? v6(one) : v4(one))
        const net = network({ "a.example.com": [answers] }, { [`${home}:80`]: answer(200, {}) })
        const guard = HttpGuard.make({ policy, resolve: net.resolve, connect: net.connect })
        const isPublic = given.every((one) => Address.classify(one) === "public")
        assert.strictEqual(
          yield* outcome(guard, "http://a.example.com/"),
          isPublic ? (given.includes(home) ? "200 " : "failed") : "refused: address"
        )
        const until = given.includes(home) ? given.indexOf(home) + 1 : given.length
        assert.deepStrictEqual(
          net.connected,
          isPublic
            ? [...new Set(given.slice(0, until))].map((one) => `${one}:80`)
            : []
        )
      }),
    { arbitrary: { runs: 300 } }
  )
})
