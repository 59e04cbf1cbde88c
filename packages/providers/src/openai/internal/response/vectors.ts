/** Reads the vectors of an answer. */
import { countOf, isObject } from "../request/guards.ts"

/** Returns the vectors in the order of their texts, or the reason why the answer is not complete. */
export const readVectors = (answer: unknown, count: number): ReadonlyArray<ReadonlyArray<number>> | string => {
  const list = isObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isObject) : undefined
  if (list === undefined) return "the answer has no list `data`"
  if (list.length !== count) return `${list.length} vectors for ${count} texts`
  const vectors = new Map(list.map((one, at) => [countOf(one.index) ?? at, vectorOf(one.embedding)] as const))
  const ordered = Array.from({ length: count }, (_, at) => vectors.get(at)).filter((vector) => vector !== undefined)
  return ordered.length === count ? ordered : "a vector is missing or not a list of numbers"
}

/** Some servers send base64 of 32-bit numbers although numbers were asked for. */
const vectorOf = (embedding: unknown): ReadonlyArray<number> | undefined => {
  const vector = typeof embedding === "string" ? decode(embedding) : embedding
  return Array.isArray(vector) && vector.length > 0 && vector.every((value) => Number.isFinite(value))
    ? vector
    : undefined
}

const decode = (base64: string): ReadonlyArray<number> | undefined => {
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    const view = new DataView(bytes.buffer)
    return Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => view.getFloat32(at * 4, true))
  } catch {
    return undefined
  }
}
