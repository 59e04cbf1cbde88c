/** Scores, with scorers of autoevals and with own ones. */
import * as Scores from "@belay/testing/Scores"
import { ExactMatch, JSONDiff, Levenshtein } from "autoevals"
import { assert, describe, it } from "vitest"

const cases = [
  { session: "a", turn: 1, input: "capital of France?", output: "Paris" },
  { session: "a", turn: 2, input: "capital of Italy?", output: "Milan" }
]
const right = new Map([["capital of France?", "Paris"], ["capital of Italy?", "Rome"]])
const expected = ({ input }: Scores.Case): string => right.get(input) ?? ""

describe("scores", () => {
  it("come from scorers of autoevals as they are, with what is expected of each case", async () => {
    const { means, missing, scores } = await Scores.run({ ExactMatch, Levenshtein }, cases, { expected })
    assert.strictEqual(missing, 0)
    assert.deepStrictEqual(scores.map(({ scorer, turn }) => [turn, scorer]), [
      [1, "ExactMatch"],
      [1, "Levenshtein"],
      [2, "ExactMatch"],
      [2, "Levenshtein"]
    ])
    assert.strictEqual(means["ExactMatch"], 0.5)
    assert.approximately(means["Levenshtein"]!, (1 + 0) / 2, 0.2)
  })

  it("may be about anything of the case", async () => {
    const turns = cases.map((one) => ({ ...one, calls: one.turn }))
    const diff = await Scores.run(
      { calls: ({ turn }) => JSONDiff({ output: { calls: turn.calls }, expected: { calls: 1 } }) },
      turns
    )
    assert.strictEqual(diff.scores[0]?.score, 1)
    assert.isBelow(diff.scores[1]!.score!, 1)
    assert.strictEqual(diff.scores[0]?.scorer, "JSONDiff")
  })

  it("have the reason that a scorer gives, as those of evalite and of judges do", async () => {
    const judge = async () => ({ name: "Polite", score: 0.5, metadata: { rationale: "it is short" } })
    const { scores } = await Scores.run({ judge }, cases.slice(0, 1))
    assert.deepStrictEqual(scores, [{ session: "a", turn: 1, scorer: "Polite", score: 0.5, why: "it is short" }])
  })

  it("are missing, and not 0, where a scorer fails, cannot say or returns something else", async () => {
    const broken = {
      throws: () => {
        throw new Error("no model")
      },
      rejects: () => Promise.reject(new Error("no network")),
      reports: () => ({ score: 0, error: new Error("later") }),
      unsure: () => null,
      percent: () => 87,
      nothing: () => undefined as never
    }
    const { means, missing, scores } = await Scores.run(broken, cases.slice(0, 1))
    assert.deepStrictEqual(means, {})
    assert.strictEqual(missing, 6)
    assert.deepStrictEqual(scores.map(({ why }) => why), [
      "the scorer failed: no model",
      "the scorer failed: no network",
      "the scorer failed: later",
      "the scorer could not say",
      "expected a number from 0 to 1, found 87",
      "expected a number from 0 to 1, found undefined"
    ])
  })

  it("are given to a few cases at a time, and keep the order of the cases", async () => {
    let [inside, most] = [0, 0]
    const many = Array.from({ length: 20 }, (_, turn) => ({ ...cases[0]!, turn }))
    const slow: Scores.Scorer = async ({ turn: { turn } }) => {
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, turn % 3))
      inside--
      return 1
    }
    const { means, scores } = await Scores.run({ slow }, many, { concurrency: 3 })
    assert.deepStrictEqual([most, means["slow"]], [3, 1])
    assert.deepStrictEqual(scores.map(({ turn }) => turn), many.map(({ turn }) => turn))
  })

  it("names what it was given if a case is not an object", async () => {
    // A program without types may pass anything.
    const error = await Scores.run({ ExactMatch }, [null] as never).catch((one: unknown) => one)
    assert.match(String(error), /Scores\.run: it cannot use these values/)
  })
})
