/**
 * What stays of an erased session: a hash of its id. A process that was frozen meanwhile may still have the session,
 * and must not store it again.
 */
import { rootOf } from "@belay/core/Erasure"
import { hash } from "node:crypto"

/** Returns the hash that stays of a session, of those that continue it, and of their sub-agents. */
export const erasedHash = (sessionId: string): string => hash("sha256", rootOf(sessionId))

/** Returns the hashes of sessions, each once. */
export const erasedHashes = (sessions: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(sessions.map(erasedHash))
]

/** Whether a write begins a session. Nothing of it was erased then, and it may have the id of an erased one. */
export const isFirst = (sessionId: string, revision: number): boolean =>
  revision === 1 && rootOf(sessionId) === sessionId
