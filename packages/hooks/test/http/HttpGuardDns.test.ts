/**
 * Names that lead where they should not, and redirects that do. A resolver and a network in memory: nothing is
 * connected to.
 */
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { answer, type Handler, network, outcome, says, v4, v6 } from "../../../../test/support/http.ts"

const home = "93.184.215.14"
const other = "93.184.215.15"
const six = "2606:4700::1111"

/** What the resolver says, how the request ends, and what is connected to. */
const scenarios: ReadonlyArray<
  readonly [what: string, answers: ReadonlyArray<unknown> | Error, ends: string, connected: ReadonlyArray<string>]
> = [
  ["one address", [v4(home)], "200 here", [home]],
  ["an address of IPv6", [v6(six)], "200 here", [six]],
  ["two, of which the first does not answer", [v4(other), v4(home)], "200 here", [other, home]],
  ["both families", [v6(six), v4(home)], "200 here", [six]],
  ["the same address twice", [v4(other), v4(other)], "failed", [other]],
  ["a public address inside one of IPv6", [v6(`::ffff:${home}`)], "failed", [`::ffff:${home}`]],
  ["nobody there", [v4(other)], "failed", [other]],
  ["no addresses", [], "failed", []],
  ["no such name", new Error("ENOTFOUND"), "failed", []],
  ["a server that fails", new Error("EAI_AGAIN"), "failed", []],
  ...([
    ["loopback", [v4("127.0.0.1")]],
    ["loopback of IPv6", [v6("::1")]],
    ["this host", [v4("0.0.0.0")]],
    ["any address", [v6("::")]],
    ["a private address", [v4("10.0.0.1")]],
    ["a private address, second block", [v4("172.20.0.1")]],
    ["a private address, third block", [v4("192.168.1.1")]],
    ["carrier-grade NAT", [v4("100.64.0.1")]],
    ["metadata", [v4("169.254.169.254")]],
    ["metadata of another cloud", [v4("100.100.100.200")]],
    ["a wire server", [v4("168.63.129.16")]],
    ["metadata of IPv6", [v6("fd00:ec2::254")]],
    ["unique local addresses", [v6("fd12::1")]],
    ["link-local addresses", [v6("fe80::1")]],
    ["a zone", [v6("fe80::1%eth0")]],
    ["a zone behind a public address", [v6(`${six}%eth0`)]],
    ["multicast", [v4("224.0.0.1")]],
    ["broadcast", [v4("255.255.255.255")]],
    ["a mapped private address", [v6("::ffff:10.0.0.1")]],
    ["a mapped private address in hexadecimal", [v6("::ffff:a00:1")]],
    ["a translated private address", [v6("64:ff9b::a00:1")]],
    ["6to4 of a private address", [v6("2002:a00:1::")]],
    ["a public address, then a private one", [v4(home), v4("10.0.0.1")]],
    ["a private address, then a public one", [v4("10.0.0.1"), v4(home)]],
    ["a public one of IPv4 and a private one of IPv6", [v4(home), v6("fd12::1")]],
    ["one bad among many", [...Array.from({ length: 20 }, () => v4(home)), v4("127.0.0.1")]],
    ["too many", Array.from({ length: 65 }, () => v4(home))],
    ["a family that does not fit", [{ address: home, family: 6 }]],
    ["no family", [{ address: home }]],
    ["a name for an address", [v4("example.com")]],
    ["a name for this machine", [v4("localhost")]],
    ["another spelling", [v4("0x7f.1")]],
    ["another spelling of a public address", [v4("0x5db8d70e")]],
    ["a port behind it", [v4(`${home}:80`)]],
    ["brackets", [v6(`[${six}]`)]],
    ["nothing", [undefined]],
    ["texts", [home]],
    ["a number", [{ address: 1_572_395_790, family: 4 }]],
    ["an address that is an object", [{ address: { toString: () => home }, family: 4 }]],
    ["a space", [v4(` ${home}`)]]
  ] as const).map(([what, answers]) => [what, answers, "refused: address", []] as const)
]

describe("names that HttpGuard resolves", () => {
  it.effect.each(scenarios)("%s", ([, answers, ends, connected]) =>
    Effect.gen(function*() {
      const here = answer(200, {}, "here")
      const net = network({ "a.example.com": [answers] }, { [`${home}:80`]: here, [`${six}:80`]: here })
      const guard = HttpGuard.make({ policy: { allowHttp: true }, resolve: net.resolve, connect: net.connect })
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/"), ends)
      assert.deepStrictEqual(net.connected, connected.map((address) => `${address}:80`))
      assert.deepStrictEqual(net.resolved, ["a.example.com"])
    }))

  it.effect("resolves a name once, so that a different second answer has no effect", () =>
    Effect.gen(function*() {
      const net = network({ "a.example.com": [[v4(other), v4(home)], [v4("127.0.0.1")]] }, {
        [`${home}:80`]: answer(200, {}, "here")
      })
      const guard = HttpGuard.make({ policy: { allowHttp: true }, resolve: net.resolve, connect: net.connect })
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/x?y"), "200 here")
      assert.deepStrictEqual(net.resolved, ["a.example.com"])
      assert.match(net.heads[0]!, /^GET \/x\?y HTTP\/1\.1\r\nhost: a\.example\.com\r\n/)
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/x?y"), "refused: address")
    }))

  it.effect("resolves the checked name, and does not resolve addresses", () =>
    Effect.gen(function*() {
      const net = network({ "xn--bcher-kva.example": [[v4(home)]] }, { [`${home}:8080`]: answer(200, {}, "here") })
      const guard = HttpGuard.make({ policy: { allowHttp: true }, resolve: net.resolve, connect: net.connect })
      assert.strictEqual(yield* outcome(guard, "http://BÜCHER.example.:8080"), "200 here")
      assert.strictEqual(yield* outcome(guard, `http://${home}:8080`), "200 here")
      assert.deepStrictEqual(net.resolved, ["xn--bcher-kva.example"])
      assert.match(net.heads[0]!, /\r\nhost: xn--bcher-kva\.example:8080\r\n/)
    }))

  it.effect("checks an address again before it connects", () =>
    Effect.gen(function*() {
      for (const afterReads of [1, 2, 3]) {
        let reads = 0
        const net = network({
          "a.example.com": [[{
            get address() {
              return ++reads > afterReads ? "127.0.0.1" : home
            },
            family: 4
          }]]
        })
        const guard = HttpGuard.make({
          policy: { allowHttp: true, loopback: ["127.0.0.1:80"] },
          resolve: net.resolve,
          connect: net.connect
        })
        assert.notInclude(yield* outcome(guard, "http://a.example.com/"), "200")
        assert.notInclude(net.connected, "127.0.0.1:80")
      }
    }))

  it.effect("does not wait for a resolver or a connector that never answers", () =>
    Effect.gen(function*() {
      const never = () => new Promise<never>(() => {})
      const stubborn = () => Effect.uninterruptible(Effect.never)
      const net = network({ "a.example.com": [[v4(home)]] })
      for (const options of [{ resolve: never }, { resolve: stubborn }, { connect: never }, { connect: stubborn }]) {
        const guard = HttpGuard.make({
          policy: { allowHttp: true },
          resolve: net.resolve,
          connect: net.connect,
          timeoutMs: 5_000,
          ...options
        })
        const fiber = yield* Effect.forkChild(outcome(guard, "http://a.example.com/"), { startImmediately: true })
        yield* TestClock.adjust(4_999)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* Fiber.join(fiber), "failed")
      }
    }))

  it.effect("shares the time between addresses that do not answer", () =>
    Effect.gen(function*() {
      const net = network({ "a.example.com": [[v4(other), v4(home)]] }, { [`${home}:80`]: answer(200, {}, "here") })
      const guard = HttpGuard.make({
        policy: { allowHttp: true },
        resolve: net.resolve,
        connect: (peer) => peer.address === other ? Effect.never : net.connect(peer)
      })
      const fiber = yield* Effect.forkChild(outcome(guard, "http://a.example.com/"), { startImmediately: true })
      yield* TestClock.adjust(5_000)
      assert.strictEqual(yield* Fiber.join(fiber), "200 here")
    }))

  it.effect("treats an exception of a resolver or a connector like any other failure", () =>
    Effect.gen(function*() {
      const net = network({ "a.example.com": [[v4(home)]] })
      const broken = () => (undefined as never as { readonly x: never }).x
      for (
        const options of [
          { resolve: broken },
          { connect: broken },
          { resolve: () => Effect.die("x") },
          { connect: () => Effect.die("x") },
          {
            connect: () => Effect.interrupt
          }
        ]
      ) {
        const guard = HttpGuard.make({
          policy: { allowHttp: true },
          resolve: net.resolve,
          connect: net.connect,
          ...options
        })
        assert.strictEqual(yield* outcome(guard, "http://a.example.com/"), "failed")
      }
    }))
})

const to = (location: string, status = 302): Handler => answer(status, { Location: location })

/** Where a server redirects to, and how the request ends when redirects are followed. */
const redirects: ReadonlyArray<readonly [what: string, handler: Handler, ends: string]> = [
  ...[301, 302, 303, 307, 308].map((status) =>
    [`${status} to another path`, to("/next", status), "200 GET /next"] as const
  ),
  ["to a relative path", to("next?a=b"), "200 GET /next?a=b"],
  ["to another host", to("http://b.example.com/"), "200 b"],
  ["to another host, without a scheme", to("//b.example.com/"), "200 b"],
  ["to https", to("https://b.example.com/"), "failed"],
  ["no location", answer(302, {}, "stay"), "302 stay"],
  ["304", answer(304, { Location: "/next" }), "304 "],
  ["300", answer(300, { Location: "/next" }, "choose"), "300 choose"],
  ["a Refresh header", answer(200, { Refresh: "0; url=http://127.0.0.1/" }, "stay"), "200 stay"],
  ["a Content-Location header", answer(200, { "Content-Location": "http://127.0.0.1/" }, "stay"), "200 stay"],
  ["a loop", to("/"), "refused: redirect"],
  [
    "two locations",
    says("HTTP/1.1 302 F\r\nLocation: /next\r\nLocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n"),
    "refused: redirect"
  ],
  [
    "a line break in the location",
    says("HTTP/1.1 302 F\r\nLocation: /\r\n http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n"),
    "failed"
  ],
  ["to a name that leads inside", to("http://inside.example.com/"), "refused: address"],
  ["to a name that nobody has", to("http://nobody.example.com/"), "failed"],
  ...[
    "http://127.0.0.1/",
    "http://localhost/",
    "http://localhost:3000/",
    "http://[::1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://0x7f.1/",
    "//10.0.0.1/",
    "http:10.0.0.1/",
    "http:///10.0.0.1/",
    "///10.0.0.1/",
    "http://user@b.example.com/",
    "http://b.example.com@127.0.0.1/",
    "file:///etc/passwd",
    "ftp://b.example.com/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "http://b.example.com:22/",
    "http://b.example.com:0/",
    "\\\\127.0.0.1\\x",
    "/\\127.0.0.1/",
    "http://b.example.com/a b",
    "http://b.ex\u00e4mple.com/",
    "http://[",
    "http://b.example.com%00.example.org/",
    `http://b.example.com/${"a".repeat(9_000)}`
  ].map((location) =>
    [
      `to ${location.slice(0, 60)}`,
      says(Buffer.from(`HTTP/1.1 302 F\r\nLocation: ${location}\r\ncontent-length: 0\r\n\r\n`, "latin1")),
      "refused: redirect"
    ] as const
  )
]

const served = (handler: Handler) => {
  const { connect, ...net } = network(
    { "a.example.com": [[v4(home)]], "b.example.com": [[v4(other)]], "inside.example.com": [[v4("10.0.0.1")]] },
    {
      [`${home}:80`]: (head, socket) =>
        /^\S+ \/next/.test(head) ? answer(200, {}, /^\S+ \S+/.exec(head)![0])(head, socket) : handler(head, socket),
      [`${other}:80`]: answer(200, {}, "b")
    }
  )
  const make = (options: HttpGuard.Options = {}) =>
    HttpGuard.make({
      policy: { allowHttp: true, loopback: ["localhost:3000"] },
      resolve: net.resolve,
      connect,
      maxRedirects: 3,
      ...options
    })
  return { ...net, make }
}

describe("redirects", () => {
  it.effect.each(redirects)("%s", ([, handler, ends]) =>
    Effect.gen(function*() {
      const net = served(handler)
      assert.strictEqual(yield* outcome(net.make(), "http://a.example.com/"), ends)
      for (const one of net.connected) assert.match(one, /^93\.184\.215\.1[45]:(80|443)$/)
    }))

  it.effect("are refused unless `maxRedirects` allows them", () =>
    Effect.gen(function*() {
      for (const status of [301, 302, 303, 307, 308]) {
        const net = served(to("/next", status))
        const error = yield* Effect.flip(net.make({ maxRedirects: 0 }).request("http://a.example.com/"))
        assert.strictEqual(
          error.message,
          "http://a.example.com redirects, and the redirect is not followed: redirects are not allowed"
        )
        assert.lengthOf(net.connected, 1)
      }
    }))

  it.effect("are followed at most `maxRedirects` times, each over a new connection", () =>
    Effect.gen(function*() {
      const steps: Handler = (head, socket) => {
        const at = Number(/^GET \/(\d*)/.exec(head)![1])
        return (at === 3 ? answer(200, {}, "third") : to(`/${at + 1}`))(head, socket)
      }
      const net = served(steps)
      assert.strictEqual(yield* outcome(net.make({ maxRedirects: 3 }), "http://a.example.com/"), "200 third")
      assert.lengthOf(net.connected, 4)
      // Looked up again: what was checked for one request is not believed for the next.
      assert.lengthOf(net.resolved, 4)
      assert.strictEqual(yield* outcome(net.make({ maxRedirects: 2 }), "http://a.example.com/"), "refused: redirect")
    }))

  it.effect("keep the headers only within the same origin", () =>
    Effect.gen(function*() {
      const headers = { authorization: "Bearer not-a-real-token", "x-a": "1", cookie: "a=b" }
      const inside = served(to("/next"))
      yield* outcome(inside.make(), "http://a.example.com/", { headers })
      assert.include(inside.heads[1]!, "not-a-real-token")
      for (const location of ["http://b.example.com/", "//b.example.com/"]) {
        const outside = served(to(location))
        assert.strictEqual(yield* outcome(outside.make(), "http://a.example.com/", { headers }), "200 b")
        assert.notMatch(outside.heads[1]!, /authorization|x-a|cookie/i)
        assert.match(outside.heads[1]!, /host: b\.example\.com/)
      }
    }))

  it.effect("become a GET where HTTP requires it, and never send a body to another origin", () =>
    Effect.gen(function*() {
      const post: HttpGuard.Init = { method: "POST", body: "secret", headers: { "content-type": "text/plain" } }
      const cases: ReadonlyArray<readonly [status: number, init: HttpGuard.Init, location: string, ends: string]> = [
        [301, post, "/next", "200 GET /next"],
        [302, post, "/next", "200 GET /next"],
        [303, post, "/next", "200 GET /next"],
        [307, post, "/next", "200 POST /next"],
        [308, post, "/next", "200 POST /next"],
        [302, { ...post, method: "PUT" }, "/next", "200 PUT /next"],
        [303, { ...post, method: "PUT" }, "/next", "200 GET /next"],
        [303, { method: "HEAD" }, "/next", "200 "],
        [307, post, "http://b.example.com/", "refused: redirect"],
        [308, post, "http://b.example.com/", "refused: redirect"],
        [302, post, "http://b.example.com/", "200 b"]
      ]
      for (const [status, init, location, ends] of cases) {
        const net = served(to(location, status))
        assert.strictEqual(yield* outcome(net.make(), "http://a.example.com/", init), ends, `${status} ${location}`)
        assert.lengthOf(
          net.heads.filter((head) => head.includes("secret")),
          /20. (POST|PUT)/.test(ends) ? 2 : init.body === undefined ? 0 : 1
        )
        // A request without a body has no headers that describe one.
        const describe = net.heads.filter((head) => /^content-/im.test(head))
        assert.lengthOf(describe, /20. (POST|PUT)/.test(ends) ? 2 : init.body === undefined ? 0 : 1, ends)
      }
    }))
})
