/** The ids of the sessions of a principal that is served. */

/**
 * Returns what the ids of all sessions of a principal begin with: a hash, so that no principal can name a session of
 * another one.
 */
export const prefixOf = async (principal: string): Promise<string> => `p${await hash(principal)}.`

/** 128 bits of a hash, as 22 characters. */
export const hash = async (text: string): Promise<string> => {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  return btoa(String.fromCharCode(...bytes.subarray(0, 16))).replaceAll("+", "-").replaceAll("/", "_").slice(0, 22)
}
