/** Failures of a port as errors of an agent. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"

/** Fails with a `PortFailed` when the effect fails or dies. `what` begins the message. */
export const withPortError = <A>(
  port: string,
  what: string,
  effect: Effect.Effect<A, unknown>
): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (failed) => {
    if (Cause.hasInterruptsOnly(failed)) return Effect.interrupt
    const cause = Cause.squash(failed)
    return new PortFailed({ port, message: `${what}: ${messageOf(cause)}`, cause })
  })
