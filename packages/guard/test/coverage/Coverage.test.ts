/** What a driver cannot do is said. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { TokenLimit } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import * as AiSdk from "../../src/AiSdk.ts"
import * as Guard from "../../src/Guard.ts"
import { kit } from "../support/aiSdk.ts"
import { scripted } from "../support/model.ts"

describe("what cannot be guarded", () => {
  it("is refused at construction: a hook that must hold where the SDK has no point", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", onLlmError: () => HookAction.abort("no") })]
    const guard = Guard.make({ hooks, log: false })
    assert.throws(
      () => AiSdk.make(guard),
      /ai-sdk cannot enforce keeper at onLlmError .*allowUnguarded: \["keeper"\]/
    )
    assert.doesNotThrow(() => AiSdk.make(Guard.make({ hooks, log: false, allowUnguarded: ["keeper"] })))
  })

  it("is accepted where a ready hook only counts", () => {
    const hooks = [TokenLimit.make({ perTurn: { total: 1000 } })]
    assert.doesNotThrow(() => AiSdk.make(Guard.make({ hooks, log: false })))
  })

  it("is said: the table of the guard has each hook with each of its points", () => {
    const guard = Guard.make({
      log: false,
      hooks: [defineHook({ name: "both", preToolCall: () => {}, postCompaction: () => {}, onLlmError: () => {} })]
    })
    const rows = guard.coverage(AiSdk.driver).filter(({ hooks }) => hooks.length > 0)
    assert.deepStrictEqual(rows, [
      { place: "onLlmError", reach: "unreachable", hooks: ["both"] },
      { place: "preToolCall", reach: "enforced", hooks: ["both"] },
      { place: "postCompaction", reach: "absent", hooks: ["both"] }
    ])
  })

  it("needs the driver of an adapter", () => {
    assert.throws(() => Guard.make({ log: false }).coverage(undefined as never), /expected the driver of an adapter/)
  })

  it("is refused by name: names of models, older models, models and tools that are wrapped twice", () => {
    const { guarded, tools } = kit([])
    assert.throws(() => guarded.model("vendor/model" as never), /found the name "vendor\/model"/)
    assert.throws(() => guarded.model({ specificationVersion: "v2" } as never), /found v2/)
    assert.throws(() => guarded.model(guarded.model(scripted())), /guarded already/)
    assert.throws(() => guarded.tools(guarded.tools(tools)), /tools.send_mail: it is guarded already/)
  })
})
