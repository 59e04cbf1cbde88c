/** The costs of many equal calls. */
import * as HookChain from "@belay/core/HookChain"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as TestScope from "@belay/testing/TestScope"
import { spent } from "../../../../test/support/events.ts"

/** Tracks `calls` calls, each of 0.0000004 dollars, and returns the total. */
export const totalAfter = (calls: number): CostTracker.Total => {
  const chain = HookChain.makeUnsafe([CostTracker.make({ costPerInputToken: 1e-7, costPerOutputToken: 3e-7 })])
  const scope = TestScope.make({ freeze: false, record: false })
  const event = spent(1, 1)
  for (let call = 0; call < calls; call++) void chain.runNow("postLlmCall", event, scope)
  return CostTracker.total(scope.state)
}
