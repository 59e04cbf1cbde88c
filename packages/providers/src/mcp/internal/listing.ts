/** What a server listed, so that a later change of a tool is noticed. */
import { canonical, whyNot } from "@belay/core/Json"

/** SHA-256 of what the server says about each tool, by its name on the server. */
export type Listing = ReadonlyMap<string, string>

/** Tools that differ between two listings of a server, by their names on it. @category models @since 0.2.0 */
export interface ToolsChange {
  readonly server: string
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  /** Tools with another description, schema or hints. Until they are listed again, their calls are refused. */
  readonly changed: ReadonlyArray<string>
}

export const listingOf = (tools: ReadonlyArray<unknown>): Listing =>
  new Map(tools.flatMap((tool) => {
    const name = typeof tool === "object" && tool !== null && "name" in tool ? tool.name : undefined
    return typeof name === "string" ? [[name, markOf(tool)] as const] : []
  }))

/** Returns what identifies a tool as it was listed. */
export const markOf = (tool: unknown): string =>
  process.getBuiltinModule("node:crypto").createHash("sha256").update(
    // `whyNot` has checked that it is JSON.
    whyNot(tool) === undefined ? canonical(tool as never) : "not JSON"
  ).digest("hex")

/** Returns nothing if both are the same. */
export const changeOf = (server: string, before: Listing, after: Listing): ToolsChange | undefined => {
  const change: ToolsChange = {
    server,
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...before.keys()].filter((name) => after.has(name) && after.get(name) !== before.get(name))
  }
  return change.added.length + change.removed.length + change.changed.length === 0 ? undefined : change
}
