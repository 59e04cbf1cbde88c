/** Acts that cost something each time, such as a payment or an order. The same one again was not asked for. */
import { canonical as canonicalJson, type Json } from "@belay/core/Json"
import { type Checkable, classOfLeaf } from "./check.ts"
import type { Memory } from "./memory.ts"
import { partsOf, wordSet } from "./text/names.ts"
import { canonical } from "./text/words.ts"

const countedActs = wordSet(
  "pay transfer refund reimburse charge send buy order book reserve purchase withdraw deposit donate wire bid"
)

/** What makes a payment the same as another one: all but its text and its date. `undefined` for other calls. */
const actOf = (call: Checkable): string | undefined => {
  if (call.kind !== "sink" || !partsOf(call.tool).some((part) => countedActs.has(part))) return undefined
  const leaves = call.leaves.map((leaf) => ({ ...leaf, class: classOfLeaf(call, leaf) }))
  if (!leaves.some((leaf) => leaf.class === "amount")) return undefined
  const about: Json = leaves.filter((leaf) => leaf.class !== "content" && leaf.class !== "moment").map((
    { place, value }
  ) => [place, typeof value === "boolean" ? value : canonical(value)])
  return `done:${call.tool}:${canonicalJson(about)}`
}

/** How many acts of a turn are remembered. */
const maxActs = 300

/** Whether another call of this turn does the same. Remembers the call if none does. */
export const repeats = (memory: Memory, call: Checkable, keyOfCall: () => string): boolean => {
  const act = actOf(call)
  if (act === undefined) return false
  const callKey = keyOfCall()
  const hash = memory.hash(act)
  const done = memory.get("done")
  const first = done[hash]
  if (first !== undefined) return first !== callKey
  memory.set("done", Object.fromEntries([...Object.entries(done).slice(1 - maxActs), [hash, callKey]]))
  return false
}

/** Whether a record has no fields, without a list of them. */
export const isEmpty = (record: object): boolean => {
  for (const _ in record) return false
  return true
}

/** Forgets a call that did nothing, so that another one may do the same. */
export const forgetAct = (memory: Memory, keyOfCall: () => string): void => {
  const before = memory.get("done")
  if (isEmpty(before)) return
  const callKey = keyOfCall()
  const done = Object.entries(before)
  const others = done.filter(([, key]) => key !== callKey)
  if (others.length < done.length) memory.set("done", Object.fromEntries(others))
}
