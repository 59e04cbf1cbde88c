/** Reads facts about the process of the agent. A browser has no process. */

/** Whether this is production. Values for hooks are not frozen in production. */
export const isProduction = (): boolean => globalThis.process?.env?.NODE_ENV === "production"

/** The folder in which the program runs. */
export const workingFolder = (): string => globalThis.process?.cwd?.() ?? "."
