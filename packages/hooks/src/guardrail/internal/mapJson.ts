/** Maps JSON, and keeps its identity when nothing changes. */
import type { Json } from "@belay/core/Json"

/**
 * Applies `mapItem` to the items and `mapKey` to the keys of a JSON list or object. Returns the same object when
 * nothing changes. Keys that become equal are numbered.
 */
export const mapJson = (value: Json, mapItem: (value: Json) => Json, mapKey: (key: string) => string): Json => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(mapItem)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const entries = Object.entries(value)
  const mapped = entries.map(([name, item]) => [mapKey(name), mapItem(item)] as const)
  if (mapped.every(([name, one], index) => name === entries[index]![0] && one === entries[index]![1])) return value
  const names = new Set<string>()
  return Object.fromEntries(mapped.map(([name, one]) => {
    let unique = name
    for (let n = 2; names.has(unique); n++) unique = `${name} (${n})`
    names.add(unique)
    return [unique, one]
  }))
}
