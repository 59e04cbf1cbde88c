/**
 * Runs a model call or a tool call of a hook. The call has its own turn, outside of the conversation, in which only
 * hooks with `allowReentry` run. Its cost is added to the turn of the hook.
 */
import * as Effect from "effect/Effect"
import { type AgentError, HookRejected } from "../../../data/AgentError.ts"
import * as Usage from "../../../data/Usage.ts"
import { isTurnEnd } from "../../../guard/internal/state/turnEnd.ts"
import { newTurn } from "../../../guard/internal/state/turnState.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { Turn } from "../running/turn.ts"

/** The hook or tool that makes the call, and the method of `ctx` that it uses. */
export interface Caller {
  readonly hook: string
  readonly method: "llm" | "callTool"
  /** The name of a side model. */
  readonly model?: string | undefined
  /** Whether a tool makes the call. `hook` is its name then, and all hooks of the agent run. */
  readonly isTool?: boolean
}

/** Runs the call. Fails with a `HookRejected` if a hook rejects it. */
export const hookCall = <A>(
  turn: Turn,
  caller: Caller,
  act: (side: Turn) => Effect.Effect<A, AgentError | TurnEnded>
): Effect.Effect<A, AgentError> =>
  Effect.suspend(() => {
    if (turn.depth > 0) {
      return refusal(caller, caller.hook, "a hook that runs for another hook's call may not make calls itself")
    }
    const side = sideTurn(turn, caller)
    return act(side).pipe(
      Effect.onExit(() =>
        Effect.sync(() => {
          turn.state.usage = Usage.add(turn.state.usage, side.state.usage)
          turn.state.cost.add(side.state.cost.read())
          turn.state.llmCalls += side.state.llmCalls
          side.io.abortSignal()
        })
      ),
      Effect.catch((error): Effect.Effect<never, AgentError> => {
        if (!isTurnEnd(error)) return Effect.fail(error)
        const { end } = error
        if (end.type === "aborted") return refusal(caller, end.by, end.reason)
        return refusal(caller, caller.hook, end.type === "limited" ? `the cap on ${end.limit}` : end.type)
      })
    )
  })

const sideTurn = (turn: Turn, { hook, isTool = false, model }: Caller): Turn => {
  const { agent, operations, parent, session, state } = turn
  const side = new Turn({
    agent: isTool ? agent.forToolCalls(model) : agent.forHookCalls(model),
    session,
    state: { ...newTurn(state.input, state.turnNumber), stepNumber: state.stepNumber },
    operations,
    parent,
    hookTurn: turn,
    caller: isTool ? undefined : hook
  })
  side.io.services = turn.io.services
  // The call has its own messages, so compacting the conversation would not make it shorter.
  side.window.compactedForOverflow = true
  return side
}

const refusal = ({ hook, method }: Caller, by: string, reason: string): HookRejected =>
  new HookRejected({ hook: by, point: method, reason, message: `ctx.${method} of ${hook} was refused: ${reason}` })
