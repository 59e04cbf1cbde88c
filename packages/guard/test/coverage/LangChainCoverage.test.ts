/** What the adapter of LangChain declares, compared with the points that really happen. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import * as LangChain from "../../src/LangChain.ts"
import { calls, kit, says, scripted, thread, user } from "../support/langChain.ts"

describe("the coverage of LangChain", () => {
  it("names every point that happens, and only those", async () => {
    const seen = new Set<string>()
    const note = (place: string) => () => void seen.add(place)
    const points = Object.keys(LangChain.driver.places).filter((place) => !/^wrap|^reveal|^conceal/.test(place))
    const hook = defineHook({
      name: "notes",
      ...Object.fromEntries(points.map((point) => [point, note(point)])),
      preToolCall: ({ name }) => {
        seen.add("preToolCall")
        return name === "send_mail" ? HookAction.reject("no mails") : undefined
      },
      wrapLlmCall: (request, next) => {
        seen.add("wrapLlmCall")
        return next(request)
      },
      wrapToolCall: (call, next) => {
        seen.add("wrapToolCall")
        return next(call)
      },
      revealText: (text) => {
        seen.add("revealText")
        return text
      }
    })
    const { agent, guarded } = kit([hook])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("bye"))
    await agent(model).invoke(user("go"), thread)
    await guarded.session.end()
    const enforced = Object.entries(LangChain.driver.places).filter(([, reach]) => reach === "enforced")
    // These need a hook that reports a budget, and a policy that asks.
    const others = ["onBudget", "onPermission"]
    const expected = enforced.map(([place]) => place).filter((place) => !others.includes(place))
    assert.deepStrictEqual([...seen].toSorted(), expected.toSorted())
  })
})
