/** Monitors how full the model's window is, and compacts before it overflows. */
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { abortOf } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { WindowConfig } from "../../AgentConfig.ts"
import type { WindowTurn } from "../running/turnParts.ts"
import { compact } from "./compact.ts"
import { tokensOf } from "./tokens.ts"

/** The fractions of the window at which the `onBudget` hooks run. */
const warnAt = 0.7
const exceededAt = 0.8

/** Runs the `onBudget` hooks when the window fills up, and compacts when the request would be too long. */
export const fitWindow = function*(turn: WindowTurn, window: WindowConfig): Step<void, TurnEnded> {
  const used = tokensOf(turn)
  const fraction = used / window.tokens
  const level = levelOf(fraction)
  if (level !== turn.window.level && level !== "none") {
    const event = { level, kind: "tokens", scope: "window", used, limit: window.tokens } as const
    const abort = abortOf(yield* askHooks(turn, "onBudget", event))
    if (abort !== undefined) return yield* abort
  }
  turn.window.level = level
  // If a hook requested a fresh session, the conversation is made shorter there.
  if (turn.session.rotation !== undefined) return
  const { compactAt = exceededAt, maxMessages = Infinity } = window
  if (fraction >= compactAt || turn.messages.length > maxMessages) yield* compact(turn, "threshold")
}

/** Records how full the window is, so that hooks run only once for each fraction. */
export const noteWindowLevel = (turn: WindowTurn): void => {
  const { window } = turn.agent.config
  turn.window.level = window === undefined ? "none" : levelOf(tokensOf(turn) / window.tokens)
}

const levelOf = (fraction: number): WindowTurn["window"]["level"] => {
  if (fraction >= exceededAt) return "exceeded"
  return fraction >= warnAt ? "warn" : "none"
}
