/** Remembered approvals of the conversation and of a project. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PortFailed } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import type { PendingAsk, Remember } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { RuleStore, StandingRule } from "../../../data/tool/StandingRule.ts"
import { changesOf, type DefinitionChange, ToolDefinition } from "../../../data/tool/ToolDefinition.ts"
import type { Ask } from "../../../hook/HookAction.ts"
import type { HookQuestion } from "../../../hook/HookChain.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import type { Questions } from "../state/questions.ts"
import type { Step } from "../state/yieldable.ts"

/** The rules of the conversation. No hook has an empty name, so only the runtime writes them. Each names its hook. */
const standing = HookState.ownKey(
  "standing-approvals",
  Schema.Array(
    Schema.Struct({
      hook: Schema.String,
      tool: Schema.String,
      fingerprint: Schema.optionalKey(Schema.String),
      definition: Schema.optionalKey(ToolDefinition),
      approvedBy: Schema.optionalKey(Schema.Array(Schema.String))
    })
  ),
  []
)("")

/** A remembered approval of the tool: it counts, there is none, or the tool has changed since. */
type Remembered = "counts" | "none" | ReadonlyArray<DefinitionChange>

/** Looks for remembered approvals that answer everybody who asks. */
export const findStandingRule = function*(
  turn: GuardTurn,
  ask: PendingAsk,
  questions: Questions
): Step<Remembered, PortFailed> {
  let found: Remembered = "counts"
  for (const question of questions) {
    const one = yield* findRuleFor(turn, ask, question)
    if (one === "none") return one
    if (one !== "counts") found = one
  }
  return found
}

/** Looks for a remembered approval that answers one of those who ask. */
const findRuleFor = function*(
  turn: GuardTurn,
  ask: PendingAsk,
  { ask: { standing: where }, by }: HookQuestion
): Step<Remembered, PortFailed> {
  const { definition, fingerprint, tool } = ask
  if (where === "none" || definition === undefined) return "none"
  const { root } = turn.session
  const ofConversation = root.hasDurable ? root.durable.conversation.get(standing) : []
  const ofProject = yield* loadRules(turn, by, where)
  const hook = nameInTree(turn, by)
  const rules = [...ofConversation, ...ofProject].filter((rule) =>
    rule.hook === hook && rule.tool === tool && isApprovedByEnough(rule, ask) &&
    (rule.fingerprint === undefined || rule.fingerprint === fingerprint)
  )
  const changes = rules.flatMap((rule) => rule.definition === undefined ? [] : [changesOf(rule.definition, definition)])
  return changes.some(({ length }) => length === 0) ? "counts" : changes.at(-1) ?? "none"
}

/** Whether those who approved the rule could also answer this question. */
const isApprovedByEnough = ({ approvedBy = [] }: StandingRule, { approvers, quorum = 1 }: PendingAsk): boolean => {
  if (approvers === undefined && quorum === 1) return true
  const people = new Set(approvedBy.filter((name) => approvers === undefined || approvers.includes(name)))
  return people.size >= quorum
}

/** Remembers an approval for everybody who asked, if all who approved want that and the askers allow it. */
export const rememberApproval = function*(
  turn: GuardTurn,
  { approved, definition, fingerprint, remember, tool }: PendingAsk,
  questions: Questions
): Step<void, PortFailed> {
  if (remember === undefined || remember.what === "field") return
  for (const { ask: { standing: where }, by } of questions) {
    if (where === "none") continue
    const rule: StandingRule = {
      hook: nameInTree(turn, by),
      tool,
      ...(remember.what === "arguments" ? { fingerprint } : {}),
      ...(definition === undefined ? {} : { definition }),
      ...(approved === undefined ? {} : { approvedBy: approved })
    }
    yield* addRule(turn, rule, remember.scope, where)
  }
}

/** A hook that the agents of a tree have under several names has its rules under one of them. */
const nameInTree = ({ agent }: GuardTurn, hook: string): string => agent.hookNames.get(hook) ?? hook

const addRule = function*(
  turn: GuardTurn,
  rule: StandingRule,
  scope: Remember["scope"],
  where: Ask["standing"]
): Step<void, PortFailed> {
  const ofAgent = turn.agent.config.approvals?.rules
  if (scope === "project" && isStore(where)) {
    const message = `the approval of ${rule.tool} could not be remembered`
    return yield* Effect.catchCause(where.add(rule), (cause) => warnRules(turn, rule.hook, message, cause))
  }
  if (scope === "project" && where === undefined && ofAgent !== undefined) {
    return yield* withPortError(portEffect("add", () => ofAgent.add(rule)))
  }
  const { conversation } = turn.session.root.durable
  conversation.write(standing, [...conversation.get(standing), rule], "")
}

/** Loads the project rules from the store of the asking hook, or from that of the agent. */
const loadRules = function*(
  turn: GuardTurn,
  by: string,
  where: Ask["standing"]
): Step<ReadonlyArray<StandingRule>, PortFailed> {
  if (isStore(where)) {
    const message = "the approval rules failed, so the question is asked"
    return yield* Effect.catchCause(where.load, (cause) => Effect.as(warnRules(turn, by, message, cause), []))
  }
  const ofAgent = turn.agent.config.approvals?.rules
  return where === undefined && ofAgent !== undefined
    ? yield* withPortError(portEffect("load", () => ofAgent.load))
    : []
}

const isStore = (where: Ask["standing"]): where is RuleStore => typeof where === "object"

/** The store of a hook failed. The turn does not fail because of that. */
const warnRules = (
  { io }: GuardTurn,
  hook: string,
  message: string,
  cause: Cause.Cause<unknown>
): Effect.Effect<void> => Effect.sync(() => io.warn(`${message}: ${messageOf(Cause.squash(cause))}`, hook))

/** The store of the agent failed, so the turn fails, as with any port. */
const withPortError = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (failed) => {
    const cause = Cause.squash(failed)
    return new PortFailed({ port: "approvals.rules", message: `the approval rules failed: ${messageOf(cause)}`, cause })
  })
