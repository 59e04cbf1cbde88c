/** Random conversations with random skills, in a tree of agents: exactly the calls run that every skill declares. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as Scripted from "@belay/testing/Scripted"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import { loadAt, newPlace, userSkill } from "../support/skills.ts"

const names = ["a", "b", "c", "d", "e"]

describe("random skills", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("never let more run than all of them declare (%i)", async (seed) => {
    const { below, pick } = random(seed)
    const place = newPlace()
    const declared = new Map<string, ReadonlyArray<string> | undefined>()
    for (let n = 0; n < 6; n++) {
      const rules = below(4) === 0 ? undefined : [...names, "help"].filter(() => below(3) > 0)
      declared.set(`s${n}`, rules)
      userSkill(place, `s${n}`, rules === undefined ? {} : { "allowed-tools": JSON.stringify(rules.join(" ")) })
    }
    const { tools: skills } = loadAt(place)
    const ran: Array<string> = []
    const expected: Array<string> = []
    const tools = names.map((name) =>
      defineTool({
        name,
        description: name,
        input: { type: "object" } as const,
        execute: () => void ran.push(name)
      })
    )
    let loaded: Array<string> = []
    const isAllowed = (name: string) => loaded.every((skill) => declared.get(skill)?.includes(name) ?? true)
    /** One random step, and what should come of it. */
    const step = (canDelegate: boolean) => {
      const choice = below(canDelegate ? 8 : 6)
      if (choice === 0) {
        const name = `s${below(6)}`
        loaded.push(name)
        return Scripted.toolCalls({ name: "load_skill", args: { name } })
      }
      if (choice >= 6) return Scripted.toolCalls({ name: "help", args: { message: "go" } })
      const name = pick(names)
      if (isAllowed(name)) expected.push(name)
      return Scripted.toolCalls({ name })
    }
    const model = (canDelegate: boolean) => {
      let left = 0
      return {
        name: canDelegate ? "lead" : "helper",
        complete: Scripted.make(Array.from({ length: 400 }, () => () => {
          if (left === 0) {
            left = 1 + below(6)
            return step(canDelegate)
          }
          return --left === 0 ? "done" : step(canDelegate)
        })).complete
      }
    }
    await using helper = createAgent({
      name: "helper",
      provider: model(false),
      tools: [...tools, ...skills],
      log: false
    })
    await using lead = createAgent({
      provider: model(true),
      tools: [...tools, ...skills, agentTool({ name: "help", description: "Helps", agent: helper })],
      cwd: place.cwd,
      log: false
    })
    const session = await lead.session()
    for (let turn = 0; turn < 12; turn++) {
      loaded = []
      await session.run("go")
    }
    assert.deepEqual(ran, expected)
    assert.isAbove(ran.length, 5)
  })
})
