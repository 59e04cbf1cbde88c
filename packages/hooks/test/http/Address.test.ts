import * as Address from "@belay/hooks/Address"
import { assert, describe, it } from "@effect/vitest"
import { bad, spellings } from "../support/addresses.ts"
import { compareWithTable } from "../support/addressSamples.ts"

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
  it.each(bad)("classifies %s as %s, and no spelling of it as public", (address, kind) => {
    assert.strictEqual(Address.classify(address), kind)
    for (const spelling of spellings(address)) {
      assert.notInclude(["public", "name"], Address.classify(spelling), spelling)
    }
  })

  it("gives all spellings of an address the same kind", () => {
    for (const spelling of spellings("169.254.169.254").slice(0, 17)) {
      assert.strictEqual(Address.classify(spelling), "metadata", spelling)
    }
    assert.strictEqual(Address.normalize("0x7f.1"), "127.0.0.1")
    assert.strictEqual(Address.normalize("[2606:4700:0::1111]"), "2606:4700::1111")
    assert.strictEqual(Address.normalize("BÜCHER.example."), "xn--bcher-kva.example")
  })

  it("classifies public addresses", () => {
    for (const address of good) {
      assert.strictEqual(Address.classify(address), "public")
      assert.strictEqual(Address.classify(`::ffff:${address}`), "public")
      assert.strictEqual(Address.classify(`64:ff9b::${address}`), "public")
    }
    for (const address of ["2606:4700::1111", "[2a00:1450:4001::1]"]) {
      assert.strictEqual(Address.classify(address), "public")
    }
    for (
      const name of ["example.com", "EXAMPLE.com.", "a.b.example.co.uk", "xn--bcher-kva.example", "10.example.com"]
    ) {
      assert.strictEqual(Address.classify(name), "name")
    }
  })

  it("classifies the special addresses of IPv6", () => {
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
      ["2001:20::1", "reserved"],
      ["2002:7f00:1::1", "loopback"],
      ["2002:a9fe:a9fe::1", "metadata"],
      ["2002:808:808::1", "reserved"],
      ["2606:4700::5efe:7f00:1", "loopback"],
      ["2606:4700::200:5efe:a00:1", "private"],
      ["2606:4700::100:5efe:7f00:1", "public"]
    ]
    for (const [address, kind] of special) assert.strictEqual(Address.classify(address), kind, address)
  })

  it("classifies a Teredo address by its client, whose address is written with inverted bits, and by its server", () => {
    const teredo: ReadonlyArray<readonly [string, Address.Kind]> = [
      // The server is 8.8.8.8, the clients are 10.0.0.1, 127.0.0.1, 169.254.169.254, 192.168.1.1 and 8.8.4.4.
      ["2001:0:808:808:0:0:f5ff:fffe", "private"],
      ["2001:0:808:808:8000:63bf:80ff:fffe", "loopback"],
      ["2001:0:808:808:0:0:5601:5601", "metadata"],
      ["2001::808:808:0:0:3f57:fefe", "private"],
      ["2001:0:808:808:0:0:f7f7:fbfb", "reserved"],
      // The server is 10.0.0.1.
      ["2001:0:a00:1:0:0:f7f7:fbfb", "private"]
    ]
    for (const [address, kind] of teredo) assert.strictEqual(Address.classify(address), kind, address)
  })

  it("classifies names of machines and networks, and rejects invalid hosts", () => {
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
      [`${"a".repeat(63)}.com`, "name"],
      [`${"a".repeat(64)}.com`, "invalid"],
      ["x".repeat(100_000), "invalid"],
      ["4294967296", "invalid"],
      ["[::1", "invalid"],
      [".", "invalid"]
    ]
    for (const [name, kind] of names) assert.strictEqual(Address.classify(name), kind, name.slice(0, 60))
  })

  it("agrees with its table about 10,000 addresses", () => compareWithTable(10_000))
})
