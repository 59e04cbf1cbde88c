/** The same comparisons as in the quick set, with ten times as many addresses and more. */
import { describe, it } from "vitest"
import { compareIpv4, compareIpv6, compareWithTable } from "../support/addressSamples.ts"

describe("HttpGuard and Address", () => {
  it("agree with another library about 100,000 addresses of IPv4", () => compareIpv4(100_000))

  it("allow no IPv6 address, of 50,000, that another library classifies as special", () => compareIpv6(50_000))

  it("agree with the table of special blocks about 100,000 addresses", () => compareWithTable(100_000))
})
