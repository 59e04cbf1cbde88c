/** Which errors of a turn are not about its message. */

/**
 * Whether a turn failed because of a store, or because another process has the session. Nothing is said about the
 * message then, and the session is advanced again later.
 */
export const isTemporary = (error: unknown): boolean => {
  const { _tag, name, port, problem } = Object(error) as { readonly [field: string]: unknown }
  // The agent was closed.
  if (name === "AbortError") return true
  switch (_tag) {
    case "PortFailed":
      return port === "store"
    case "SessionConflict":
    case "StoreError":
      return true
    case "SessionError":
      return problem !== "wrong-input"
    case "SnapshotError":
      return problem !== "wrong-decision"
    default:
      return false
  }
}

/** Whether an error says that no store can work at the moment, whatever it is asked: nobody is to blame for that. */
export const isOutage = (error: unknown): boolean => {
  const { _tag, cause, problem } = Object(error) as { readonly [field: string]: unknown }
  if (_tag === "StoreError") return problem === "full" || problem === "busy" || problem === "unreachable"
  return _tag === "PortFailed" && isOutage(cause)
}

/** Whether an error says that decisions do not fit the questions. Nothing was changed. */
export const isWrongDecision = (error: unknown): boolean =>
  Object(error)._tag === "SnapshotError" && Object(error).problem === "wrong-decision"

/** Whether an error says that the stored state of a session cannot be read, so that trying again does not help. */
export const isBroken = (error: unknown): boolean => {
  const { _tag, cause, problem } = Object(error) as { readonly [field: string]: unknown }
  if (_tag === "SnapshotError") return problem === "not-a-snapshot" || problem === "not-json"
  if (_tag === "StoreError") return problem === "corrupt"
  return _tag === "PortFailed" && isBroken(cause)
}
