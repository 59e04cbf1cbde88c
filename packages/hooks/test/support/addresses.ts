/** Addresses that are not public, and every way to write them. */
import type * as Address from "@belay/hooks/Address"

/** Every way to write an IPv4 address that some parser reads. */
export const spellings = (address: string): ReadonlyArray<string> => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (n: number, length = 0) => n.toString(16).padStart(length, "0")
  const octal = (n: number) => `0${n.toString(8)}`
  const high = `${hex(a, 2)}${hex(b, 2)}`
  const low = `${hex(c, 2)}${hex(d, 2)}`
  const wide = (text: string, zero: number) =>
    text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
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

export const bad: ReadonlyArray<readonly [address: string, kind: Address.Kind]> = [
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
