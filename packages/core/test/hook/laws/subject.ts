/** Runs a generated chain through the real fold and says what can be seen of it, in the words of the reference. */
import { make } from "@belay/testing/TestScope"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as HookChain from "../../../src/hook/HookChain.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import type { HookFailure, HookRecord } from "../../../src/hook/HookRecord.ts"
import { eventAt, readAt } from "../events.ts"
import { build, type ChainCase } from "./cases.ts"
import type { Observed } from "./reference.ts"

type Outcome = {
  readonly action: Loose
  readonly event: unknown
  readonly by: string | undefined
  readonly failure: HookFailure | undefined
}
type Loose = { readonly _tag: string; readonly reason?: string; readonly value?: unknown; readonly output?: unknown }

/** The outcome at once, or an Effect of it when somebody has to be waited for. */
export const subject = (kase: ChainCase): Observed | Effect.Effect<Observed> => {
  const { freeze, hooks, point, record } = kase
  const calls: Array<string> = []
  const hung: Array<PromiseWithResolvers<unknown>> = []
  let isHanging = false
  const hang = () => {
    isHanging = true
    return hung[hung.push(Promise.withResolvers<unknown>()) - 1]!.promise
  }
  const chain = HookChain.makeUnsafe(
    hooks.map((hook) =>
      build(hook, kase, (name, event, ctx) => calls.push(`${name} sees "${readAt(point, event)}"${actions(ctx)}`), hang)
    )
  )
  const scope = make({ freeze, record })
  const event = eventAt(point, "")
  const seen = (outcome: Outcome, waited: boolean): Observed => {
    const { _tag: action, output, reason, value } = outcome.action
    const text = readAt(point, outcome.event)
    const intact = JSON.stringify(outcome.event) === JSON.stringify(eventAt(point, text))
    return {
      action,
      carried: action === "Replace" ? value : output,
      reason: reason === undefined ? undefined : short(reason),
      text: intact ? text : `${text}, and more than the value was changed`,
      by: outcome.by,
      failure: outcome.failure && failed(outcome.failure),
      calls,
      failures: scope.failures.map(failed),
      waited,
      late: scope.late,
      record: record ? scope.records.flatMap(lines) : undefined
    }
  }
  const folded = chain.runNow(point, event as never, scope) as Outcome | Effect.Effect<Outcome> | undefined
  if (Effect.isEffect(folded) && hooks.some(({ answers }) => answers.some(({ what }) => what === "hangs"))) {
    return Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(folded, { startImmediately: true })
      while (fiber.pollUnsafe() === undefined) {
        yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
        if (isHanging) {
          isHanging = false
          yield* TestClock.adjust("30 seconds")
        }
      }
      const outcome = yield* Fiber.join(fiber)
      const before = JSON.stringify(seen(outcome, true))
      for (const { resolve } of hung) resolve({ _tag: "Reject", reason: "too late" })
      yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      const after = seen(outcome, true)
      return before === JSON.stringify({ ...after, late: [] })
        ? after
        : { ...after, text: `changed by a late answer, was ${before}` }
    })
  }
  if (Effect.isEffect(folded)) return Effect.map(folded, (outcome) => seen(outcome, true))
  return seen(folded ?? { action: { _tag: "Continue" }, event, by: undefined, failure: undefined }, false)
}

const actions = ({ outcome }: HookContext): string =>
  outcome === undefined
    ? ""
    : ` and ${
      [
        outcome.action,
        ...(outcome.reason === undefined ? [] : [`because ${short(outcome.reason)}`]),
        ...(outcome.decidedBy === undefined ? [] : [`by ${outcome.decidedBy}`])
      ].join(" ")
    }`

/** Without the words of the error. */
const short = (reason: string): string => reason.replace(/^(hook \w failed at \w+ \(\w+\)): .*$/s, "$1")

const failed = ({ hook, kind, policy }: HookFailure): string => `${hook} ${kind} ${policy}`

/** A record without its times; the words of an error are left out. */
const lines = ({ action, decidedBy, hooks, point, subject }: HookRecord): ReadonlyArray<string> => [
  `${point}${subject === undefined ? "" : ` ${subject}`}: ${action}${
    decidedBy === undefined ? "" : ` by ${decidedBy}`
  }`,
  ...hooks.map(({ again, answer, change, durationMs, hook, ignored, shadow, why }) => {
    if (!(durationMs >= 0)) throw new Error(`${hook} took ${durationMs} ms`)
    const because = why === undefined ? "" : ` (${answer.startsWith("failed-") ? why.slice(0, why.indexOf(":")) : why})`
    return `${hook}: ${answer}${because}${change === undefined ? "" : " changed"}${shadow ? " shadow" : ""}${
      again ? " again" : ""
    }${ignored ? " ignored" : ""}`
  })
]
