/** Returns the decision of a hook about a tool call. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Json } from "@belay/core/Json"
import type { PreToolCallEvent } from "@belay/core/Tool"
import { dryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import { call } from "../../../../test/support/events.ts"

/** A decision: the action, with the reason of a rejection, a question or a failure of the hook. */
export interface Decision {
  readonly _tag: string
  readonly reason: string
}

/** Runs one hook before a call of a tool. */
export const decide = (
  hook: AgentHook,
  name: string,
  args: Json,
  { cwd = "/tmp/nowhere", tool = {} }: {
    readonly cwd?: string
    readonly tool?: Partial<PreToolCallEvent["tool"]>
  } = {}
): Effect.Effect<Decision> => {
  const event = call(name, args)
  return Effect.map(
    Effect.promise(() => dryRun([hook], "preToolCall", { ...event, tool: { ...event.tool, ...tool } }, { cwd })),
    // A failure that the policy of the hook makes a rejection is one.
    ({ answer, policy, reason = "" }) => ({ _tag: policy === "reject" ? "Reject" : answer, reason })
  )
}
