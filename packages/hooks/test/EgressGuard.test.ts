import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import * as Address from "@belay/hooks/Address"
import * as EgressGuard from "@belay/hooks/EgressGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "./events.ts"
import { asks, random, scripted } from "./guarded.ts"
import * as Scope from "./scope.ts"

const whyNot = (args: Json, options: EgressGuard.Options = {}) =>
  Effect.map(
    HookChain.makeUnsafe([EgressGuard.make(options)]).run("preToolCall", call("fetch", args), Scope.make()),
    ({ action }) => action._tag === "Reject" ? action.reason : undefined
  )

/** Every way to write an IPv4 address that some parser reads. */
const spellings = (address: string): ReadonlyArray<string> => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (n: number, length = 0) => n.toString(16).padStart(length, "0")
  const octal = (n: number) => `0${n.toString(8)}`
  const high = `${hex(a, 2)}${hex(b, 2)}`
  const low = `${hex(c, 2)}${hex(d, 2)}`
  const wide = (text: string, zero: number) => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0X${hex(whole, 16)}`,
    octal(whole),
    `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
    [a, b, c, d].map(octal).join("."),
    [a, b, c, d].map((n) => `000${octal(n)}`).join("."),
    `0x${hex(a)}.${octal(b)}.${c}.${d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    address.replaceAll(".", "\u3002"),
    address.replaceAll(".", "\uff0e"),
    wide(address, 0xff10),
    wide(address, 0x1d7ce),
    `${address.slice(0, 1)}\u00ad${address.slice(1)}`,
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::]`,
    `[2001:0:${high}:${low}::]`,
    `[2001:0:5db8:d70e:0:0:${hex(Number.parseInt(high, 16) ^ 0xffff)}:${hex(Number.parseInt(low, 16) ^ 0xffff)}]`,
    `[fe80::5efe:${high}:${low}]`,
    `[2600::200:5efe:${high}:${low}]`
  ]
}

const bad: ReadonlyArray<readonly [address: string, kind: Address.Kind]> = [
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "loopback"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["100.100.100.200", "metadata"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["169.254.1.1", "link-local"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.192", "metadata"],
  ["192.0.2.1", "reserved"],
  ["198.51.100.7", "reserved"],
  ["203.0.113.9", "reserved"],
  ["198.18.0.1", "private"],
  ["224.0.0.1", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["192.88.99.1", "reserved"]
]
const good = [
  "93.184.215.14",
  "8.8.8.8",
  "1.1.1.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.167.1.1",
  "100.63.0.1",
  "100.128.0.1",
  "223.255.255.255"
]

describe("Address", () => {
  it.each(bad)("takes %s for %s, and no spelling of it for public", (address, kind) => {
    assert.strictEqual(Address.classify(address), kind)
    for (const spelling of spellings(address)) {
      assert.notInclude(["public", "name"], Address.classify(spelling), spelling)
    }
  })

  it("reads the spellings of an address as one", () => {
    for (const spelling of spellings("169.254.169.254").slice(0, 17)) assert.strictEqual(Address.classify(spelling), "metadata", spelling)
    assert.strictEqual(Address.normalize("0x7f.1"), "127.0.0.1")
    assert.strictEqual(Address.normalize("[2606:4700:0::1111]"), "2606:4700::1111")
    assert.strictEqual(Address.normalize("BÜCHER.example."), "xn--bcher-kva.example")
  })

  it("leaves what is public", () => {
    for (const address of good) {
      assert.strictEqual(Address.classify(address), "public")
      assert.strictEqual(Address.classify(`::ffff:${address}`), "public")
      assert.strictEqual(Address.classify(`64:ff9b::${address}`), "public")
    }
    for (const address of ["2606:4700::1111", "[2a00:1450:4001::1]"]) assert.strictEqual(Address.classify(address), "public")
    for (const name of ["example.com", "EXAMPLE.com.", "a.b.example.co.uk", "xn--bcher-kva.example", "10.example.com"]) {
      assert.strictEqual(Address.classify(name), "name")
    }
  })

  it("knows the special addresses of IPv6", () => {
    const special: ReadonlyArray<readonly [string, Address.Kind]> = [
      ["::", "loopback"],
      ["::1", "loopback"],
      ["0:0:0:0:0:0:0:1", "loopback"],
      ["fe80::1", "link-local"],
      ["fec0::1", "private"],
      ["fc00::1", "private"],
      ["fdff::1", "private"],
      ["fd00:ec2::254", "metadata"],
      ["ff02::1", "multicast"],
      ["2001:db8::1", "reserved"],
      ["3fff::1", "reserved"],
      ["100::1", "reserved"],
      ["5f00::1", "reserved"],
      ["4000::1", "reserved"],
      ["2001:20::1", "reserved"]
    ]
    for (const [address, kind] of special) assert.strictEqual(Address.classify(address), kind, address)
  })

  it("knows names of machines and networks, and what is no host", () => {
    const names: ReadonlyArray<readonly [string, Address.Kind]> = [
      ["localhost", "loopback"],
      ["LOCALHOST.", "loopback"],
      ["a.localhost", "loopback"],
      ["ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loopback"],
      ["ip6-localhost", "loopback"],
      ["metadata.google.internal", "metadata"],
      ["printer.local", "private"],
      ["db.internal", "private"],
      ["router", "private"],
      ["x.svc.cluster.local", "private"],
      ["", "invalid"],
      ["a b", "invalid"],
      ["a..b", "invalid"],
      ["256.256.256.256", "invalid"],
      ["fe80::1%25eth0", "invalid"],
      ["%31", "invalid"],
      ["a/b", "invalid"],
      ["a@b", "invalid"],
      [`${"a".repeat(64)}.com`, "invalid"],
      ["x".repeat(100_000), "invalid"],
      ["4294967296", "invalid"],
      ["[::1", "invalid"],
      [".", "invalid"]
    ]
    for (const [name, kind] of names) assert.strictEqual(Address.classify(name), kind, name.slice(0, 60))
  })

  it("agrees with its table for a hundred thousand addresses", () => {
    const { below } = random(7)
    const inside = (value: number, [from, bits]: readonly [number, number]) =>
      Math.floor(value / 2 ** (32 - bits)) === Math.floor(from / 2 ** (32 - bits))
    const of = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)
    const blocks =
      ("0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 " +
        "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 168.63.129.16/32").split(" ").map((block) => {
          const [address, bits] = block.split("/")
          return [of(address!), Number(bits)] as const
        })
    for (let i = 0; i < 100_000; i++) {
      const value = below(2 ** 32)
      const text = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".")
      assert.strictEqual(Address.classify(text) !== "public", blocks.some((block) => inside(value, block)), text)
    }
  })
})

describe("EgressGuard", () => {
  it.effect.each(bad)("refuses a URL with %s in every spelling", ([address]) =>
    Effect.gen(function*() {
      for (const host of spellings(address)) {
        for (const url of [`http://${host}/x`, `HTTPS://${host}:8080?q`, `see http://${host}/, please`, `http:${host}/`, `//${host}/x`]) {
          assert.isDefined(yield* whyNot({ text: url }), url)
        }
      }
    }))

  it.effect("lets public hosts pass, also in a text and in a command", () =>
    Effect.gen(function*() {
      const texts = [
        "https://example.com/a?b=c#d",
        "see (https://example.com/a), or http://example.org.",
        "http://93.184.215.14/",
        "http://[2606:4700::1111]/x",
        "curl -s -o out.txt https://example.com | jq .",
        "git clone https://example.com/a.git && cd a",
        "HTTPS://EXAMPLE.COM.",
        "ping example.com"
      ]
      for (const text of texts) assert.isUndefined(yield* whyNot({ text }), text)
    }))

  it.effect("leaves texts that lead nowhere", () =>
    Effect.gen(function*() {
      const texts = [
        "//eslint-disable next\nconst a = 1",
        "note: hello",
        "12:30",
        "a/b/c.txt",
        "10.5",
        "1.2.3",
        "version 10.0.0.1 is out",
        "TODO: fix",
        "std::vector",
        "C:\\Users",
        "key=value",
        "ada@example.com",
        "127",
        "0",
        "-1",
        "https://",
        "x ? y : z",
        "curl is a tool",
        "localhost is a name",
        "{\"a\": 1}",
        "10",
        "",
        "a:b:c",
        "echo 3 | wc -l",
        "curl --max-time 10 https://example.com"
      ]
      for (const text of texts) assert.isUndefined(yield* whyNot({ text, n: 3000, list: [text] }), text)
    }))

  it.effect("refuses hosts without a scheme where a host is expected", () =>
    Effect.gen(function*() {
      const args: ReadonlyArray<Json> = [
        { host: "127.1" },
        { hostname: "2130706433" },
        { server: "localhost:8080" },
        { base_url: "10.0.0.1:80/x" },
        { ip: "::1" },
        { proxy: "0x7f000001" },
        { target: "metadata.google.internal" },
        { baseUrl: "192.168.0.1" },
        { any: "169.254.169.254" },
        { any: "localhost:3000/x" },
        { any: "[::1]:80" },
        { command: "curl 127.0.0.1:8080/x" },
        { command: "cd /tmp && wget -q 2130706433" },
        { command: "nc 10.0.0.1 22" },
        { command: "curl -x localhost:3128 https://example.com" },
        { command: "ssh root@192.168.0.1" },
        { command: "x=$(curl 0x7f000001)" },
        { command: "/usr/bin/curl 127.1" },
        { command: "curl http://${HOST}/" },
        { command: "curl --url=127.0.0.1" },
        [["http://localhost"]],
        "http://localhost",
        { "http://localhost": 1 },
        { host: 2130706433 }
      ]
      for (const one of args) assert.isDefined(yield* whyNot(one), JSON.stringify(one))
    }))

  it.effect("refuses what hides its host", () =>
    Effect.gen(function*() {
      const urls = [
        "http://good@127.0.0.1/",
        "http://good:80@127.0.0.1/",
        "http://example.com@evil.example",
        "http://a:b@example.com",
        "http://@127.0.0.1",
        "http://example.com\\@127.0.0.1/",
        "http://127.0.0.1\\@example.com/",
        "http:\\\\127.0.0.1/",
        "http:/127.0.0.1/",
        "http:///127.0.0.1/",
        "///127.0.0.1/",
        "\\\\127.0.0.1\\x",
        "http://127.0.0.1#@example.com",
        "http://127.0.0.1?@example.com",
        "http://127.0.0\n.1/",
        "ht\ntp://127.0.0.1",
        " http://127.0.0.1",
        "\u0001http://127.0.0.1",
        "http://127.0.0.1%00.example.com",
        "http://%31%32%37.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://exa mple@127.0.0.1",
        "http://localhost./",
        "http://a..b/"
      ]
      for (const text of urls) assert.isDefined(yield* whyNot({ text }), JSON.stringify(text))
    }))

  it.effect("refuses every scheme but those it is told", () =>
    Effect.gen(function*() {
      const schemes = [
        "file",
        "ftp",
        "gopher",
        "dict",
        "ldap",
        "ldaps",
        "tftp",
        "jar",
        "data",
        "blob",
        "javascript",
        "vbscript",
        "ws",
        "wss",
        "sftp",
        "ssh",
        "telnet",
        "smb",
        "nfs",
        "unix",
        "http+unix",
        "view-source",
        "netdoc",
        "php",
        "phar",
        "expect",
        "node"
      ]
      for (const scheme of schemes) {
        assert.isDefined(yield* whyNot({ text: `${scheme}://example.com/x` }), scheme)
        assert.isDefined(yield* whyNot({ text: `look: ${scheme}:x/y` }), scheme)
      }
      assert.strictEqual(yield* whyNot("ftp://example.com/a"), "ftp://example.com/a may not be reached: the scheme ftp is not allowed")
      assert.isUndefined(yield* whyNot("ftp://example.com/a", { schemes: ["https", "ftp"] }))
      assert.isDefined(yield* whyNot("http://example.com/a", { schemes: ["https"] }))
    }))

  it.effect("keeps to its lists", () =>
    Effect.gen(function*() {
      const options = {
        allow: ["api.example.com", "*.docs.example.com", "example.org:8443", "localhost:3000", "[::1]:9"],
        deny: ["old.docs.example.com"]
      }
      const reached = [
        "https://api.example.com/",
        "https://API.example.com./",
        "https://a.docs.example.com",
        "https://example.org:8443/",
        "http://localhost:3000/x",
        "http://[::1]:9/"
      ]
      const refused = [
        "https://example.com",
        "https://docs.example.com",
        "https://evilapi.example.com",
        "https://api.example.com.evil.example",
        "https://old.docs.example.com",
        "https://example.org/",
        "http://localhost/",
        "http://localhost:3001/",
        "http://127.0.0.1:3000/",
        "http://[::1]/"
      ]
      for (const text of reached) assert.isUndefined(yield* whyNot({ text }, options), text)
      for (const text of refused) assert.isDefined(yield* whyNot({ text }, options), text)
      assert.isDefined(yield* whyNot("http://x.local", { allow: ["*.local", "*"] }))
      assert.strictEqual(
        yield* whyNot("https://a.example", { deny: ["*.example"] }),
        "https://a.example may not be reached: a.example is denied"
      )
      assert.strictEqual(yield* whyNot("http://10.0.0.1"), "http://10.0.0.1 may not be reached: 10.0.0.1 is a private address")
    }))

  it.effect("takes time that grows with the text alone", () =>
    Effect.gen(function*() {
      for (const unit of ["http://", "http://a", "a.", "//", "1.", "curl ", "file:", "[::", "a@", "\\", ":"]) {
        const began = performance.now()
        yield* whyNot({ text: unit.repeat(Math.ceil(100_000 / unit.length)) })
        assert.isBelow(performance.now() - began, 2_000, unit)
      }
    }))

  it("refuses lists that make no sense", () => {
    assert.throws(() => EgressGuard.make({ allow: ["exa mple"] }), ConfigError, /egress-guard\.allow: "exa mple" is no host/)
    assert.throws(() => EgressGuard.make({ deny: ["https://example.com"] }), ConfigError, /egress-guard\.deny/)
    assert.throws(() => EgressGuard.make({ allow: ["a*b.com"] }), ConfigError)
    assert.throws(() => EgressGuard.make({ allow: [""] }), ConfigError)
    assert.throws(() => EgressGuard.make({ schemes: ["HTTP:"] }), ConfigError, /egress-guard\.schemes/)
  })

  it("tells the model why, and looks again when another hook changes the arguments", async () => {
    const ran: Array<unknown> = []
    const fetch = defineTool({ name: "fetch", description: "Fetches", input: { type: "object" }, execute: (args) => void ran.push(args) })
    const rewrite = defineHook({
      name: "rewrite",
      preToolCall: (event) =>
        JSON.stringify(event.args).includes("later")
          ? HookAction.transform({ id: event.id, name: event.name, args: { url: "http://127.1/" } })
          : undefined
    })
    const model = scripted([
      asks(["fetch", { url: "http://localhost/" }], ["fetch", { url: "https://later.example" }], ["fetch", { url: "https://example.com" }]),
      "done"
    ])
    await using agent = createAgent({ provider: model.provider, tools: [fetch], hooks: [EgressGuard.make({ tools: "fetch" }), rewrite] })
    const { messages } = await agent.run("fetch")
    assert.deepEqual(ran, [{ url: "https://example.com" }])
    assert.deepEqual(messages.filter(({ role }) => role === "tool").map(({ content }) => content).slice(0, 2), [
      "http://localhost/ may not be reached: localhost is a loopback address",
      "http://127.1/ may not be reached: 127.0.0.1 is a loopback address"
    ])
  })
})
