/** Identifies what an answer is valid for, as canonical text. */
import { canonical } from "../../data/Json.ts"
import type { CompiledPoint } from "./compiledPoint.ts"

/** Before a tool call: the tool and its arguments. Elsewhere: the value that hooks can change. */
export const fingerprint = ({ point, row: { field } }: CompiledPoint, event: unknown): string => {
  if (field === undefined) return canonical(event)
  const record = event as { readonly [key: string]: unknown }
  return point === "preToolCall" ? fingerprintOf(record.name, record.args) : canonical(record[field])
}

/** Identifies what an approval is valid for. */
export const fingerprintOf = (tool: unknown, args: unknown): string => canonical({ args, tool })
