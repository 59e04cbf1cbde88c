// Chooses the same bugs for the same seed.

/** Returns `size` items of each group, in the order of the items. */
export const sampled = (items, groupOf, size, seed) => {
  const random = randomOf(seed)
  const groups = Map.groupBy(items.map((item) => ({ item, rank: random() })), ({ item }) => groupOf(item.file))
  const taken = new Set()
  for (const group of groups.values()) {
    for (const { item } of group.toSorted((a, b) => a.rank - b.rank).slice(0, size)) taken.add(item)
  }
  return items.filter((item) => taken.has(item))
}

/** The generator "mulberry32". */
const randomOf = (seed) => {
  let state = Number(seed) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
