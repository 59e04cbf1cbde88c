/** Starts a session before its first turn: initialises the core, then runs the `onSessionStart` hooks. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import { defined } from "../../../data/option/Fields.ts"
import type { OnSessionStartEvent } from "../../../data/SessionEvent.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { askHooks, notifyHooks } from "../../../guard/internal/point/askHooks.ts"
import { isTurnEnd, stopOf } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { AgentCore } from "../../AgentCore.ts"
import type { WindowTurn } from "../running/turnParts.ts"
import { addMessages } from "./addMessages.ts"

type Failure = AgentError | TurnEnded

/** If the start fails, the next turn tries it again. */
export const startSession = function*(turn: WindowTurn, resumed: boolean): Step<void, Failure> {
  const { agent: { config, core }, io, session } = turn
  const source = resumed ? "resume" : session.source
  if (core.init !== undefined) {
    turn.sessionStartFailed = true
    yield* Effect.mapError(portEffect("init", () => core.init!(session.id)), (cause) => {
      const message = `the core could not be initialised: ${messageOf(cause)}`
      return new PortFailed({ port: core.coreType, message, cause })
    })
    turn.sessionStartFailed = false
  }
  // For hooks, a sub-agent works in the session of the agent that delegated to it.
  if (turn.parent !== undefined) return
  if (turn.hasHooks("onSessionStart")) {
    const outcome = yield* askStartHooks(turn, {
      sessionId: session.id,
      source,
      ...defined({ windowTokens: config.window?.tokens }),
      context: []
    })
    if (outcome !== undefined) addMessages(turn, outcome.event.context, outcome.by ?? "runtime")
  }
  io.publish({ type: "session-start", source })
}

/**
 * Runs the `onSessionStart` hooks. If one refuses the start, or the turn is cancelled meanwhile, the `onSessionEnd`
 * hooks run too: each start has one end.
 */
export const askStartHooks = (
  turn: WindowTurn,
  event: OnSessionStartEvent
): Effect.Effect<Outcome<"onSessionStart"> | undefined, Failure> =>
  Effect.onExit(
    Effect.gen(function*() {
      const outcome = yield* askHooks(turn, "onSessionStart", event)
      const stop = stopOf("onSessionStart", outcome)
      return stop === undefined ? outcome : yield* stop
    }),
    (exit) => Exit.isSuccess(exit) ? Effect.void : endRefused(turn, event.source, exit.cause)
  )

const endRefused = (
  turn: WindowTurn,
  source: OnSessionStartEvent["source"],
  cause: Cause.Cause<Failure>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    turn.sessionStartFailed = true
    const { agent: { core }, io, session } = turn
    const reason = Cause.hasInterruptsOnly(cause) || isTurnEnd(Cause.squash(cause)) ? "abort" : "error"
    io.publish({ type: "session-start", source })
    yield* notifyHooks(turn, "onSessionEnd", { sessionId: session.id, reason })
    yield* shutDownCore(core, session.id, (message) => io.warn(message, "runtime"))
    io.publish({ type: "session-end", reason })
  })

/** Shuts a core down. A failure becomes a warning. */
export const shutDownCore = (
  core: AgentCore,
  sessionId: string,
  warn: (message: string) => void
): Effect.Effect<void> =>
  core.shutdown === undefined ? Effect.void : Effect.catchCause(
    portEffect("shutdown", () => core.shutdown!(sessionId)),
    (cause) => Effect.sync(() => warn(`shutdown of the core failed: ${messageOf(Cause.squash(cause))}`))
  ).pipe(Effect.asVoid)
