/** Resumes changed snapshots, and checks that nothing runs that nobody approved. */
import { assert } from "@effect/vitest"
import {
  copyOf,
  decide,
  makeWorld,
  type Mutation,
  mutationsAt,
  type Outcome,
  placesOf,
  randomAttack,
  resume,
  schemaMutations,
  type World
} from "../../support/hostileSnapshots.ts"

/** All changes of one place of the snapshot, and one valid value for each field. */
const everyMutation = async (world: World): Promise<ReadonlyArray<Mutation>> => [
  ...placesOf(copyOf(world.run.snapshot)).flatMap((path) => mutationsAt(path, world.other.snapshot)),
  ...await schemaMutations(2, "rope")
]

const problems = ["forged", "wrong-decision", "not-a-snapshot", "finished", "newer-version"]
const statuses = ["completed", "suspended", "limited", "parked"]

/** Fails unless the outcome is an end of the turn, or an error that names what is wrong. */
const check = ({ end, isTyped, message }: Outcome, what: string): void => {
  assert.isTrue(isTyped, `${what}: ${end} ${message}`)
  assert.include([...problems, ...statuses], end, `${what}: ${message}`)
}

/**
 * Changes one place at a time. `stride` skips changes. Returns how many were tried, and the changes after which
 * something else ran than what was approved.
 */
export const changeOnePlace = async (isSigned: boolean, stride: number) => {
  const world = await makeWorld(isSigned)
  const decisions = await decide(world)
  const mutations = (await everyMutation(world)).filter((_, index) => index % stride === 0)
  const ran: Array<string> = []
  const unnamed: Array<string> = []
  for (const { apply, path, what } of mutations) {
    const name = `${path.join(".")}: ${what}`
    const snapshot = copyOf(world.run.snapshot)
    apply(snapshot)
    const outcome = await resume(world, snapshot, decisions)
    check(outcome, name)
    if (outcome.end === "not-a-snapshot" && what !== "a getter that throws") {
      const field = path.at(-1) === "coreType" ? "core" : String(path.at(-1))
      if (!outcome.message.includes(field)) unnamed.push(`${name}: ${outcome.message}`)
    }
    if (outcome.wrong.length > 0) ran.push(name)
  }
  assert.deepStrictEqual(unnamed, [])
  return { tried: mutations.length, ran }
}

/** Changes up to four places of the snapshot and one of the decisions, at random. Returns what ran unapproved. */
export const changeAtRandom = async (isSigned: boolean, seeds: number) => {
  const world = await makeWorld(isSigned)
  const decisions = await decide(world)
  const mutations = await everyMutation(world)
  const ran: Array<string> = []
  for (let seed = 0; seed < seeds; seed++) {
    const attack = randomAttack(world, mutations, decisions, seed)
    const outcome = await resume(world, attack.snapshot, attack.decisions)
    check(outcome, `seed ${seed}: ${attack.what}`)
    if (outcome.wrong.length > 0) ran.push(`seed ${seed}: ${attack.what}`)
  }
  return { tried: seeds, ran }
}

/** Changes one place of the decisions at a time. */
export const changeDecisions = async (isSigned: boolean) => {
  const world = await makeWorld(isSigned)
  const decisions = await decide(world)
  const others = await decide({ ...world, run: world.other })
  const ran: Array<string> = []
  const mutations = placesOf(decisions).flatMap((path) => mutationsAt(path, others))
  for (const { apply, path, what } of mutations) {
    const changed = copyOf(decisions)
    apply(changed)
    const outcome = await resume(world, world.run.snapshot, changed)
    check(outcome, `${path.join(".")}: ${what}`)
    if (outcome.wrong.length > 0) ran.push(`${path.join(".")}: ${what}`)
  }
  return { tried: mutations.length, ran }
}

/** Resumes with changed keys. Returns how each one ended. */
export const changeKeys = async () => {
  const world = await makeWorld(true)
  const decisions = await decide(world)
  const approvals = { keys: [{ id: "k1", secret: "a-secret-for-tests-only" }] }
  const mutations = placesOf(approvals).flatMap((path) => mutationsAt(path, { keys: [{ id: "k2", secret: "other" }] }))
  const ends: Array<readonly [what: string, end: string]> = []
  // The configuration is code of the host, so it has no hostile getters.
  for (const { apply, path, what } of mutations.filter((one) => !one.what.startsWith("a getter"))) {
    const changed = { keys: approvals.keys.map((key) => ({ ...key })) }
    apply(changed)
    const name = `${path.join(".")}: ${what}`
    const attempt = async () => resume(world, world.run.snapshot, decisions, { approvals: changed as never })
    const outcome = await attempt().catch((error: Error & { readonly _tag?: string }) => error)
    if (outcome instanceof Error) ends.push([name, outcome._tag ?? `${outcome}`])
    else {
      assert.deepStrictEqual(outcome.wrong, [], name)
      ends.push([name, outcome.end])
    }
  }
  return ends
}
