/** The laws of hooks, checked for every ready-made hook. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as Approval from "@belay/hooks/Approval"
import * as AuditLog from "@belay/hooks/AuditLog"
import * as Budget from "@belay/hooks/Budget"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as InputGuardrail from "@belay/hooks/InputGuardrail"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as ToolArguments from "@belay/hooks/ToolArguments"
import * as HookLaws from "@belay/testing/HookLaws"
import { describe, it } from "vitest"

const price = { costPerInputToken: 1e-6, costPerOutputToken: 2e-6 }
const pure = { deterministic: true, perSession: true } as const

const hooks: ReadonlyArray<readonly [make: (common: HookLaws.Common) => AgentHook, options: HookLaws.Options]> = [
  [(common) => HookDefaults.apply(common, InputGuardrail.make({ patterns: ["forbidden", "(a+)+!"] })), {
    ...pure,
    events: { preTurn: [{ message: "forbidden" }] }
  }],
  [
    (common) => HookDefaults.apply(common, OutputGuardrail.make({ patterns: ["sk-[a-z]+"], redact: "[key]" })),
    { ...pure, events: { postLlmCall: [{ response: { text: "sk-notakey" } }] } }
  ],
  [(common) => HookDefaults.apply(common, Approval.make({ tools: ["deploy", "rm*"] })), {
    ...pure,
    events: { preToolCall: [{ name: "deploy" }, { name: "rm_all" }] }
  }],
  [
    (common) =>
      HookDefaults.apply(
        common,
        ToolArguments.make({ tools: "*", rewrite: (args) => typeof args === "object" ? { seen: true } : undefined })
      ),
    { ...pure, events: { preToolCall: [{ args: {} }] } }
  ],
  [
    (common) => HookDefaults.apply(common, ProviderFallback.make()),
    { ...pure, events: { onLlmError: [{ provider: "one", providers: ["one", "two"] }] } }
  ],
  [(common) => HookDefaults.apply(common, CostTracker.make({ ...price, limit: 1 })), {
    deterministic: true,
    perSession: true
  }],
  [(common) => Budget.make({ ...common, ...price, limits: [{ scope: "session", money: 5, calls: 50 }] }), {
    perSession: true
  }],
  [(common) => HookDefaults.apply(common, AuditLog.make({ sink: () => {} })), {}]
]

for (const [make, options] of hooks) {
  describe(make({}).name, () => {
    for (const { name, run } of HookLaws.cases(() => make({}), { ...options, withCommon: make })) it(name, run)
  })
}
