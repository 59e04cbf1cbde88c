import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { folder } from "../../support/processes.ts"
import { runNotedInBelay } from "../belayNoted.ts"
import type { NotedOutcome } from "../setting.ts"
import recorded from "./recorded.json" with { type: "json" }
import { geminiSettings } from "./settings.ts"

/** What Belay does otherwise, by the name of the setting, and the first cell of its line in "What differs". */
const inBelay: { readonly [name: string]: readonly [line: string, outcome: Partial<NotedOutcome>] } = {
  "BeforeTool: matcher \"(?i)RUN_.*\"": [
    "A matcher is a JavaScript pattern.",
    { hooks: [0], ran: [], read: ["w-err"] }
  ],
  "BeforeTool: a timeout of 0": [
    "A `timeout` of 0 ends a command at once.",
    { hooks: [0], ran: [], read: ["w-err"] }
  ]
}

const outcomes: { readonly [name: string]: NotedOutcome } = recorded.outcomes

describe("settings of Gemini CLI", () => {
  it.each(geminiSettings.map((one) => [one.name, one] as const))("%s", async (name, one) => {
    const known = outcomes[name]!
    const [, own = {}] = inBelay[name] ?? []
    assert.deepEqual(await runNotedInBelay("gemini", one, folder()), { ...known, ...own })
  })

  it("have outcomes of the program, and a line for each difference", () => {
    const page = readFileSync(new URL("../../../../../docs/gemini.md", import.meta.url), "utf8")
    assert.sameMembers(geminiSettings.map(({ name }) => name), Object.keys(outcomes))
    for (const [line] of Object.values(inBelay)) assert.include(page, `\n| ${line} |`)
    assert.isAtMost(Object.keys(inBelay).length / geminiSettings.length, 0.02)
  })
})
