/** Bad URLs in every spelling that some parser accepts, and good URLs. */
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { network } from "../../../../test/support/http.ts"
import { bad, spellings } from "../support/addresses.ts"
import { compareIpv4, compareIpv6 } from "../support/addressSamples.ts"

const open: HttpGuard.Policy = { allowHttp: true }

const templates: ReadonlyArray<(host: string) => string> = [
  (host) => `http://${host}/`,
  (host) => `https://${host}`,
  (host) => `HtTpS://${host}:8443/a?b#c`,
  (host) => `http://${host}:80/latest/meta-data`,
  (host) => `http://example.com@${host}/`,
  (host) => `http://example.com:80@${host}/`,
  (host) => `http://${host}\\@example.com/`,
  (host) => `http:${host}/`,
  (host) => `http:/${host}/`,
  (host) => `http:///${host}/`,
  (host) => `//${host}/`,
  (host) => ` http://${host}/`,
  (host) => `\u0000http://${host}/`,
  (host) => `http://${host}/\r\nx: y`,
  (host) => `ht\ntp://${host}/`
]

const hosts = [
  ...[
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "loc%61lhost",
    "localhost.localdomain",
    "ip6-localhost"
  ],
  ...[
    "ip6-loopback",
    "metadata.google.internal",
    "metadata",
    "instance-data",
    "printer.local",
    "db.internal",
    "nas.lan",
    "x.home.arpa"
  ],
  ...[
    "api.default.svc",
    "x.svc.cluster.local",
    "router",
    "intranet",
    "a..b",
    ".",
    "..",
    ".a.b",
    "a_.",
    "xn--",
    "xn--a.com",
    "xn--0.example"
  ],
  ...[
    "a b.com",
    "a\tb.com",
    "a%00b.com",
    "%31%32%37.0.0.1",
    "127.0.0.1%00.example.com",
    "exa$mple.com",
    "exa'mple.com",
    "a,b.com",
    "(a).com"
  ],
  ...[
    "-a.com",
    "a-.com",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(127)}com`,
    "[::1",
    "::1",
    "[::1]]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]"
  ],
  ...[
    "256.256.256.256",
    "4294967296",
    "7147006462",
    "1.2.3.4.5",
    "0x",
    "0x7f.0.0.0x",
    "1.2.3.08",
    "[1.2.3.4]",
    "[::ffff:1.2.3]",
    "[v1.x]",
    ""
  ]
]

const special = [
  ...[
    "::",
    "::1",
    "0:0:0:0:0:0:0:1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "fc00::1",
    "fdff::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "ff02::1"
  ],
  ...[
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "2001::1",
    "2001:20::1",
    "5f00::1",
    "4000::1",
    "e000::1",
    "1::1",
    "64:ff9b:1::1",
    "2002:7f00:1::"
  ]
]

const schemes =
  ("file ftp gopher dict ldap ldaps tftp jar data blob javascript vbscript ws wss sftp ssh telnet smb nfs unix http+unix view-source netdoc php " +
    "phar expect node httpss ht-tp about mailto").split(" ")

const ports = [
  0,
  1,
  7,
  19,
  21,
  22,
  23,
  25,
  53,
  110,
  143,
  389,
  445,
  465,
  587,
  1433,
  2049,
  2375,
  3306,
  3389,
  5432,
  6000,
  6379,
  6667,
  9042,
  10080,
  11211
]

const written = [
  ...[
    "",
    "x",
    "http",
    "http:",
    "http:/",
    "http://",
    "https://?",
    "https://#",
    "https:///",
    "/a",
    "?a",
    "#a",
    "//",
    "http//a.com",
    "http:a.com"
  ],
  ...[
    "https:\\\\example.com",
    "https:/\\example.com",
    "https://example.com\\",
    "https://exam\u200bple.com",
    "https://example.com\u00a0"
  ],
  ...[
    "https://user@example.com",
    "https://%65xample.com",
    "https://example%2ecom/",
    "https://@example.com",
    "https://:@example.com",
    "https://a:b@example.com",
    "https://a%40b@example.com"
  ],
  ...[
    "https://example.com:port",
    "https://example.com:65536",
    "https://example.com:-1",
    "https://example.com:99999999999",
    "https://\ud800.com"
  ],
  ...[
    "https://example.com/\ud800",
    "https://example.com/\u202e",
    "https://example.com/\u{e0041}",
    "https://example.com\t",
    "\ufeffhttps://example.com"
  ],
  ...[
    "https://" + "a".repeat(100_000),
    "https://example.com/" + "a".repeat(100_000),
    "https://127.0.0.1?@example.com",
    "https://127.0.0.1#@example.com"
  ]
]

const corpus = [
  ...bad.flatMap(([address]) => spellings(address)).flatMap((host) => templates.map((template) => template(host))),
  ...hosts.flatMap((host) => templates.map((template) => template(host))),
  ...special.flatMap((address) => templates.map((template) => template(`[${address}]`))),
  ...schemes.flatMap((scheme) => [`${scheme}://example.com/`, `${scheme}:x`, `${scheme.toUpperCase()}://example.com`]),
  ...ports.flatMap((port) => [`http://example.com:${port}/`, `https://93.184.215.14:${port}`]),
  ...written
]

const labels = ["example", "api", "docs", "a-b", "x1", "xn--bcher-kva", "_dmarc", "bücher", "ÉCOLE", "日本"]
const tails = ["com", "org", "co.uk", "dev", "example.net"]
const tops = ["/", "", "/a/b?c=d&e=%20#f", ":8443/x", ":3000?q"]
const good = [
  ...labels.flatMap((label) => tails.flatMap((tail) => tops.map((top) => `https://${label}.${tail}${top}`))),
  ...[
    "93.184.215.14",
    "8.8.8.8",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.1",
    "100.128.0.1",
    "223.255.255.255",
    "[2606:4700::1111]",
    "0x08080808"
  ]
    .flatMap((host) => tops.map((top) => `http://${host}${top}`))
]

describe("the corpus of HttpGuard", () => {
  it.effect("refuses every one of more than 5,000 bad URLs before anything is resolved or connected to", () =>
    Effect.gen(function*() {
      const all = [...new Set(corpus)]
      const net = network({})
      const guard = HttpGuard.make({ policy: open, resolve: net.resolve, connect: net.connect })
      assert.isAbove(all.length, 5_000)
      for (const url of all) {
        const failure = yield* Effect.flip(guard.request(url))
        assert.strictEqual(failure._tag, "HttpRefused", JSON.stringify(url.slice(0, 200)))
        assert.isBelow(failure.message.length, 400)
        assert.isTrue(Result.isFailure(HttpGuard.check(url, open)))
      }
      assert.deepStrictEqual({ resolved: net.resolved, connected: net.connected }, { resolved: [], connected: [] })
    }))

  it("allows loopback only in the spelling and with the port that the policy lists", () => {
    const policy: HttpGuard.Policy = { allowHttp: true, loopback: ["127.0.0.1:8080"] }
    assert.isTrue(Result.isSuccess(HttpGuard.check("http://127.0.0.1:8080/", policy)))
    const others = [...spellings("127.0.0.1").slice(1), "localhost", "127.0.0.2", "[::1]"].flatMap((host) => [
      `http://${host}:8080/`,
      `http://${host}/`
    ])
    for (
      const url of [
        ...others,
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
        "http://a@127.0.0.1:8080/",
        "http:127.0.0.1:8080/"
      ]
    ) {
      assert.isTrue(Result.isFailure(HttpGuard.check(url, policy)), url)
    }
  })

  it.effect("allows more than 200 public URLs", () =>
    Effect.gen(function*() {
      assert.isAbove(good.length, 200)
      const connected: Array<string> = []
      const guard = HttpGuard.make({
        policy: open,
        resolve: async () => [{ address: "93.184.215.14", family: 4 }],
        connect: async ({ address, port }) => {
          connected.push(`${address}:${port}`)
          throw new Error("not in a test")
        }
      })
      for (const url of good) {
        const target = Result.getOrThrow(HttpGuard.check(url, open))
        assert.strictEqual((yield* Effect.flip(guard.request(url)))._tag, "HttpFailed", url)
        assert.strictEqual(
          connected.pop(),
          `${target.kind === "name" ? "93.184.215.14" : target.host}:${target.port}`,
          url
        )
      }
      assert.deepStrictEqual(connected, [])
    }))

  it("agrees with another library about 5,000 addresses of IPv4", () => compareIpv4(5_000))

  it("allows no IPv6 address, of 5,000, that another library classifies as special", () => compareIpv6(5_000))
})
