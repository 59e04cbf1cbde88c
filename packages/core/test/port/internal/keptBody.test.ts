/** What an event log in memory keeps of its rows. */
import type { Json } from "@belay/core/Json"
import { assert, describe, it } from "vitest"
import { bodyOf, keepBody, type KeptBody } from "../../../src/port/internal/keptBody.ts"

const long = "0123456789".repeat(100)

/** Keeps bodies one after the other, as the rows of a session. */
const keepAll = (bodies: ReadonlyArray<Json>): ReadonlyArray<KeptBody> => {
  const kept: Array<KeptBody> = []
  for (const body of bodies) kept.push(keepBody(body, kept))
  return kept
}

describe("a kept body", () => {
  it("is what was given", () => {
    const bodies: ReadonlyArray<Json> = [
      null,
      "#0",
      "##",
      `#${long}`,
      [[1, 2], [3, 4], []],
      { text: long, list: [long, "a\0\ud800 👋", { deep: `${long}é` }], number: -1.5, no: false, none: null },
      JSON.parse(`{ "__proto__": "${long}", "#1": { "__proto__": { "text": "#1" } } }`) as Json
    ]
    assert.deepEqual(keepAll(bodies).map(bodyOf), bodies)
    assert.strictEqual(
      JSON.stringify(keepAll(bodies).map(bodyOf)),
      JSON.stringify(bodies)
    )
  })

  it("has what JSON has of values that write themselves, also if that looks like a mark", () => {
    const bodies = [{ at: new Date(0), mark: { toJSON: () => "#0" }, nothing: { toJSON: () => undefined } }, long]
    assert.deepEqual(keepAll(bodies as unknown as ReadonlyArray<Json>).map(bodyOf), [
      { at: "1970-01-01T00:00:00.000Z", mark: "#0" },
      long
    ])
  })

  it("stays what it was when its texts become parts of a later one", () => {
    const answer = `${long}a${long}b${long}`
    const pieces = [answer.slice(0, 700), answer.slice(700, 1_300), answer.slice(1_300)]
    const bodies: ReadonlyArray<Json> = [
      { text: "before".repeat(100) },
      { text: pieces[0]! },
      { list: [{ text: pieces[1]! }, { text: pieces[2]! }] },
      { text: answer },
      { text: answer },
      { text: `${answer}.` }
    ]
    const kept = keepAll(bodies)
    assert.deepEqual(kept.map(bodyOf), bodies)
    assert.deepEqual(kept.map(({ texts }) => texts.length), [1, 1, 2, 1, 1, 1])
  })

  it("has its lists of numbers and short texts in the JSON, and its long texts beside it", () => {
    const [one] = keepAll([{ parts: [[1, 5], [2, 7]], text: "short", long }])
    assert.deepEqual(one, { json: "{\"parts\":[[1,5],[2,7]],\"text\":\"short\",\"long\":\"#0\"}", texts: [long] })
  })
})
