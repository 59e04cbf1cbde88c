/** Hand work to another agent: fold the pre hooks, do the act, fold the post hooks. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../data/AgentError.ts"
import type { Delegation, DelegationResult } from "../../data/Delegation.ts"
import { failure, success, type ToolCallEvent, type ToolResult } from "../../data/Tool.ts"
import type { AnyTool } from "../defineTool.ts"
import type { TurnEnded } from "../TurnEnded.ts"
import { say } from "./say.ts"
import { ended, type Turn } from "./turn.ts"

/** The result of the tool call that delegates. */
export const delegated = function*(
  turn: Turn,
  { args, name }: ToolCallEvent,
  act: NonNullable<AnyTool["delegate"]>
): Effect.fn.Return<ToolResult, AgentError | TurnEnded> {
  const asked: Delegation = { agent: name, type: "delegate", message: messageOf(args) }
  const before = turn.fold("preDelegation", asked)
  const pre = before !== undefined && Effect.isEffect(before) ? yield* before : before
  if (pre?.action._tag === "Reject") return failure(pre.action.reason)
  if (pre?.action._tag === "Abort") return yield* ended({ type: "aborted", reason: pre.action.reason, by: pre.by! })
  const delegation = pre?.event ?? asked
  const answered = pre?.action._tag === "Respond" ? pre.action.output : undefined
  const result = answered ?? (yield* handOver(delegation, act))
  if ("error" in result) return failure(result.error)
  const after = turn.fold("postDelegation", { delegation, result, executed: answered === undefined })
  const post = after !== undefined && Effect.isEffect(after) ? yield* after : after
  if (post?.action._tag === "Reject") return failure(post.action.reason)
  if (post?.action._tag === "Abort") return yield* ended({ type: "aborted", reason: post.action.reason, by: post.by! })
  return success(post === undefined ? result.text : post.event.result.text)
}

const handOver = (
  delegation: Delegation,
  act: NonNullable<AnyTool["delegate"]>
): Effect.Effect<DelegationResult | { readonly error: string }> =>
  Effect.catch(
    Effect.tryPromise({ try: (signal) => act(delegation, signal), catch: (error) => say(error) }),
    (error) => Effect.succeed({ error })
  )

const messageOf = (args: unknown): string =>
  typeof args === "object" && args !== null && "message" in args && typeof args.message === "string" ? args.message : JSON.stringify(args)
