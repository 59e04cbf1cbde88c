/**
 * Asks the policy whether a call may run. If the policy wants a person to decide, the `onPermission` hooks run. The
 * question is put after the `preToolCall` hooks, together with theirs.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Json } from "../../../data/Json.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { type ExecutionGrant, type ToolMeta, unrestricted } from "../../../data/tool/Tool.ts"
import { ask } from "../../../hook/HookAction.ts"
import { fingerprint, type HookQuestion } from "../../../hook/HookChain.ts"
import type { PolicyAnswer } from "../../../port/RuntimePolicy.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks } from "../point/askHooks.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { isSettled, type RunningCall } from "../state/toolCallState.ts"
import { abortOf } from "../state/turnEnd.ts"
import { resolve, type Step, type Yieldable } from "../state/yieldable.ts"

/** Returns the decision of the policy and the permission hooks about a call. */
export type Verdict =
  | {
    readonly type: "allow"
    readonly grant: ExecutionGrant
    /** What a person has to approve before the call runs. Absent if there is nothing. */
    readonly questions?: ReadonlyArray<HookQuestion>
  }
  | { readonly type: "deny"; readonly reason: string; readonly by: string }

/** Without a policy every call is allowed. */
export const checkPolicy = (
  turn: GuardTurn,
  call: RunningCall,
  tool: ToolMeta,
  args: Json
): Yieldable<Verdict, TurnEnded> =>
  turn.agent.policy === undefined ? allowed : { [Symbol.iterator]: () => check(turn, call, tool, args) }

const allowed: Yieldable<Verdict> = resolve<Verdict, never>({ type: "allow", grant: unrestricted })

const check = function*(turn: GuardTurn, running: RunningCall, tool: ToolMeta, args: Json): Step<Verdict, TurnEnded> {
  const call = { ...running.state.call, args }
  const answer = yield* askPolicy(() => turn.agent.policy!.check(call, tool))
  if (answer.type === "allow") return answer
  if (answer.type === "deny") return { ...answer, by: "policy" }
  const { grant, reason } = answer
  if (isSettled(running.state, "policy", () => fingerprint(tool.name, args))) return { type: "allow", grant }
  const outcome = yield* askHooks(turn, "onPermission", { call, tool, reason, decision: { type: "ask", reason } })
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  const by = outcome?.by ?? "hook"
  if (outcome?.action._tag === "Reject") return { type: "deny", reason: outcome.action.reason, by }
  const decision = outcome?.event.decision
  if (decision?.type === "allow") return { type: "allow", grant }
  if (decision?.type === "deny") return { type: "deny", reason: decision.reason, by }
  // The question is that of the policy, also if hooks give its reason and its terms.
  const questions = outcome?.questions?.map((one) => ({ ...one, by: "policy" }))
  return { type: "allow", grant, questions: questions ?? [{ by: "policy", ask: ask(reason) }] }
}

/** If the policy fails or its answer is invalid, the call is denied. */
const askPolicy = (
  run: () => PolicyAnswer | Effect.Effect<PolicyAnswer, unknown>
): Effect.Effect<PolicyAnswer> =>
  Effect.catchCause(
    Effect.suspend(() => {
      const answer = run()
      return Effect.isEffect(answer) ? Effect.flatMap(answer, readAnswer) : readAnswer(answer)
    }),
    (cause): Effect.Effect<PolicyAnswer> => {
      const why = messageOf(Cause.squash(cause))
      return Effect.succeed({ type: "deny", reason: `the policy failed, so nothing is allowed: ${why}` })
    }
  )

const readAnswer = (answer: PolicyAnswer): Effect.Effect<PolicyAnswer, string> => {
  const hasGrant = (answer?.type === "allow" || answer?.type === "ask") &&
    typeof answer.grant === "object" && answer.grant !== null
  return answer?.type === "deny" || hasGrant
    ? Effect.succeed(answer)
    : Effect.fail("its answer must be allow or ask with a grant, or deny")
}
