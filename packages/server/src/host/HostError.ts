/**
 * The error of a host.
 *
 * @since 0.1.0
 */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/**
 * A host cannot do what was asked:
 * - `full`: as many messages wait as the capacity allows; `limit` names it
 * - `wrong-input`: the session id, the message, the key, the time or the decisions are not valid
 * - `unknown`: the session has no entry with this key
 * - `newer`: a newer release has written something that this one does not know, so this one leaves the session alone
 * - `pinned`: the session belongs to another release, so this one leaves it alone
 * - `started`: the host runs sessions already
 * - `store`: the inbox, the session store or the engine failed; `cause` has its error. Try again with the same key
 *
 * @category errors
 * @since 0.1.0
 */
export class HostError extends TaggedError<HostError>()("HostError", {
  problem: Schema.Literals(["full", "wrong-input", "unknown", "newer", "pinned", "started", "store"]),
  sessionId: Schema.optionalKey(Schema.String),
  key: Schema.optionalKey(Schema.String),
  limit: Schema.optionalKey(Schema.Literals(["inAll", "perTenant", "perSession", "sessionsPerTenant"])),
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
