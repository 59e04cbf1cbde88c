/** What an answer counts for, as canonical text. */
import { canonical } from "../../data/Json.ts"
import type { CompiledPoint } from "./compiledPoint.ts"

/** Tool and arguments before a tool call; elsewhere the value that hooks can change. */
export const fingerprint = ({ point, row: { field } }: CompiledPoint, event: unknown): string => {
  if (field === undefined) return canonical(event)
  const record = event as { readonly [key: string]: unknown }
  return point === "preToolCall" ? fingerprintOf(record.name, record.args) : canonical(record[field])
}

/** What an approval counts for. */
export const fingerprintOf = (tool: unknown, args: unknown): string => canonical({ args, tool })
