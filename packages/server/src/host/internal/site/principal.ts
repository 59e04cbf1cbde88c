/** The ids of the sessions of a principal that is served. */

/**
 * Returns what the ids of all sessions of a principal begin with: a hash, so that no principal can name a session of
 * another one.
 */
export const prefixOf = async (principal: string): Promise<string> => `p${await hash(principal)}.`

/** 128 bits of a hash, as 22 characters. */
export const hash = async (text: string): Promise<string> => {
  const bytes = sha256?.(text) ?? await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return base64Url(new Uint8Array(bytes).subarray(0, 16))
}

/** 128 random bits, as 22 characters. */
export const randomId = (): string => base64Url(crypto.getRandomValues(new Uint8Array(16)))

/** In Node: `subtle` takes another thread for a text of any length, which costs as much as the rest of a request. */
const sha256 = ((): ((text: string) => Uint8Array) | undefined => {
  const { hash } = (globalThis.process?.getBuiltinModule?.("node:crypto") ?? {}) as Partial<
    typeof import("node:crypto")
  >
  return hash === undefined ? undefined : (text) => hash("sha256", text, "buffer")
})()

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").slice(0, 22)
