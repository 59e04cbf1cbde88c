/** Facts about the process around the agent, where there is one (there is none in a browser). */

/** Whether this is production: hooks then receive values that are not frozen. */
export const isProduction = (): boolean => globalThis.process?.env?.NODE_ENV === "production"

/** The folder in which the program runs. */
export const workingFolder = (): string => globalThis.process?.cwd?.() ?? "."
