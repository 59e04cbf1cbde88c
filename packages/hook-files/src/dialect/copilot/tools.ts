/** Maps tools to the names of GitHub Copilot, and to the names of Claude Code for events in Pascal case. */
import type { Json, JsonObject } from "@belay/core/Json"
import * as Renamed from "../shared/renamedTools.ts"
import type { Known, ToolNames } from "../shared/toolNames.ts"
import { copilotFields, copilotNames, others } from "./wire.ts"

export const make = (configured: ToolNames): Renamed.Renamed =>
  Renamed.make({
    names: copilotNames,
    others,
    fields: copilotFields,
    plain: (tool) => tool
  }, configured)

/**
 * Returns a call with the tool name of Claude Code and with the fields of both Claude Code and Copilot. A script can
 * read and change either set of fields.
 */
export const both = ({ claude, fields, input: own }: Renamed.Known): Known => ({
  name: claude.name,
  input: { ...claude.input, ...own },
  back: (input: JsonObject): Json => {
    const kept = new Map(Object.entries(input))
    for (const [field, name] of fields) {
      const other = kept.get(name)
      kept.delete(name)
      if (
        other !== undefined &&
        (!kept.has(field) || (kept.get(field) === claude.input[field] && other !== claude.input[field]))
      ) {
        kept.set(field, other)
      }
    }
    return claude.back(Object.fromEntries(kept))
  }
})
