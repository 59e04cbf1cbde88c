/** The module `node:crypto`. An `import` would prepare everything that it offers, at the start of every program. */
export const nodeCrypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto")

/** The SHA-256 digest of a text, in hexadecimal. */
export const sha256 = (text: string): string => nodeCrypto().createHash("sha256").update(text).digest("hex")
