import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { folder } from "../support/processes.ts"
import { runInBelay } from "./belay.ts"
import { differences, inBelay } from "./differences.ts"
import { documented, fieldsOf } from "./fields.ts"
import { recordedNames, settings } from "./settings.ts"

const isDifferent = ({ name }: { readonly name: string }): boolean => inBelay.has(name)

describe("settings of Claude Code", () => {
  describe("do in Belay what they do there", () => {
    it.each(settings.filter((one) => !isDifferent(one)).map((one) => [one.name, one] as const))(
      "%s",
      async (_, one) => {
        const { outcome } = await runInBelay(one, folder())
        assert.deepEqual(outcome, one.expected)
      }
    )
  })

  describe("do something else in Belay, as the table says", () => {
    it.each(settings.filter(isDifferent).map((one) => [one.name, one] as const))("%s", async (name, one) => {
      const { outcome } = await runInBelay(one, folder())
      assert.notDeepEqual(outcome, one.expected)
      assert.deepEqual(outcome, { ...one.expected, ...inBelay.get(name) })
    })
  })

  it.each(Object.entries(documented))("have the documented fields at %s", async (event, names) => {
    const own = settings.find(({ entries, name }) =>
      name.endsWith("nothing") && entries.length === 1 && entries[0]!.event === event
    )!
    const { told } = await runInBelay(own, folder())
    assert.deepEqual(fieldsOf(told), [[event, [...names].sort().join(" ")]])
  })

  it("are at least 95.8 of 100 times the same, and each other one has a line in the documentation", () => {
    const page = readFileSync(new URL("../../../../docs/claude-code.md", import.meta.url), "utf8")
    for (const { line } of differences) assert.include(page, `\n| ${line} |`)
    assert.isAtMost(inBelay.size / settings.length, 0.042)
  })

  it("have names of their own, also where something is known of them", () => {
    const names = settings.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    assert.includeMembers(names, [...inBelay.keys(), ...recordedNames])
  })
})
