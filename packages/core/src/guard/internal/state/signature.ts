/** Signs and verifies snapshots and decisions: HMAC-SHA256 of canonical JSON, with the Web Crypto API. */
import { canonical } from "../../../data/Json.ts"
import { type Decision, type PendingAsk, readDecision, type RunState } from "../../../data/RunState.ts"

interface Key {
  readonly id: string
  readonly secret: string | Uint8Array
}

/** A decision and the question that it answers. */
export interface Answer {
  readonly question: { readonly sessionId: string; readonly turnNumber: number; readonly ask: PendingAsk }
  readonly decision: Decision
}

/** Signs a decision. A signature is the id of the key, a dot, and the MAC in URL-safe base64. */
export const signDecision = (key: Key, { decision, question }: Answer): Promise<string> => {
  const { ask: { callId, expiresAt, fingerprint, nonce, tool }, sessionId, turnNumber } = question
  return hmac(key, ["decision", { sessionId, turnNumber, callId, tool, fingerprint, expiresAt, nonce }, {
    // A decision is read without the spaces around the names of people.
    ...readDecision(decision) ?? decision,
    signature: undefined
  }])
}

/** Whether one of the keys signed the decision. */
export const isSignedDecision = (keys: ReadonlyArray<Key>, answer: Answer): Promise<boolean> =>
  verify(keys, answer.decision.signature, (key) => signDecision(key, answer))

/**
 * Signs a state, with its messages if it has them: a snapshot has, a commit of a store has not. The signature covers
 * the revision too: otherwise a snapshot that was resumed before would count again with the newest revision.
 */
export const signState = (key: Key, state: Omit<RunState, "messages"> & Partial<RunState>): Promise<string> => {
  const { seal: _seal, ...rest } = state
  return hmac(key, ["state", rest])
}

/** Whether one of the keys signed the state. */
export const isSignedState = (keys: ReadonlyArray<Key>, state: RunState): Promise<boolean> =>
  verify(keys, state.seal, (key) => signState(key, state))

const verify = async (
  keys: ReadonlyArray<Key>,
  signature: string | undefined,
  expected: (key: Key) => Promise<string>
): Promise<boolean> => {
  const key = keys.find(({ id }) => signature?.startsWith(`${id}.`))
  return key !== undefined && signature !== undefined && isEqual(signature, await expected(key))
}

/** Compares two texts in constant time, so that the time does not reveal where they differ. */
const isEqual = (a: string, b: string): boolean => {
  let differences = a.length ^ b.length
  for (let i = 0; i < b.length; i++) differences |= (a.charCodeAt(i) || 0) ^ b.charCodeAt(i)
  return differences === 0
}

const hmac = async ({ id, secret }: Key, value: unknown): Promise<string> => {
  const encoder = new TextEncoder()
  const bytes = typeof secret === "string" ? encoder.encode(secret) : new Uint8Array(secret)
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const code = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(canonical(value))))
  return `${id}.${btoa(String.fromCharCode(...code)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`
}
