/** A budget that parallel calls share: no order of the calls may exceed it. */
import { agentTool, createAgent, defineHook, HookAction } from "@belay/core"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as Budget from "@belay/hooks/Budget"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, look, text } from "../support/budget.ts"
import { tryInterleavings } from "../support/interleavings.ts"

describe("Budget with parallel calls", () => {
  it("never spends more than the limit and one reserved call, in 500 interleavings of parallel agents and failed calls", () =>
    tryInterleavings(500))

  it("keeps the limit of a run with sub-agents, retries and approval pauses", async () => {
    for (let seed = 0; seed < 60; seed++) {
      const { below } = random(seed)
      let spent = 0
      let turns = 0
      const provider = (name: string, first: LlmResponse): LlmProvider => ({
        name,
        complete: ({ messages }) =>
          Effect.suspend(() => {
            if (below(8) === 0) return Effect.fail(new ProviderError.Overloaded({ provider: name, message: "busy" }))
            const cost = { inputTokens: below(100), outputTokens: below(100) }
            spent += cost.inputTokens + cost.outputTokens
            turns++
            const last = messages.at(-1)!.role === "tool" && below(3) > 0
            return Effect.succeed({ ...(last ? text("done") : first), usage: cost })
          })
      })
      const make = () => {
        const worker = createAgent({
          name: "worker",
          provider: provider("w", calls({ name: "look", args: {} })),
          tools: [look]
        })
        return createAgent({
          provider: provider(
            "r",
            calls({ name: "work", args: { message: "a" } }, { name: "work", args: { message: "b" } }, {
              name: "look",
              args: {}
            })
          ),
          tools: [agentTool({ name: "work", description: "w", agent: worker }), look],
          limits: { steps: 12 },
          hooks: [
            Budget.make({
              limits: [{ scope: "run", tokens: 1_500 }],
              tokenizer: { count: () => 0 },
              assumeOutputTokens: 200
            }),
            defineHook({
              name: "ask",
              tools: "look",
              preToolCall: () => below(3) === 0 ? HookAction.ask("?") : undefined
            }),
            defineHook({ name: "again", onLlmError: () => HookAction.transform({ type: "retry", delayMs: 0 }) })
          ]
        })
      }
      let result = await make().run("go").catch(() => undefined)
      for (
        let pause = 0;
        pause < 6 && result !== undefined && (result.status === "suspended" || result.status === "limited");
        pause++
      ) {
        const snapshot = JSON.stringify(result.snapshot)
        const decisions = result.status === "suspended"
          ? Object.fromEntries(result.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
          : {}
        result = await make().resume(snapshot, decisions).catch(() => undefined)
      }
      assert.isAtMost(spent, 1_500 + 200, `seed ${seed}`)
      assert.isAbove(turns, 0)
    }
  })
})
