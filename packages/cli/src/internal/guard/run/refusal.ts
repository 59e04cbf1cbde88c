/** The guard cannot decide. Nothing may happen then, and the system shows the reason. */

/** Throws when the guard itself cannot work. The message says what happened and what to do. */
export class Refusal extends Error {
  override readonly name = "Refusal"
}

/** Returns the message of anything that was thrown. */
export const messageOf = (error: unknown): string => {
  const message: unknown = typeof error === "object" && error !== null && "message" in error ? error.message : undefined
  return typeof message === "string" && message !== "" ? message : String(error)
}
