/**
 * Ids that clients see and the ids of the host. A session id of the host begins with the hash of its principal, so that
 * no principal can name a session of another one. Ids are at most 40 characters long where vendors allow no more.
 */
import { canonical } from "@belay/core/Json"
import type { PendingAsk } from "@belay/core/RunState"
import { hash, prefixOf, randomId } from "../../host/internal/site/principal.ts"

/** The part of a session id that clients see: `c` for a name that the client chose, `s` for a new session. */
export type Token = string

const tokenLength = 23

export const isToken = (text: string): boolean => /^[cs][A-Za-z0-9_-]{22}$/.test(text)

/** Returns the token of a new session. */
export const newToken = (): Token => `s${randomId()}`

/** Returns the token of a session that the client named. A token names its own session; any other text is a name. */
export const tokenOf = async (name: string): Promise<Token> => isToken(name) ? name : `c${await hash(name)}`

/** Returns the id of the host's session. */
export const sessionIdOf = async (principal: string, token: Token): Promise<string> =>
  `${await prefixOf(principal)}${token}`

/** Where a question was asked: in which session, and in which of its turns. */
export interface Asking {
  readonly token: Token
  readonly turnNumber: number
}

/** Returns where the open questions of the host's session were asked. */
export const askingOf = (sessionId: string, { turnNumber }: { readonly turnNumber: number }): Asking => ({
  token: sessionId.slice(-tokenLength),
  turnNumber
})

/**
 * Returns the id of a question, as clients see it. It is another one in another session or turn, and when anything
 * about the question has changed, so that an answer counts for the question that was shown and for no other.
 */
export const askIdOf = async ({ token, turnNumber }: Asking, ask: PendingAsk): Promise<string> =>
  `ask_${await hash(`${token} ${turnNumber} ${canonical(ask)}`)}`

/** Returns one id for several questions. */
export const askIdOfAll = async (asking: Asking, asks: ReadonlyArray<PendingAsk>): Promise<string> =>
  await hash((await Promise.all(asks.map((ask) => askIdOf(asking, ask)))).join())

/** Returns the id of a call of a client's tool. It names the session too, for protocols without sessions. */
export const clientCallIdOf = async (asking: Asking, ask: PendingAsk): Promise<string> =>
  `${asking.token}-${(await askIdOf(asking, ask)).slice(4, 16)}`

/** Returns the token in the id of a call of a client's tool. */
export const tokenOfClientCall = (id: string): Token | undefined => {
  const token = id.slice(0, tokenLength)
  return isToken(token) && id.length === tokenLength + 13 ? token : undefined
}

/** Returns the token of the session that a request begins. A request that is repeated with its key begins it once. */
export const tokenOfRequest = async ({ headers }: Request): Promise<Token> => {
  const key = headers.get("idempotency-key")
  return key === null ? newToken() : `s${await hash(`request ${key}`)}`
}

/** Returns the key of the message of a request, if the request can be repeated. */
export const keyOfRequest = async ({ headers }: Request): Promise<string | undefined> => {
  const key = headers.get("idempotency-key")
  return key === null ? undefined : await keyOfText(`request ${key}`)
}

/** Returns a short key for a text of any length. */
export const keyOfText = async (text: string): Promise<string> => `k${await hash(text)}`
