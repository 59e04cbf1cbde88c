/** Describes what a call changes in a file, as a list of texts that are replaced. */
import type { Json, JsonObject } from "@belay/core/Json"
import { objectOf } from "../../internal/fields.ts"

/** Returns the changes of a call in Claude Code's format. A written file replaces the empty text. */
export const editsOf = (
  { input, name }: { readonly name: string; readonly input: JsonObject }
): ReadonlyArray<JsonObject> => {
  const { content, edits } = input
  if (name === "Write") return [edit("", content)]
  if (!Array.isArray(edits)) return [edit(input["old_string"], input["new_string"])]
  return edits.map((one: Json) => edit(objectOf(one)["old_string"], objectOf(one)["new_string"]))
}

const edit = (before: Json | undefined, after: Json | undefined): JsonObject => ({
  old_string: typeof before === "string" ? before : "",
  new_string: typeof after === "string" ? after : ""
})
