/** Notices calls with an address that the description of a tool gave to the model. */
import type { ToolMeta } from "@belay/core/Tool"
import type { Checkable } from "./check.ts"
import type { Memory } from "./memory.ts"
import { said } from "./person.ts"
import { decisiveIn } from "./text/decisive.ts"
import { canonical } from "./text/words.ts"

/**
 * Whether a call contains a link or an address that the description of somebody else's tool named, and the person did
 * not.
 */
export const isTold = (
  memory: Memory,
  call: Checkable,
  all: ReadonlyArray<ToolMeta>,
  isForeign: (tool: ToolMeta) => boolean
): boolean => {
  if (!all.some(isForeign)) return false
  const tools = all.filter(isForeign)
  const found = call.leaves.flatMap(({ value }) => typeof value === "string" ? decisiveIn(value) : [])
  return found.some((one) =>
    tools.some((tool) => addressesIn(tool).has(canonical(one))) &&
    !said(memory, one, { class: "principal", name: "", tool: call.tool })
  )
}

const known = new WeakMap<object, ReadonlySet<string>>()

const addressesIn = (tool: ToolMeta): ReadonlySet<string> => {
  const before = known.get(tool)
  if (before !== undefined) return before
  const found = new Set(decisiveIn(`${tool.description} ${JSON.stringify(tool.inputSchema)}`).map(canonical))
  known.set(tool, found)
  return found
}
