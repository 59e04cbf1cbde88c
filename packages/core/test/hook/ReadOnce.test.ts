/** An answer counts as it was when it was read for the first time. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../src/agent/createAgent.ts"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import { recording } from "../support/agent.ts"
import { asks, scripted } from "../support/model.ts"

/** An object whose field answers with these values, one after the other. */
const flipping = (field: string, ...values: ReadonlyArray<unknown>) => {
  let reads = 0
  const get = () => values[Math.min(reads++, values.length - 1)]
  return Object.defineProperty({ reason: "flipped", _tag: "Reject" }, field, {
    get,
    enumerable: true,
    configurable: true
  })
}

const outcome = async (answer: () => unknown, more: Partial<AgentHook> = {}, records = false) => {
  const look = recording("look")
  await using agent = createAgent({
    provider: scripted([asks(["look"]), "done"]).provider,
    tools: [look.tool],
    log: false,
    records,
    hooks: [{ name: "flip", preToolCall: answer as never, ...more }]
  })
  return { status: (await agent.run("go")).status, ran: look.ran.length }
}

/** The ways in which a hook gives an answer, and the ways in which the chain reads it. */
const ways: ReadonlyArray<readonly [string, (answer: () => unknown) => () => unknown, Partial<AgentHook>, boolean]> = [
  ["at once", (answer) => answer, {}, false],
  ["from a promise", (answer) => async () => answer(), {}, false],
  ["with records", (answer) => answer, {}, true],
  ["for some tools", (answer) => answer, { tools: "look" }, false],
  ["as a gate", (answer) => answer, { reinvoke: "ifChanged" }, false],
  ["frozen", (answer) => () => Object.freeze(answer()), {}, false],
  ["as a proxy", (answer) => () => new Proxy(answer() as object, {}), {}, false]
]

describe("an answer that changes while it is read", () => {
  for (const [how, wrap, more, records] of ways) {
    it(`${how}: Continue and then Abort continues, Abort and then Continue aborts`, async () => {
      const first = await outcome(wrap(() => flipping("_tag", "Continue", "Abort")), more, records)
      assert.deepStrictEqual(first, { status: "completed", ran: 1 })
      const second = await outcome(wrap(() => flipping("_tag", "Abort", "Continue")), more, records)
      assert.deepStrictEqual(second, { status: "aborted", ran: 0 })
    })

    it(`${how}: an answer that cannot be read the first time is a failure of the hook`, async () => {
      const throwing = () => {
        let reads = 0
        return {
          reason: "flipped",
          get _tag() {
            if (reads++ === 0) throw new Error("not now")
            return "Abort"
          }
        }
      }
      assert.deepStrictEqual(await outcome(wrap(throwing), more, records), { status: "completed", ran: 1 })
      const closed = await outcome(wrap(throwing), { ...more, failOpen: false }, records)
      assert.deepStrictEqual(closed, { status: "completed", ran: 0 })
    })
  }
})
