/** Random turns of a session, on a small sample. RandomTurns.long.test.ts has a big one. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, recording, within } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"
import { checkGates, checkTranscripts } from "./randomTurns.ts"

describe("the transcript", () => {
  it("is valid after every ending of 180 random turns with failures, decisions of hooks, cancellations and limits", () =>
    checkTranscripts(60))
})

describe("approve what you run", () => {
  it("a tool runs only with arguments that every gate has seen, for 200 random chains", () => checkGates(200))

  it("a call is denied when hooks keep overruling a gate", async () => {
    let n = 0
    const act = recording("act")
    await using agent = createAgent({
      provider: scripted([{ toolCalls: [{ id: "a", name: "act", args: {} }] }]).provider,
      tools: [act.tool],
      hooks: [
        {
          name: "gate",
          reinvoke: "reapply",
          kind: "policy",
          preToolCall: (call) => HookAction.transform({ ...call, args: { n: n++ } })
        },
        {
          name: "other",
          reinvoke: "reapply",
          kind: "policy",
          preToolCall: (call) => HookAction.transform({ ...call, args: { n: n++ } })
        }
      ]
    })
    const { messages } = await within(agent.run("go"))
    assert.lengthOf(act.ran, 0)
    assertValid(messages)
    assert.match(JSON.stringify(messages), /was asked 3 times and the value still changes/)
  })
})
