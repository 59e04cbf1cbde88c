/**
 * Proves that nobody changed a snapshot or a decision: HMAC-SHA256 over canonical JSON, by the platform's Web Crypto.
 */
import { canonical } from "../../../data/Json.ts"
import type { Decision, PendingAsk, RunState } from "../../../data/RunState.ts"

interface Key {
  readonly id: string
  readonly secret: string | Uint8Array
}

/** What a decision is about, and the decision. */
interface Said {
  readonly about: { readonly sessionId: string; readonly turnNumber: number; readonly ask: PendingAsk }
  readonly decision: Decision
}

/** The key's id and the code, in URL-safe base64. */
export const signatureOf = (key: Key, { about: { ask, sessionId, turnNumber }, decision }: Said): Promise<string> => {
  const { callId, expiresAt, fingerprint, nonce, tool } = ask
  return hmac(key, ["decision", { sessionId, turnNumber, callId, tool, fingerprint, expiresAt, nonce }, {
    ...decision,
    signature: undefined
  }])
}

/** Whether one of the keys signed it. */
export const isSigned = (keys: ReadonlyArray<Key>, said: Said): Promise<boolean> =>
  matches(keys, said.decision.signature, (key) => signatureOf(key, said))

/** The state without its messages, sealed. */
export const sealOf = (key: Key, state: Omit<RunState, "messages">): Promise<string> => {
  const { messages: _messages, seal: _seal, ...rest } = state as RunState
  return hmac(key, ["state", { ...rest, revision: undefined }])
}

/** Whether one of the keys sealed it. */
export const isSealed = (keys: ReadonlyArray<Key>, state: RunState): Promise<boolean> =>
  matches(keys, state.seal, (key) => sealOf(key, state))

const matches = async (
  keys: ReadonlyArray<Key>,
  found: string | undefined,
  expected: (key: Key) => Promise<string>
): Promise<boolean> => {
  const key = keys.find(({ id }) => found?.startsWith(`${id}.`))
  return key !== undefined && found !== undefined && isSame(found, await expected(key))
}

/** Takes as long for texts that differ early as for those that differ late. */
const isSame = (a: string, b: string): boolean => {
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
