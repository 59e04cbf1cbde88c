/** No other hook can hide an operation from a policy, at any point, in any order and tier. */
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import { eventAt, outputAt, points, readAt, valueAt } from "./events.ts"
import { isLegal } from "./laws/reference.ts"

const tiers = ["managed", "project", "agent"] as const
const cases = points.flatMap((point) =>
  (["Replace", "Respond"] as const).filter((tag) => isLegal(point, tag)).map((tag) => ({ point, tag }))
)

describe("a policy", () => {
  it.each(cases)(
    "sees the value at $point after another hook answered $tag, and can refuse it",
    async ({ point, tag }) => {
      for (const tier of tiers) {
        for (const policyTier of tiers) {
          for (const priority of [1, 100, 200]) {
            for (const isAsync of [false, true]) {
              const seen: Array<string> = []
              const hiding = {
                name: "hiding",
                tier,
                [point]: () =>
                  tag === "Replace"
                    ? HookAction.replace(valueAt(point, "replaced"))
                    : HookAction.respond(outputAt(point, "answered"))
              } as AgentHook
              const policy = {
                name: "guard",
                kind: "policy",
                tier: policyTier,
                priority,
                reinvoke: "ifChanged",
                [point]: (event: unknown) => {
                  seen.push(readAt(point, event))
                  if (!isLegal(point, "Reject")) return undefined
                  const action = tag === "Respond" || seen.at(-1) === "replaced" ? HookAction.reject("no") : undefined
                  return isAsync ? Promise.resolve(action) : action
                }
              } as AgentHook
              const chain = HookChain.makeUnsafe([hiding, policy])
              const outcome = await Effect.runPromise(chain.run(point, eventAt(point, "") as never, scopeOf()))
              assert.strictEqual(seen.at(-1), tag === "Replace" ? "replaced" : "")
              if (isLegal(point, "Reject")) {
                assert.deepStrictEqual([outcome.action._tag, outcome.by], [
                  "Reject",
                  "guard"
                ])
              }
            }
          }
        }
      }
    }
  )

  it("decides before another hook when both answer for the operation", async () => {
    const answering = (name: string, kind: "advisory" | "policy", priority: number): AgentHook => ({
      name,
      kind,
      priority,
      preToolCall: () => HookAction.respond(name)
    })
    const chain = HookChain.makeUnsafe([
      answering("advice", "advisory", 1),
      answering("first policy", "policy", 2),
      answering("second policy", "policy", 3)
    ])
    const outcome = await Effect.runPromise(chain.run("preToolCall", eventAt("preToolCall", "") as never, scopeOf()))
    assert.deepStrictEqual(outcome.action, HookAction.respond("first policy"))
  })
})
