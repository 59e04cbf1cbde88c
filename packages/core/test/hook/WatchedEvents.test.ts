/** In development, a hook that reads a field that its event never has gets a warning. */
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "node:assert"
import { createAgent } from "../../src/agent/createAgent.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import { names } from "../../src/hook/HookPoint.ts"
import { recording } from "../support/agent.ts"
import { asks, scripted } from "../support/model.ts"
import { eventAt } from "./events.ts"

const call = { id: "1", name: "look", args: { a: 1 }, tool: {} as never, grant: { sandbox: "none" } } as const

/** Runs a hook at a point, and returns the warnings. */
const warningsOf = (
  use: (event: never) => unknown,
  point: (typeof names)[number] = "preToolCall",
  freeze = true,
  event: unknown = point === "preToolCall" ? call : eventAt(point, "text")
) => {
  const warnings: Array<string> = []
  const scope = Object.assign(scopeOf(), { freeze, warn: (message: string) => void warnings.push(message) })
  const chain = HookChain.makeUnsafe([{ name: "h", [point]: use as never }])
  const run = () => chain.runNow(point, event as never, scope)
  run()
  run()
  assert.deepStrictEqual(scope.failures, [])
  return warnings
}
const read = (field: string) => (event: { readonly [field: string]: unknown }) => void event[field]

describe("the event of a hook in development", () => {
  it("warns once about a field that it never has, and suggests the one that was meant", () => {
    assert.deepStrictEqual(warningsOf(read("arg")), [
      "the event of preToolCall has no field \"arg\". Did you mean \"args\"?"
    ])
    assert.deepStrictEqual(warningsOf(read("toolName")), [
      "the event of preToolCall has no field \"toolName\". Its fields are " +
      "id, name, args, malformed, metadata, changed, tool, grant."
    ])
    assert.match(warningsOf(read("args"), "postToolCall")[0]!, /postToolCall has no field "args"/)
  })

  it("does not warn in production", () => {
    assert.deepStrictEqual(warningsOf(read("arg"), "preToolCall", false), [])
  })

  it("does not warn about optional fields, and about what programs try on any value", () => {
    for (const field of ["malformed", "metadata", "then", "toJSON", "toString", "constructor", "$$typeof", "_tag"]) {
      assert.deepStrictEqual(warningsOf(read(field)), [], field)
    }
  })

  for (const point of names) {
    it(`can be copied, compared, inspected and returned at ${point}`, async () => {
      const event = (point === "preToolCall" ? call : eventAt(point, "text")) as never
      const warnings = warningsOf(
        (given: { readonly call?: unknown }) => {
          assert.deepStrictEqual({ ...given }, event)
          assert.deepEqual({ ...given }, { ...event as object })
          assert.strictEqual(JSON.stringify(given), JSON.stringify(event))
          deepStrictEqual({ ...given }, { ...event as object })
          assert.isFalse("nothing" in given || Object.hasOwn(given, "nothing"))
          assert.isTrue(Object.isFrozen(given))
          for (const key of Object.keys(event)) assert.deepEqual(Object(given)[key], event[key])
          if (point !== "onTurnError" && point !== "onLlmError") assert.deepEqual(structuredClone(given), event)
          void Promise.resolve(given)
          return undefined
        },
        point,
        true,
        event
      )
      assert.deepStrictEqual(warnings, [])
    })
  }

  it("gives other hooks, the model and the tool plain objects if the hook returns it", async () => {
    const seen: Array<object> = []
    const model = scripted([(request) => (seen.push(request), asks(["look"])), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "same",
        preLlmCall: (request) => HookAction.transform(request),
        preTurn: (input) => HookAction.transform(input)
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen.map((one) => Object.getPrototypeOf(one) as unknown), [Object.prototype])
  })
})
