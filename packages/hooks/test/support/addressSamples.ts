/** Random addresses, and what others say about them: the library `ipaddr.js` and the table of special blocks. */
import * as Address from "@belay/hooks/Address"
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { random } from "@belay/testing/SeededRandom"
import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import ipaddr from "ipaddr.js"

const isAllowed = (host: string): boolean => Result.isSuccess(HttpGuard.check(`https://${host}/`))

const firstOctets = [0, 10, 100, 127, 169, 172, 192, 198, 203, 224]
/** The library calls these blocks reserved. They are announced and routed: relays (AMT) and name servers (AS112). */
const routedBlocks = ["amt", "as112"]

/** Checks that `HttpGuard` allows exactly the IPv4 addresses that the library calls unicast. */
export const compareIpv4 = (count: number): void => {
  const { below } = random(11)
  for (let i = 0; i < count; i++) {
    const first = i % 3 === 0 ? firstOctets[i % 10]! : below(256)
    const address = [first, below(256), below(256), below(256)].join(".")
    const range = ipaddr.parse(address).range()
    if (routedBlocks.includes(range)) continue
    if (isAllowed(address) !== (range === "unicast")) assert.fail(`${address} is ${range}`)
  }
  assert.strictEqual(ipaddr.parse("168.63.129.16").range(), "unicast")
  assert.strictEqual(Address.classify("168.63.129.16"), "metadata")
}

const ipv6Heads = ["2001", "2002", "2600", "64:ff9b", "fe80", "fc00", "ff02", "::ffff"].concat(
  ["2001:db8", "3fff", "5f00", "100", "2001:0", "2a00:1450", "fec0", "0"]
)

/** Checks that the library calls every IPv6 address that `HttpGuard` allows unicast. */
export const compareIpv6 = (count: number): void => {
  const { below, pick } = random(13)
  let allowed = 0
  for (let i = 0; i < count; i++) {
    const head = i % 2 === 0 ? pick(ipv6Heads) : below(65_536).toString(16)
    const groups = head.split(":").filter((group) => group !== "").length
    const rest = Array.from(
      { length: head.startsWith("::") ? 2 : 8 - groups },
      () => (below(4) === 0 ? 0 : below(65_536)).toString(16)
    )
    const address = `${head}:${rest.join(":")}`
    if (!isAllowed(`[${address}]`)) continue
    allowed++
    const range = ipaddr.process(address).range()
    // NAT64 of a public address is public.
    if (range !== "rfc6052" && range !== "unicast") assert.fail(`${address} is ${range}`)
  }
  assert.isAbove(allowed, count / 10)
}

const numberOf = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)

const specialBlocks =
  ("0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 " +
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 168.63.129.16/32").split(" ").map((block) => {
      const [address, bits] = block.split("/")
      return { from: numberOf(address!), size: 2 ** (32 - Number(bits)) }
    })

/** Checks that `Address.classify` calls exactly the addresses outside of the special blocks public. */
export const compareWithTable = (count: number): void => {
  const { below } = random(7)
  for (let i = 0; i < count; i++) {
    const value = below(2 ** 32)
    const address = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".")
    const isSpecial = specialBlocks.some(({ from, size }) => Math.floor(value / size) === Math.floor(from / size))
    if ((Address.classify(address) !== "public") !== isSpecial) assert.fail(address)
  }
}
