/** Remembered approvals of the conversation and of a project. */
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

/** The rules of the conversation. Only the runtime writes them. Every rule names its hook. */
const standing = HookState.key(
  "approvals/standing",
  Schema.Array(
    Schema.Struct({ hook: Schema.String, tool: Schema.String, fingerprint: Schema.optionalKey(Schema.String) })
  ),
  [],
  { writers: ["runtime"] }
)

/** Whether a remembered approval answers the question. */
export const hasStandingRule = function*(
  turn: Turn,
  { by, fingerprint, tool }: PendingAsk,
  where: Ask["standing"]
): Step<boolean, PortFailed> {
  if (where === "none") return false
  const { root } = turn.session
  const ofConversation = root.hasDurable ? root.durable.conversation.get(standing) : []
  const ofProject = yield* loadRules(turn, by, where)
  return [...ofConversation, ...ofProject].some((rule) =>
    rule.hook === by && rule.tool === tool && (rule.fingerprint === undefined || rule.fingerprint === fingerprint)
  )
}

/** Remembers an approval, if the decision asks for that and the asking hook allows it. */
export const rememberApproval = function*(
  turn: Turn,
  { by, fingerprint, tool }: PendingAsk,
  decision: Decision,
  where: Ask["standing"]
): Step<void, PortFailed> {
  if (decision.type !== "approve" || decision.remember === undefined || where === "none") return
  const { scope, what } = decision.remember
  const rule: StandingRule = what === "arguments" ? { hook: by, tool, fingerprint } : { hook: by, tool }
  const ofAgent = turn.agent.config.approvals?.rules
  if (scope === "project" && isStore(where)) {
    const message = `the approval of ${tool} could not be remembered`
    return yield* Effect.catchCause(where.add(rule), (cause) => warnRules(turn, by, message, cause))
  }
  if (scope === "project" && where === undefined && ofAgent !== undefined) {
    return yield* withPortError(ofAgent.add(rule))
  }
  const { conversation } = turn.session.root.durable
  conversation.write(standing, [...conversation.get(standing), rule], "runtime")
}

/** Loads the project rules from the store of the asking hook, or from that of the agent. */
const loadRules = function*(
  turn: Turn,
  by: string,
  where: Ask["standing"]
): Step<ReadonlyArray<StandingRule>, PortFailed> {
  if (isStore(where)) {
    const message = "the approval rules failed, so the question is asked"
    return yield* Effect.catchCause(where.load, (cause) => Effect.as(warnRules(turn, by, message, cause), []))
  }
  const ofAgent = turn.agent.config.approvals?.rules
  return where === undefined && ofAgent !== undefined ? yield* withPortError(ofAgent.load) : []
}

const isStore = (where: Ask["standing"]): where is RuleStore => typeof where === "object"

/** The store of a hook failed. The turn does not fail because of that. */
const warnRules = ({ io }: Turn, hook: string, message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.sync(() => io.warn(`${message}: ${messageOf(Cause.squash(cause))}`, hook))

/** The store of the agent failed, so the turn fails, as with any port. */
const withPortError = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (failed) => {
    const cause = Cause.squash(failed)
    return new PortFailed({ port: "approvals.rules", message: `the approval rules failed: ${messageOf(cause)}`, cause })
  })
