/** Turns failures of ports into errors of the agent. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"

/** Fails with a `PortFailed` if the Effect fails or dies. The message begins with `what`. */
export const withPortError = <A>(
  port: string,
  what: string,
  call: () => Effect.Effect<A, unknown>
): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(portEffect(port, call), (failed) => {
    if (Cause.hasInterruptsOnly(failed)) return Effect.interrupt
    const cause = Cause.squash(failed)
    return new PortFailed({ port, message: `${what}: ${messageOf(cause)}`, cause })
  })
