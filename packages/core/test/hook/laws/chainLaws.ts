/** Compares the hook chain with the reference, for random chains. The seed comes from BELAY_SEED. */
import { assert } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { type ChainCase, describe as print } from "./cases.ts"
import { type Observed, reference } from "./reference.ts"
import { subject } from "./subject.ts"

const seed = process.env["BELAY_SEED"] ?? "rope"

export type Subject = (kase: ChainCase) => Observed | Effect.Effect<Observed>

const text = (observed: Observed): string => JSON.stringify(observed)

/** The fields in which two observations differ. */
const difference = (expected: Observed, found: Observed): string =>
  (Object.keys(expected) as ReadonlyArray<keyof Observed>)
    .filter((key) => JSON.stringify(expected[key]) !== JSON.stringify(found[key]))
    .map((key) => `  ${key}: expected ${JSON.stringify(expected[key])}, found ${JSON.stringify(found[key])}`)
    .join("\n")

/** Looks for a chain that the subject runs otherwise than the reference; says so in a few lines when it finds one. */
export const differs = (
  chains: Arbitrary.Arbitrary<ChainCase>,
  runs: number,
  run: Subject
): Effect.Effect<string | undefined> =>
  Effect.flatMap(
    Arbitrary.checkEffect(chains, (kase) => {
      const expected = text(reference(kase))
      const found = run(kase)
      return Effect.isEffect(found) ? Effect.map(found, (late) => text(late) === expected) : text(found) === expected
    }, { runs, seed, size: 8, maxShrinks: 3000 }),
    (result) => {
      if (result._tag === "Passed") return Effect.undefined
      if (result._tag !== "Falsified") return Effect.succeed(result._tag)
      const kase = result.shrunkInput
      const again = run(kase)
      return Effect.map(
        Effect.isEffect(again) ? again : Effect.succeed(again),
        (found) => `${print(kase)}\n${difference(reference(kase), found)}\n  (run ${result.runs}, seed ${seed})`
      )
    }
  )

export const agrees = (chains: Arbitrary.Arbitrary<ChainCase>, runs: number) =>
  Effect.map(differs(chains, runs, subject), (found) => assert.isUndefined(found, found))
