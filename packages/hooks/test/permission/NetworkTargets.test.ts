import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { targetsIn } from "../../src/permission/internal/networkTargets.ts"

const names = ["localhost", "LOCALHOST", "metadata", "instance-data", "ip6-localhost", "ip6-loopback", "localhosts"]
const numbers = ["0", "127", "2130706433", "0x7f000001", "017700000001", "00000000000", "3232235777"]
const words = Schema.Union([
  Schema.Literals([...names, ...numbers]),
  Schema.String.check(Schema.isPattern(/^[\w-]{0,12}$/))
])
const keys = Schema.Literals(["", "a", "path", "text", "url", "host", "serverName", "baseUrl", "ip"])

const hostsOf = (text: string, key: string) => [...targetsIn(text, key)].map(({ host, port }) => ({ host, port }))

describe("the search for network targets", () => {
  // A space in front takes the long way: the text is not a single word any more, but means the same.
  it.prop("finds the same in a single word as in the whole search", [words, keys], ([word, key]) => {
    assert.deepEqual(hostsOf(word, key), hostsOf(` ${word}`, key))
  })

  it("finds names of the own machine in single words", () => {
    for (const name of names.slice(0, 6)) assert.lengthOf([...targetsIn(name, "")], 1, name)
    assert.lengthOf([...targetsIn("localhosts", "")], 0)
  })
})
