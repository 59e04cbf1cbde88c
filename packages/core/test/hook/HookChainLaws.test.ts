import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import {
  anyChains,
  type ChainCase,
  describe as print,
  hangingChains,
  type HookCase,
  syncChains,
  type What
} from "./cases.ts"
import { carries, points } from "./events.ts"
import { isLegal, isReverse, type Observed, reference } from "./reference.ts"
import { subject } from "./subject.ts"

const seed = process.env["BELAY_SEED"] ?? "rope"

type Subject = (kase: ChainCase) => Observed | Effect.Effect<Observed>

const text = (observed: Observed): string => JSON.stringify(observed)

/** The fields in which two observations differ. */
const difference = (expected: Observed, found: Observed): string =>
  (Object.keys(expected) as ReadonlyArray<keyof Observed>)
    .filter((key) => JSON.stringify(expected[key]) !== JSON.stringify(found[key]))
    .map((key) => `  ${key}: expected ${JSON.stringify(expected[key])}, found ${JSON.stringify(found[key])}`)
    .join("\n")

/** Looks for a chain that the subject runs otherwise than the reference; says so in a few lines when it finds one. */
const differs = (
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

const agrees = (chains: Arbitrary.Arbitrary<ChainCase>, runs: number) =>
  Effect.map(differs(chains, runs, subject), (found) => assert.isUndefined(found, found))

/** Thousands of runs, on a machine that may have other work. */
const long = { timeout: 300_000 }

describe("the fold", () => {
  // rows, U-03, U-04
  it.effect(
    "agrees with the reference when every hook answers at once",
    () => agrees(syncChains(points), 80_000),
    long
  )

  it.effect("agrees with the reference however the hooks answer", () => agrees(anyChains(points), 40_000), long)

  // rows: DEC-35
  it.effect(
    "agrees with the reference when hooks hang, and nothing they say later changes a thing",
    () => agrees(hangingChains(points), 4000),
    long
  )
})

/** The real fold over hooks that were altered: a fold with that flaw. */
const altered = (alter: (hook: HookCase, kase: ChainCase) => HookCase): Subject => (kase) =>
  subject({ ...kase, hooks: kase.hooks.map((hook) => alter(hook, kase)) })

const saying = (alter: (what: What, kase: ChainCase) => What): Subject =>
  altered((hook, kase) => ({
    ...hook,
    answers: hook.answers.map(({ how, what }) => ({ how, what: alter(what, kase) }))
  }))

/** The real fold, reported wrongly. */
const misreported = (report: (observed: Observed, kase: ChainCase) => Observed): Subject => (kase) => {
  const observed = subject(kase)
  return Effect.isEffect(observed) ? Effect.map(observed, (late) => report(late, kase)) : report(observed, kase)
}

const without = <K extends keyof HookCase>(key: K): Subject =>
  altered(({ [key]: _, ...hook }) => hook as unknown as HookCase)

const flaws: { readonly [flaw: string]: Subject } = {
  "ties run in the wrong order": (kase) => subject({ ...kase, hooks: [...kase.hooks].reverse() }),
  "reverse points run forward": (kase) =>
    subject(
      isReverse(kase.point)
        ? {
          ...kase,
          hooks: [...kase.hooks].reverse().map((hook) => ({
            ...hook,
            tier: hook.tier === "managed"
              ? "agent" as const
              : hook.tier === "agent"
              ? "managed" as const
              : "project" as const,
            priority: -(hook.priority ?? 100)
          }))
        }
        : kase
    ),
  "tiers do not count": without("tier"),
  "Replace does not skip": saying((what) => what === "Replace" ? "append" : what),
  "an observer is obeyed": altered(({ observes: _, ...hook }) =>
    hook.kind === "observer" ? { ...hook, kind: "advisory" } : hook
  ),
  "a shadow is obeyed": without("mode"),
  "a fail-open hook rejects": altered((hook) => ({
    ...hook,
    onFailure: hook.onFailure === "open" ? "reject" : hook.onFailure ?? "reject"
  })),
  "a policy fails open": altered((hook) =>
    hook.kind === "policy" ? { ...hook, failOpen: hook.failOpen ?? true } : hook
  ),
  "abort is no more than reject": altered((hook) =>
    hook.onFailure === "abort" ? { ...hook, onFailure: "reject" } : hook
  ),
  "a gate is not asked again": without("reinvoke"),
  "a tool filter is ignored": without("tools"),
  "Ask after Reject": saying((what, { point }) => what === "Reject" && isLegal(point, "Ask") ? "Ask" : what),
  "Abort is taken for Reject": saying((what, { point }) =>
    what === "Abort" && isLegal(point, "Reject") ? "Reject" : what
  ),
  "a wrong value is let through": saying((what) => what === "wrong value" ? "set" : what),
  "an illegal answer passes as Continue": saying((what) =>
    what === "unknown tag" || what === "no tag" ? "nothing" : what
  ),
  "a failure in silence": misreported((observed) => ({ ...observed, failures: observed.failures.slice(1) })),
  "a value changed by a hook that failed": misreported((observed, { point }) =>
    carries(point) && observed.failures.length > 0 ? { ...observed, text: `${observed.text}?` } : observed
  ),
  "a hook called after the decision": misreported((observed, { hooks }) =>
    observed.action === "Reject" && hooks.length > 1
      ? { ...observed, calls: [...observed.calls, "z sees \"\""] }
      : observed
  ),
  "a record that leaves out who was skipped": misreported((observed) => ({
    ...observed,
    record: observed.record?.filter((line) => !line.includes("skipped"))
  })),
  "a promise where none was needed": misreported((observed) => ({ ...observed, waited: true }))
}

const flawsOfWaiting: { readonly [flaw: string]: Subject } = {
  "a timeout meets the policy of other failures": without("onTimeout"),
  "a late answer is not heard of": misreported((observed) => ({ ...observed, late: [] })),
  "a timeout counts twice": misreported((observed) => ({
    ...observed,
    failures: observed.failures.flatMap((failure) => failure.includes("timeout") ? [failure, failure] : [failure])
  }))
}

describe("a broken fold is found out when", () => {
  const isFound = (chains: Arbitrary.Arbitrary<ChainCase>, flawed: Subject) =>
    Effect.map(differs(chains, 4000, flawed), (found) => {
      assert.isDefined(found)
      // The smallest case that shows it can be read at a glance.
      assert.isAtMost(found!.split("\n").length, 12, found)
    })

  it.effect.each(Object.entries(flaws))("%s", ([, flawed]) => isFound(anyChains(points), flawed))

  it.effect.each(Object.entries(flawsOfWaiting))("%s", ([, flawed]) => isFound(hangingChains(points), flawed))
})
