/** The part of an inbox for people who look after a host. */
import type { Care, Inbox } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { HostError } from "../../HostError.ts"

/** Returns it, or fails if the inbox has none. */
export const careOf = ({ care }: Inbox): Effect.Effect<Care, HostError> => {
  if (care !== undefined) return Effect.succeed(care)
  const message = "the inbox of this host has no `care`: use that of a SqliteStore or a PostgresStore"
  return Effect.fail(new HostError({ problem: "store", message }))
}
