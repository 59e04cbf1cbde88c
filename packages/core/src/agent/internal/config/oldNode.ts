/** Finds out that a program runs on a version of Node that Belay does not support. */

/** The oldest version that is tested. */
const [major, minor] = [22, 22]

/** The sentence for the log, or nothing. Other runtimes have versions of their own next to that of Node. */
export const oldNode = (versions: Readonly<Record<string, string | undefined>> = versionsOf()): string | undefined => {
  const { bun, deno, node } = versions
  if (node === undefined || bun !== undefined || deno !== undefined) return undefined
  const [ownMajor = 0, ownMinor = 0] = node.split(".").map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
    ? undefined
    : `Belay needs Node ${major}.${minor} or newer, and this is Node ${node}: some parts will not work`
}

/** A browser has no process. */
const versionsOf = (): Readonly<Record<string, string | undefined>> => ({ ...globalThis.process?.versions })
