/** What the process around the agent says, where there is one. */

/** Whether this is production: hooks then receive what must not be changed unfrozen. */
export const isProduction = (): boolean => globalThis.process?.env?.NODE_ENV === "production"

/** The folder the program runs in. */
export const folder = (): string => globalThis.process?.cwd?.() ?? "."
