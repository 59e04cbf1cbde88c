/** The laws of the hook chain, on a small sample. HookChainLaws.long.test.ts checks the same laws on a big one. */
import { assert, describe, it } from "@effect/vitest"
import type * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { carries, points } from "../events.ts"
import { anyChains, type ChainCase, hangingChains, type HookCase, syncChains, type What } from "./cases.ts"
import { agrees, differs, type Subject } from "./chainLaws.ts"
import { isLegal, isReverse, type Observed } from "./reference.ts"
import { subject } from "./subject.ts"

describe("the hook chain", () => {
  // rows, U-03, U-04
  it.effect("agrees with the reference when every hook answers synchronously", () => agrees(syncChains(points), 2500))

  it.effect("agrees with the reference when hooks answer in any way", () => agrees(anyChains(points), 2000))

  // rows: DEC-35
  it.effect("agrees with the reference when hooks hang, and late answers have no effect", () =>
    agrees(hangingChains(points), 400))
})

/** The real chain with altered hooks, which stands for a chain with that flaw. */
const altered = (alter: (hook: HookCase, kase: ChainCase) => HookCase): Subject => (kase) =>
  subject({ ...kase, hooks: kase.hooks.map((hook) => alter(hook, kase)) })

const saying = (alter: (what: What, kase: ChainCase) => What): Subject =>
  altered((hook, kase) => ({
    ...hook,
    answers: hook.answers.map(({ how, what }) => ({ how, what: alter(what, kase) }))
  }))

/** The real chain with an altered report. */
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
  "the answer of an observer counts": altered(({ observes: _, ...hook }) =>
    hook.kind === "observer" ? { ...hook, kind: "advisory" } : hook
  ),
  "the answer of a shadow hook counts": without("mode"),
  "a fail-open hook rejects": altered((hook) => ({
    ...hook,
    onFailure: hook.onFailure === "open" ? "reject" : hook.onFailure ?? "reject"
  })),
  "a policy fails open": altered((hook) =>
    hook.kind === "policy" ? { ...hook, failOpen: hook.failOpen ?? true } : hook
  ),
  "abort only rejects": altered((hook) => hook.onFailure === "abort" ? { ...hook, onFailure: "reject" } : hook),
  "a gate does not run again": without("reinvoke"),
  "a gate makes its change again": altered((hook) =>
    hook.reinvoke === "ifChanged" ? { ...hook, reinvoke: "reapply" } : hook
  ),
  "a gate that reapplies makes no change again": altered((hook) =>
    hook.reinvoke === "reapply" ? { ...hook, reinvoke: "ifChanged" } : hook
  ),
  "a tool filter is ignored": without("tools"),
  "a Reject is taken for Ask": saying((what, { point }) => what === "Reject" && isLegal(point, "Ask") ? "Ask" : what),
  "Abort is taken for Reject": saying((what, { point }) =>
    what === "Abort" && isLegal(point, "Reject") ? "Reject" : what
  ),
  "a wrong value is let through": saying((what) => what === "wrong value" ? "set" : what),
  "an illegal answer passes as Continue": saying((what) =>
    what === "unknown tag" || what === "no tag" ? "nothing" : what
  ),
  "a failure is not reported": misreported((observed) => ({ ...observed, failures: observed.failures.slice(1) })),
  "a hook that failed changes the value": misreported((observed, { point }) =>
    carries(point) && observed.failures.length > 0 ? { ...observed, text: `${observed.text}?` } : observed
  ),
  "a hook is called after the decision": misreported((observed, { hooks }) =>
    observed.action === "Reject" && hooks.length > 1
      ? { ...observed, calls: [...observed.calls, "z sees \"\""] }
      : observed
  ),
  "a record leaves out skipped hooks": misreported((observed) => ({
    ...observed,
    record: observed.record?.filter((line) => !line.includes("skipped"))
  })),
  "the chain waits without need": misreported((observed) => ({ ...observed, waited: true }))
}

const flawsOfWaiting: { readonly [flaw: string]: Subject } = {
  "onTimeout is ignored": without("onTimeout"),
  "a late answer is not reported": misreported((observed) => ({ ...observed, late: [] })),
  "a timeout counts twice": misreported((observed) => ({
    ...observed,
    failures: observed.failures.flatMap((failure) => failure.includes("timeout") ? [failure, failure] : [failure])
  }))
}

describe("the laws find a flawed chain in which", () => {
  const isFound = (chains: Arbitrary.Arbitrary<ChainCase>, flawed: Subject) =>
    Effect.map(differs(chains, 4000, flawed), (found) => {
      assert.isDefined(found)
      // The smallest case that shows it can be read at a glance.
      assert.isAtMost(found!.split("\n").length, 12, found)
    })

  it.effect.each(Object.entries(flaws))("%s", ([, flawed]) => isFound(anyChains(points), flawed))

  it.effect.each(Object.entries(flawsOfWaiting))("%s", ([, flawed]) => isFound(hangingChains(points), flawed))
})
