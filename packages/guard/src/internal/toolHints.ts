/** What an MCP server says about a tool. */
import type { Described } from "./place.ts"

/** Returns the hints in the annotations of MCP. The program may know better: what it says itself counts more. */
export const hintsOf = (
  annotations: unknown
): Pick<Described, "readOnly" | "destructive" | "idempotent" | "openWorld"> => {
  const { destructiveHint, idempotentHint, openWorldHint, readOnlyHint } = Object(annotations) as {
    readonly [hint: string]: unknown
  }
  return {
    ...(typeof readOnlyHint === "boolean" ? { readOnly: readOnlyHint } : {}),
    ...(typeof destructiveHint === "boolean" ? { destructive: destructiveHint } : {}),
    ...(typeof idempotentHint === "boolean" ? { idempotent: idempotentHint } : {}),
    ...(typeof openWorldHint === "boolean" ? { openWorld: openWorldHint } : {})
  }
}
