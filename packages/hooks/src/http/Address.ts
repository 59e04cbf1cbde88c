/**
 * Classifies hosts: which network a name or an address belongs to, in any spelling. Names are not resolved.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { BlockList, isIPv4, isIPv6 } from "node:net"
import { atFirstUse } from "../internal/atFirstUse.ts"

/**
 * The kind of a host. `name` is a domain name, which has to be resolved. `loopback` includes the unspecified address.
 * `private` includes names that are only valid inside of a network. `metadata` is a service where clouds provide
 * credentials. `invalid` cannot be the host of a URL.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind =
  | "public"
  | "name"
  | "loopback"
  | "private"
  | "link-local"
  | "metadata"
  | "multicast"
  | "reserved"
  | "invalid"

/**
 * Returns the kind of a host. It is read like the host of a URL: with decimal, octal, hexadecimal and short forms,
 * full-width digits, brackets and trailing dots. An IPv6 address that contains an IPv4 address has the kind of that
 * one.
 *
 * @example
 * ```ts
 * import * as Address from "@belay/hooks/Address"
 *
 * Address.classify("0x7f.1") // "loopback"
 * Address.classify("::ffff:169.254.169.254") // "metadata"
 * Address.classify("example.com") // "name"
 * Address.classify("93.184.215.14") // "public"
 * ```
 * @category reading
 * @since 0.1.0
 */
export const classify = (host: string): Kind => {
  const normalized = normalize(host)
  if (normalized === undefined) return "invalid"
  if (isIPv4(normalized)) return firstKind(v4, normalized, "ipv4") ?? "public"
  return isIPv6(normalized) ? classifyV6(normalized) : classifyName(normalized)
}

/**
 * Returns the canonical spelling of a host: in lower case and punycode, addresses without brackets, no trailing dot.
 * Returns `undefined` when the text is not a host.
 *
 * @category reading
 * @since 0.1.0
 */
export const normalize = (host: string): string | undefined => {
  if (typeof host !== "string") return undefined
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host
  // Characters that would end the host, or that a parser would drop, are not allowed.
  if (bare === "" || bare.length > 1_000 || /[\s\\/?#@%\p{Cc}]/u.test(bare)) return undefined
  const url = Result.try(() => new URL(`http://${bare.includes(":") ? `[${bare}]` : bare}/`))
  if (Result.isFailure(url)) return undefined
  const { hostname } = url.success
  const read = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "")
  return read === "" || read.length > 253 ||
      read.split(".").some((label) => label === "" || (label.length > 63 && !read.includes(":")))
    ? undefined
    : read
}

const classifyName = (name: string): Kind => {
  if (
    name === "localhost" || name.endsWith(".localhost") || name === "localhost.localdomain" || name.startsWith("ip6-")
  ) return "loopback"
  if (metadataNames.has(name)) return "metadata"
  if (!name.includes(".") || internalSuffixes.some((suffix) => name.endsWith(suffix))) return "private"
  return "name"
}

const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal"
])

/** Suffixes of names inside of a network. */
const internalSuffixes = [
  ".local",
  ".internal",
  ".lan",
  ".home.arpa",
  ".svc",
  ".cluster.local",
  ".intranet",
  ".corp",
  ".home",
  ".localdomain"
]

type Table = ReadonlyArray<readonly [Kind, BlockList]>

const table = (family: "ipv4" | "ipv6", kinds: ReadonlyArray<readonly [Kind, string]>): () => Table =>
  atFirstUse(() =>
    kinds.map(([kind, networks]) => {
      const list = new BlockList()
      for (const network of networks.split(" ")) {
        const [address, prefix] = network.split("/")
        list.addSubnet(address!, Number(prefix), family)
      }
      return [kind, list]
    })
  )

const firstKind = (from: () => Table, address: string, family: "ipv4" | "ipv6"): Kind | undefined =>
  from().find(([, list]) => list.check(address, family))?.[0]

const v4 = table("ipv4", [
  [
    "metadata",
    "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32"
  ],
  ["loopback", "0.0.0.0/8 127.0.0.0/8"],
  ["private", "10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15"],
  ["link-local", "169.254.0.0/16"],
  ["multicast", "224.0.0.0/4"],
  ["reserved", "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4"]
])

const v6 = table("ipv6", [
  ["metadata", "fd00:ec2::254/128 fd20:ce::254/128"],
  ["loopback", "::/127"],
  ["private", "fc00::/7 fec0::/10 64:ff9b:1::/48"],
  ["link-local", "fe80::/10"],
  ["multicast", "ff00::/8"],
  ["reserved", "2001:db8::/32 3fff::/20 2001::/23 2002::/16 5f00::/16 100::/64"]
])

const global = table("ipv6", [["public", "2000::/3"]])

const classifyV6 = (address: string): Kind => {
  const groups = groupsOf(address)
  const kinds = embeddedV4(groups).map((one) => firstKind(v4, one, "ipv4") ?? "public")
  const notPublic = kinds.find((kind) => kind !== "public")
  if (address !== "::" && address !== "::1" && notPublic !== undefined) return notPublic
  const kind = firstKind(v6, address, "ipv6")
  if (kind !== undefined) return kind
  return kinds.length > 0 || firstKind(global, address, "ipv6") !== undefined ? "public" : "reserved"
}

/** The eight groups of a normalized address. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = address.split("::")
  const read = (text: string) => text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))
  const left = read(head)
  if (tail === undefined) return left
  const right = read(tail)
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}

/**
 * The IPv4 addresses that an IPv6 address contains: mapped, compatible, translated (SIIT, NAT64), 6to4, Teredo and
 * ISATAP.
 */
const embeddedV4 = (groups: ReadonlyArray<number>): ReadonlyArray<string> => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const dotted = (high: number, low: number) => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  const found: Array<string> = []
  const isZero = (...all: ReadonlyArray<number>) => all.every((one) => one === 0)
  if (isZero(a, b, c, d, e) && (f === 0xffff || f === 0)) found.push(dotted(g, h))
  if (isZero(a, b, c, d, f) && e === 0xffff) found.push(dotted(g, h))
  if (a === 0x64 && b === 0xff9b && isZero(c, d, e, f)) found.push(dotted(g, h))
  if (a === 0x2002) found.push(dotted(b, c))
  if (a === 0x2001 && b === 0) found.push(dotted(c, d), dotted(g ^ 0xffff, h ^ 0xffff), dotted(g, h))
  if ((e === 0 || e === 0x200) && f === 0x5efe) found.push(dotted(g, h))
  return found
}
