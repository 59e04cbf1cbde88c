/** Approvals that are remembered: of the conversation, and of a project. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { Decision, PendingAsk } from "../../../data/RunState.ts"
import type { RuleStore, StandingRule } from "../../../data/StandingRule.ts"
import type { Ask } from "../../../hook/HookAction.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { Turn } from "../turn/turn.ts"
import type { Step } from "../turn/yieldable.ts"

/** The rules of the conversation. Only the runtime writes them; the hook is part of every rule. */
const standing = HookState.key(
  "approvals/standing",
  Schema.Array(
    Schema.Struct({ hook: Schema.String, tool: Schema.String, fingerprint: Schema.optionalKey(Schema.String) })
  ),
  [],
  { writers: ["runtime"] }
)

/** The store of project rules: the asking hook's own, or the agent's. Nothing when there is none. */
const storeOf = (turn: Turn, where: Ask["standing"]): RuleStore | undefined => {
  if (where === undefined) return turn.agent.config.approvals?.rules
  return typeof where === "string" ? undefined : where
}

/** Whether an approval that was remembered answers the question. */
export const hasStandingRule = function*(
  turn: Turn,
  { by, fingerprint, tool }: PendingAsk,
  where: Ask["standing"]
): Step<boolean, PortFailed> {
  if (where === "none") return false
  const { root } = turn.session
  const ofConversation = root.hasDurable ? root.durable.conversation.get(standing) : []
  const store = storeOf(turn, where)
  const ofProject = store === undefined ? [] : yield* withPortError(store.load)
  return [...ofConversation, ...ofProject].some((rule) =>
    rule.hook === by && rule.tool === tool && (rule.fingerprint === undefined || rule.fingerprint === fingerprint)
  )
}

/** Remembers an approval, when it says so and the asking hook allows it. */
export const rememberApproval = function*(
  turn: Turn,
  { by, fingerprint, tool }: PendingAsk,
  decision: Decision,
  where: Ask["standing"]
): Step<void, PortFailed> {
  if (decision.type !== "approve" || decision.remember === undefined || where === "none") return
  const { scope, what } = decision.remember
  const rule: StandingRule = what === "arguments" ? { hook: by, tool, fingerprint } : { hook: by, tool }
  const store = scope === "project" ? storeOf(turn, where) : undefined
  if (store !== undefined) return yield* withPortError(store.add(rule))
  const { conversation } = turn.session.root.durable
  conversation.write(standing, [...conversation.get(standing), rule], "runtime")
}

const withPortError = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (failed) => {
    const cause = Cause.squash(failed)
    return new PortFailed({ port: "approvals.rules", message: `the approval rules failed: ${messageOf(cause)}`, cause })
  })
