/** Every answer, well or badly given, at every point, under every failure policy: the chain must agree with the reference. */
import * as Effect from "effect/Effect"
import { points } from "./events.ts"
import { type Answer, type ChainCase, hows, whats } from "./laws/cases.ts"
import { reference } from "./laws/reference.ts"
import { subject } from "./laws/subject.ts"

const policies = [undefined, "open", "reject", "abort"] as const

/** A hook that answers so, between two that answer nothing. Repeated answers are tried once. */
const casesOf = (answer: Answer): ReadonlyArray<ChainCase> =>
  points.flatMap((point) =>
    policies.map((onFailure): ChainCase => ({
      point,
      freeze: true,
      record: true,
      hooks: [
        { name: "a", answers: [{ what: "append", how: "now" }] },
        { name: "b", ...(onFailure === undefined ? {} : { onFailure }), answers: [answer] },
        { name: "c", kind: "observer", answers: [{ what: "nothing", how: "now" }] }
      ]
    }))
  )

/**
 * Tries every `stride`th case. Returns how many were tried, and those in which the chain differs from the reference.
 */
export const tryEveryAnswer = async (stride: number) => {
  const wrong: Array<string> = []
  let tried = 0
  let index = 0
  for (const what of new Set(whats)) {
    for (const how of hows) {
      for (const kase of casesOf({ what, how })) {
        if (index++ % stride > 0) continue
        tried++
        const found = subject(kase)
        const observed = Effect.isEffect(found) ? await Effect.runPromise(found) : found
        if (JSON.stringify(observed) !== JSON.stringify(reference(kase))) {
          wrong.push(`${kase.point}: ${what}, ${how}, ${kase.hooks[1]!.onFailure ?? "default"}`)
        }
      }
    }
  }
  return { tried, wrong }
}
