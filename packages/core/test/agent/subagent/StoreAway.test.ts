/** The session store goes away while a sub-agent works. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { failureOf, line, recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

describe("a sub-agent whose work cannot be saved", () => {
  it("fails the turn of the root, which can be resumed, and no model reads about the store", async () => {
    const memory = SessionStore.inMemory()
    let isAway = false
    const store: SessionStore.SessionStore = {
      ...memory,
      commit: (commit) =>
        Effect.suspend(() => {
          if (!isAway) return memory.commit(commit)
          isAway = false
          return Effect.fail("away")
        })
    }
    const pay = recording("pay", () => {
      isAway = true
      return "paid"
    })
    const make = (lead: ReadonlyArray<Line>, helping: ReadonlyArray<Line>) => {
      const helper = createAgent({
        name: "helper",
        provider: scripted(helping).provider,
        tools: [pay.tool]
      })
      const help = agentTool({ name: "help", description: "helps", agent: helper })
      return createAgent({ provider: scripted(lead).provider, tools: [help], store, log: false })
    }
    const session = await make([asks(["help", { message: "go" }, "h"])], [asks(["pay", {}, "p"])]).session({ id: "s" })
    assert.deepInclude(await failureOf(session.run("go")), { _tag: "PortFailed", port: "store" })
    await session.release()
    const again = await make(["done"], ["helped"]).session({ id: "s" })
    assert.strictEqual((await again.resume()).text, "done")
    assert.notInclude(line(again.messages), "away")
    assert.match(line(again.messages), /tool help: helped \| assistant: done$/)
    assert.lengthOf(pay.ran, 1)
  })
})
