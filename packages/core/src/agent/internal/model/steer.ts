/**
 * Messages to a running turn. They are delivered at a step boundary: before the next model call, or when the model has
 * finished its answer, which then is not the last one. The `preTurn` hooks check each of them like any other message of
 * the user.
 */
import type { AgentError } from "../../../data/AgentError.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { abortOf } from "../../../guard/internal/state/turnEnd.ts"
import { userMessage, withKeyOf } from "../../../guard/internal/state/turnState.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { SteerOutcome } from "../../Session.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/** Delivers all messages that wait. Returns how many the model will read. */
export const deliverSteers = function*(turn: AgentTurn): Step<number, AgentError | TurnEnded> {
  const { owner } = turn.session
  let delivered = 0
  // A sub-agent has no owner.
  const next = () => owner?.steers.find((steer) => steer.delivered === undefined)
  for (let steer = next(); steer !== undefined; steer = next()) {
    const outcome = yield* deliver(turn, steer.input)
    if (outcome.type === "delivered") {
      delivered++
      steer.delivered = outcome
    } else owner?.settleSteer(steer, outcome)
  }
  return delivered
}

/** Reports the messages that were delivered, after they have been saved. */
export const settleSteers = ({ session: { owner } }: AgentTurn): void => {
  for (const steer of owner?.steers ?? []) {
    if (steer.delivered !== undefined) owner?.settleSteer(steer, steer.delivered)
  }
}

const deliver = function*(turn: AgentTurn, input: TurnInput): Step<SteerOutcome, AgentError | TurnEnded> {
  const { state } = turn
  // Hooks find the same facts about the turn as before.
  const { metadata = state.input.metadata } = input
  const asked: TurnInput = { ...input, ...(metadata === undefined ? {} : { metadata }), steer: true }
  const outcome = yield* askHooks(turn, "preTurn", asked)
  const { by = "hook" } = outcome ?? {}
  if (outcome?.action._tag === "Reject") return { type: "refused", by, reason: outcome.action.reason }
  if (outcome?.action._tag === "Respond") return { type: "answered", by, text: outcome.action.output.text }
  const given = withKeyOf(asked, outcome?.event ?? asked)
  const abort = abortOf(outcome)
  if (abort !== undefined) {
    if (outcome?.action._tag === "Abort" && outcome.action.keepMessage === true) turn.messages.push(userMessage(given))
    return yield* abort
  }
  turn.messages.push(userMessage(given))
  turn.io.publish({ type: "steer", message: given.message })
  return { type: "delivered", turnNumber: state.turnNumber, stepNumber: state.stepNumber + 1 }
}
