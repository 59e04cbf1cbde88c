/** Maps tools to the names of GitHub Copilot, and to the names of Claude Code for events in Pascal case. */
import type { Json, JsonObject } from "@belay/core/Json"
import * as Renamed from "../shared/renamedTools.ts"
import type { Known, ToolNames } from "../shared/toolNames.ts"

export const make = (configured: ToolNames): Renamed.Renamed =>
  Renamed.make({
    names: {
      Bash: "bash",
      Read: "view",
      Write: "create",
      Edit: "edit",
      MultiEdit: "edit",
      Glob: "glob",
      Grep: "grep",
      WebFetch: "web_fetch",
      WebSearch: "web_search",
      AskUserQuestion: "ask_user",
      TodoWrite: "update_todo",
      Agent: "task"
    },
    others: {
      edit: "Edit",
      powershell: "Bash",
      str_replace_editor: "Edit",
      apply_patch: "Edit",
      replace: "Edit",
      rg: "Grep",
      search_file_content: "Grep",
      google_web_search: "WebSearch",
      Task: "Agent"
    },
    fields: {
      Read: { file_path: "path" },
      Write: { file_path: "path", content: "file_text" },
      Edit: { file_path: "path", old_string: "old_str", new_string: "new_str" },
      MultiEdit: { file_path: "path" }
    },
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
