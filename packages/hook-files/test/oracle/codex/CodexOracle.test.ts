import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { folder } from "../../support/processes.ts"
import { runNotedInBelay } from "../belayNoted.ts"
import type { NotedOutcome } from "../setting.ts"
import recorded from "./recorded.json" with { type: "json" }
import { codexSettings } from "./settings.ts"

/** What Belay does otherwise, by the name of the setting, and the first cell of its line in "What differs". */
const inBelay: { readonly [name: string]: readonly [line: string, outcome: Partial<NotedOutcome>] } = {
  "PreToolUse: two that refuse": [
    "If several hooks refuse a call, the model reads the first reason.",
    { read: ["w-one", "w-two"] }
  ],
  "file: an entry of type http": [
    "A wrong entry, such as one of type `http`, disables all hooks of its file.",
    { hooks: [0], ran: [], read: ["w-err"] }
  ]
}

const outcomes: { readonly [name: string]: NotedOutcome } = recorded.outcomes

describe("settings of Codex", () => {
  it.each(codexSettings.map((one) => [one.name, one] as const))("%s", async (name, one) => {
    const known = outcomes[name]!
    const [, own = {}] = inBelay[name] ?? []
    assert.deepEqual(await runNotedInBelay("codex", one, folder()), { ...known, ...own })
  })

  it("have outcomes of the program, and a line for each difference", () => {
    const page = readFileSync(new URL("../../../../../docs/codex.md", import.meta.url), "utf8")
    assert.sameMembers(codexSettings.map(({ name }) => name), Object.keys(outcomes))
    for (const [line] of Object.values(inBelay)) assert.include(page, `\n| ${line} |`)
    assert.isAtMost(Object.keys(inBelay).length / codexSettings.length, 0.02)
  })
})
