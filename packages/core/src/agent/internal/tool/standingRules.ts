/** Remembered approvals of the conversation and of a project. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PortFailed } from "../../../data/AgentError.ts"
import type { Decision, PendingAsk } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { RuleStore, StandingRule } from "../../../data/tool/StandingRule.ts"
import { changesOf, type DefinitionChange, ToolDefinition } from "../../../data/tool/ToolDefinition.ts"
import type { Ask } from "../../../hook/HookAction.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { Turn } from "../turn/turn.ts"
import type { Step } from "../turn/yieldable.ts"

/** The rules of the conversation. No hook has an empty name, so only the runtime writes them. Each names its hook. */
const standing = HookState.ownKey(
  "standing-approvals",
  Schema.Array(
    Schema.Struct({
      hook: Schema.String,
      tool: Schema.String,
      fingerprint: Schema.optionalKey(Schema.String),
      definition: Schema.optionalKey(ToolDefinition)
    })
  ),
  []
)("")

/** A remembered approval of the tool: it counts, there is none, or the tool has changed since. */
type Remembered = "counts" | "none" | ReadonlyArray<DefinitionChange>

/** Looks for a remembered approval that answers the question. */
export const findStandingRule = function*(
  turn: Turn,
  { by, definition, fingerprint, tool }: PendingAsk,
  where: Ask["standing"]
): Step<Remembered, PortFailed> {
  if (where === "none" || definition === undefined) return "none"
  const { root } = turn.session
  const ofConversation = root.hasDurable ? root.durable.conversation.get(standing) : []
  const ofProject = yield* loadRules(turn, by, where)
  const rules = [...ofConversation, ...ofProject].filter((rule) =>
    rule.hook === by && rule.tool === tool && (rule.fingerprint === undefined || rule.fingerprint === fingerprint)
  )
  const changes = rules.flatMap((rule) => rule.definition === undefined ? [] : [changesOf(rule.definition, definition)])
  return changes.some(({ length }) => length === 0) ? "counts" : changes.at(-1) ?? "none"
}

/** Remembers an approval, if the decision asks for that and the asking hook allows it. */
export const rememberApproval = function*(
  turn: Turn,
  { by, definition, fingerprint, tool }: PendingAsk,
  decision: Decision,
  where: Ask["standing"]
): Step<void, PortFailed> {
  if (decision.type !== "approve" || decision.remember === undefined || where === "none") return
  const { scope, what } = decision.remember
  const rule: StandingRule = {
    hook: by,
    tool,
    ...(what === "arguments" ? { fingerprint } : {}),
    ...(definition === undefined ? {} : { definition })
  }
  const ofAgent = turn.agent.config.approvals?.rules
  if (scope === "project" && isStore(where)) {
    const message = `the approval of ${tool} could not be remembered`
    return yield* Effect.catchCause(where.add(rule), (cause) => warnRules(turn, by, message, cause))
  }
  if (scope === "project" && where === undefined && ofAgent !== undefined) {
    return yield* withPortError(ofAgent.add(rule))
  }
  const { conversation } = turn.session.root.durable
  conversation.write(standing, [...conversation.get(standing), rule], "")
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
