import { ConfigError, type PortFailed } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { vi } from "vitest"
import { answer, facing, head, home, loopback, outcome, says } from "../../../../test/support/http.ts"

describe("requests and answers of HttpGuard", () => {
  it.effect("sends a request and reads the answer, and closes the connection", () =>
    Effect.gen(function*() {
      const heads: Array<string> = []
      const server = yield* loopback((head, socket) => {
        heads.push(head)
        socket.end(
          `HTTP/1.1 418 Teapot\r\nX-A: 1\r\nx-a: 2\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 5\r\n\r\nh\u00c3\u00a9!!`,
          "latin1"
        )
      })
      const guard = HttpGuard.make({ policy: { loopback: [server.host] } })
      const got = yield* guard.request(`http://${server.host}/a/b?c=d#e`, {
        method: "post",
        body: "é",
        headers: { "X-B": "c" }
      })
      assert.deepStrictEqual({ ...got, headers: Object.entries(got.headers) }, {
        status: 418,
        headers: [["x-a", "1, 2"], ["__proto__", "x"], ["constructor", "y"], ["content-length", "5"]],
        body: "hé!!",
        url: `http://${server.host}/a/b?c=d`
      })
      assert.strictEqual(({} as { readonly x?: string }).x, undefined)
      assert.strictEqual(
        heads[0],
        `POST /a/b?c=d HTTP/1.1\r\nhost: ${server.host}\r\nconnection: close\r\naccept-encoding: gzip, deflate, br\r\nx-b: c\r\ncontent-length: 2\r\n\r\n\u00c3\u00a9`
      )
    }))

  it.effect("decodes bodies", () =>
    Effect.gen(function*() {
      const text = "ümläut ".repeat(1_000)
      const encodings: ReadonlyArray<readonly [string, Uint8Array]> = [
        ["gzip", gzipSync(text)],
        ["X-GZIP", gzipSync(text)],
        ["deflate", deflateSync(text)],
        ["br", brotliCompressSync(text)],
        ["identity", Buffer.from(text)]
      ]
      for (const [encoding, bytes] of encodings) {
        const { guard } = facing(answer(200, { "Content-Encoding": encoding }, bytes))
        assert.strictEqual((yield* guard.request("http://a.example.com/")).body, text, encoding)
      }
      for (const status of [200, 204, 304]) {
        const { guard } = facing(answer(status, { "content-encoding": "gzip" }))
        assert.strictEqual(yield* outcome(guard, "http://a.example.com/"), `${status} `)
      }
      const { guard } = facing(says(head("content-encoding: gzip", "content-length: 1000")))
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/", { method: "HEAD" }), "200 ")
    }))

  it.effect("refuses headers that change the framing or the destination of the request", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<HttpGuard.Init> = [
        { method: "CONNECT" },
        { method: "TRACE" },
        { method: "GET / HTTP/1.1\r\nx: y" },
        { method: "" },
        { body: "a GET with a body" },
        { method: "HEAD", body: "a HEAD with a body" },
        ...[
          "Host",
          "content-length",
          "Transfer-Encoding",
          "connection",
          "upgrade",
          "Proxy-Authorization",
          "expect",
          "te",
          "trailer"
        ].map((
          name
        ) => ({
          headers: { [name]: "1" }
        })),
        ...["a b", "a:", "a\r\nb", "", "ä", "a\u0000", "__proto__", "Constructor"].map((name) => ({
          headers: { [name]: "1" }
        })),
        ...["a\r\nb: c", "a\nb", "a\u0000", "日本", 1 as never, null as never].map((value) => ({
          headers: { a: value }
        })),
        { headers: { a: "1", A: "2" } }
      ]
      for (const init of bad) {
        const { connected, guard } = facing(answer(200, {}))
        assert.strictEqual(
          yield* outcome(guard, "http://a.example.com/", init),
          "refused: request",
          JSON.stringify(init)
        )
        assert.deepStrictEqual(connected, [])
      }
    }))

  it.effect("refuses hosts and ports that are not listed, with the reason", () =>
    Effect.gen(function*() {
      const policy: HttpGuard.Policy = {
        hosts: ["api.example.com", "*.docs.example.com", "bücher.example", home],
        ports: [443, 8443],
        loopback: ["localhost:3000", "[::1]:9"]
      }
      const fine = [
        "https://api.example.com/",
        "https://API.example.com.:8443/",
        "https://a.docs.example.com",
        "https://xn--bcher-kva.example",
        `https://${home}`,
        "http://localhost:3000/x",
        "https://localhost:3000",
        "http://LOCALHOST:3000",
        "http://[::1]:9"
      ]
      for (const url of fine) assert.isTrue(Result.isSuccess(HttpGuard.check(url, policy)), url)
      const refusals: ReadonlyArray<readonly [url: string, reason: string, message: string]> = [
        ["https://example.com", "host", "https://example.com may not be requested: the host is not allowed"],
        ["https://docs.example.com", "host", "https://docs.example.com may not be requested: the host is not allowed"],
        [
          "https://evilapi.example.com",
          "host",
          "https://evilapi.example.com may not be requested: the host is not allowed"
        ],
        [
          "https://api.example.com:444",
          "port",
          "https://api.example.com:444 may not be requested: the port 444 is not allowed"
        ],
        [
          "http://api.example.com",
          "scheme",
          "http://api.example.com may not be requested: the scheme http is not allowed"
        ],
        ["ftp://api.example.com", "scheme", "a URL may not be requested: the scheme ftp is not allowed"],
        [
          "https://u:secret@api.example.com",
          "userinfo",
          "a URL may not be requested: it has a user name in front of its host"
        ],
        ["https://10.0.0.1/secret", "address", "https://10.0.0.1 may not be requested: it is a private address"],
        ["http://localhost:3001", "address", "http://localhost:3001 may not be requested: it is a loopback address"],
        ["http://127.0.0.1:3000", "address", "http://127.0.0.1:3000 may not be requested: it is a loopback address"],
        ["secret", "url", "a URL may not be requested: it is not a URL such as https://example.com/path"]
      ]
      for (const [url, reason, message] of refusals) {
        const { failure } = HttpGuard.check(url, policy) as Result.Failure<never, HttpGuard.HttpRefused>
        assert.deepStrictEqual([failure.reason, failure.message], [reason, message])
      }
      for (const url of [undefined, null, 1, {}, [], { toString: () => "https://api.example.com" }]) {
        assert.isTrue(Result.isFailure(HttpGuard.check(url as never, policy)))
      }
      // This machine is tried under both of its addresses, and no resolver is asked.
      const connected: Array<string> = []
      const guard = HttpGuard.make({
        policy,
        resolve: () => Effect.die("not for localhost"),
        connect: async ({ address }) => {
          connected.push(address)
          throw new Error("refused")
        }
      })
      assert.strictEqual(yield* outcome(guard, "http://localhost:3000"), "failed")
      assert.deepStrictEqual(connected, ["127.0.0.1", "::1"])
    }))

  it.effect("keeps parallel requests apart", () =>
    Effect.gen(function*() {
      const server = yield* loopback((head, socket) => answer(200, {}, /^GET (\S+)/.exec(head)![1]!)(head, socket))
      const guard = HttpGuard.make({ policy: { loopback: [server.host] } })
      const paths = Array.from({ length: 50 }, (_, index) => `/${index}`)
      const all = yield* Effect.forEach(paths, (path) => outcome(guard, `http://${server.host}${path}`), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(all, paths.map((path) => `200 ${path}`))
    }))
})

describe("HttpGuard.make", () => {
  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [HttpGuard.Options, RegExp]> = [
      [{ maxRedirects: 4 }, /http-guard\.maxRedirects: expected a whole number from 0 to 3, found 4/],
      [{ maxRedirects: -1 }, /maxRedirects/],
      [{ timeoutMs: 0 }, /timeoutMs/],
      [{ timeoutMs: Number.NaN }, /timeoutMs/],
      [{ maxBodyBytes: 1.5 }, /maxBodyBytes/],
      [{ maxHeaderBytes: 0 }, /maxHeaderBytes/],
      [{ policy: { hosts: ["*"] } }, /http-guard\.policy\.hosts: expected a public host .*, found "\*"/],
      [{ policy: { hosts: ["https://example.com"] } }, /hosts/],
      [{ policy: { hosts: ["example.com:80"] } }, /hosts/],
      [{ policy: { hosts: ["localhost"] } }, /hosts/],
      [{ policy: { hosts: ["10.0.0.1"] } }, /hosts/],
      [{ policy: { hosts: ["*.8.8.8.8"] } }, /hosts/],
      [{ policy: { hosts: ["*.*.example.com"] } }, /hosts/],
      [{ policy: { ports: [0] } }, /ports/],
      [{ policy: { ports: [22] } }, /ports/],
      [{ policy: { ports: [65_536] } }, /ports/],
      [
        { policy: { loopback: ["localhost"] } },
        /http-guard\.policy\.loopback: expected localhost:PORT, .*, found "localhost"/
      ],
      [{ policy: { loopback: ["10.0.0.1:80"] } }, /loopback/],
      [{ policy: { loopback: ["127.0.0.2:80"] } }, /loopback/],
      [{ policy: { loopback: ["a.localhost:80"] } }, /loopback/],
      [{ policy: { loopback: ["127.0.0.1:0"] } }, /loopback/],
      [{ policy: { loopback: ["127.0.0.1:65536"] } }, /loopback/],
      [{ policy: { loopback: ["::1:80"] } }, /loopback/]
    ]
    for (const [options, message] of wrong) assert.throws(() => HttpGuard.make(options), ConfigError, message)
    assert.throws(() => HttpGuard.check("https://example.com", { ports: [25] }), ConfigError)
    assert.throws(() => HttpGuard.client({ timeoutMs: -1 }), ConfigError)
  })

  it("does not start when Node is configured to use a proxy, unless an option allows it", () => {
    for (
      const [name, value] of [["NODE_USE_ENV_PROXY", "1"], ["NODE_OPTIONS", "--no-warnings --use-env-proxy"]] as const
    ) {
      vi.stubEnv(name, value)
      assert.throws(
        () => HttpGuard.make(),
        ConfigError,
        /http-guard\.trustProxy: Node is configured to use the proxies/
      )
      assert.isFunction(HttpGuard.make({ trustProxy: true }).request)
      vi.unstubAllEnvs()
    }
    vi.stubEnv("NODE_USE_ENV_PROXY", "0")
    assert.isFunction(HttpGuard.make().request)
    vi.unstubAllEnvs()
  })

  it.effect("does not use a proxy", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const proxy = yield* loopback((head, socket) => {
        heard.push(head)
        answer(200, {}, "the proxy")(head, socket)
      })
      const server = yield* loopback(answer(200, {}, "the server"))
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]) {
        vi.stubEnv(name, `http://${proxy.host}`)
      }
      vi.stubEnv("NODE_USE_ENV_PROXY", "1")
      const guard = HttpGuard.make({ policy: { loopback: [server.host] }, trustProxy: true })
      assert.strictEqual(yield* outcome(guard, `http://${server.host}/`), "200 the server")
      assert.deepStrictEqual(heard, [])
    }))
})

describe("ctx.http with HttpGuard.client", () => {
  it.live("lets a hook reach only the servers of the policy", () =>
    Effect.gen(function*() {
      const server = yield* loopback((head, socket) =>
        answer(200, {}, head.endsWith("go") ? "noted" : "?")(head, socket)
      )
      const seen: Array<unknown> = []
      const ask = (url: string) => ({ url, method: "POST", body: "go" })
      const failed = (error: unknown) => void seen.push([(error as PortFailed)._tag, (error as PortFailed).message])
      const agent = createAgent({
        provider: Scripted.make(["done"]),
        http: HttpGuard.client({ policy: { loopback: [server.host] } }),
        hooks: [{
          name: "reporting",
          postTurn: async (_turn, ctx) => {
            seen.push((await ctx.promise(ctx.http(ask(`http://${server.host}/`)))).body)
            await ctx.promise(ctx.http(ask("http://169.254.169.254/latest"))).catch(failed)
            await ctx.promise(ctx.http({ url: `http://${server.host}/`, method: "TRACE" })).catch(failed)
          },
          preTurn: function*(_input, ctx) {
            const error = yield* Effect.flip(ctx.http(ask("http://localhost/")))
            seen.push((error.cause as HttpGuard.HttpRefused).reason)
          }
        }]
      })
      yield* Effect.addFinalizer(() => Effect.promise(() => agent[Symbol.asyncDispose]()))
      yield* Effect.promise(() => agent.run("go"))
      assert.deepStrictEqual(seen, [
        "address",
        "noted",
        ["PortFailed", "http for reporting: http://169.254.169.254 may not be requested: it is a metadata address"],
        ["PortFailed", "http for reporting: the request may not be sent: the method \"TRACE\" is not allowed"]
      ])
    }))
})
