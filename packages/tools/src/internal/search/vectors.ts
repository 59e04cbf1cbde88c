/** Ranks by the angle between vectors. */

export type Vectors = ReadonlyArray<ReadonlyArray<number>>

/** The most results that count: those that are far away say nothing. */
const most = 50

/** Returns the positions of the vectors that are closest to another one, closest first. */
export const closest = (vectors: Vectors, wanted: ReadonlyArray<number>): ReadonlyArray<number> =>
  vectors.map((vector, at) => [at, cosine(vector, wanted)] as const)
    .filter(([, value]) => value > 0)
    .sort(([one, a], [other, z]) => z - a || one - other)
    .slice(0, most)
    .map(([at]) => at)

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  if (a.length !== b.length) return 0
  let [dot, lengthA, lengthB] = [0, 0, 0]
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!
    lengthA += a[at]! ** 2
    lengthB += b[at]! ** 2
  }
  const value = dot / Math.sqrt(lengthA * lengthB)
  return Number.isFinite(value) ? value : 0
}
