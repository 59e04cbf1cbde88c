/**
 * Tests a hook without an agent: send events, check the answers, and read what else the hook did. It works in every
 * test runner.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { assertArguments } from "@belay/core/ArgumentCheck"
import * as HookChain from "@belay/core/HookChain"
import { type HookPointName, names } from "@belay/core/HookPoint"
import type * as HookState from "@belay/core/HookState"
import { checkPlace, checkPoint, checkWorld } from "./internal/kit/checks.ts"
import { type Act, drive, type Verdict } from "./internal/kit/drive.ts"
import { type EventAt, fill, type Given, type Point, points } from "./internal/kit/events.ts"
import { hooksOf } from "./internal/kit/hooksOf.ts"
import { make as makeStage } from "./internal/kit/stage.ts"
import type { InjectionRecord, Place, Seen, World } from "./internal/kit/world.ts"
import { broken, same, short } from "./internal/laws/law.ts"

export type { Act, EventAt, Given, InjectionRecord, Place, Point, Seen, Verdict, World }

/** Everything that the hook has done so far in addition to its answers. @category models @since 0.1.0 */
export interface Observation extends Seen {
  /** The result of each event. */
  readonly verdicts: ReadonlyArray<Verdict>
  /** The state of the session that the last event was in. */
  readonly state: Pick<HookState.HookState, "get" | "snapshot">
  /** The local state of the agent that the last event was in. */
  readonly local: Pick<HookState.HookState, "get" | "snapshot">
  readonly durable: HookState.Durable<Pick<HookState.HookState, "get" | "snapshot">>
  /** Reads an artifact of that session. The prefix `hook:` is optional. */
  readonly artifact: (key: string) => Promise<string | undefined>
}

/**
 * A test of a hook. Chained calls start at once and run in order. `await` it at the end; otherwise a failure is an
 * unhandled rejection.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestHook extends PromiseLike<Observation> {
  /**
   * Sends an event to the hook. Missing fields are filled in. `place` sets where the hook runs, for this and later
   * events. `act` is the act inside a wrapper. If the hook does not have the point, the result is Continue, as in an
   * agent.
   */
  readonly given: <P extends Point>(point: P, event?: Given<P>, place?: Place, act?: Act<P>) => TestHook
  /** Expects this action for the last event. `detail` is its reason (a text or a pattern), new value or output. */
  readonly expect: (
    answer: "Continue" | "Transform" | "Replace" | "Reject" | "Respond" | "Abort" | "Ask",
    detail?: unknown
  ) => TestHook
  readonly expectContinue: () => TestHook
  /**
   * Expects that the part of the event that hooks can change (`args`, `response`, `output`, ..., or the whole event) is
   * now this value.
   */
  readonly expectTransform: (value: unknown) => TestHook
  /** Expects that the hook failed with this failure policy. All other expectations fail for a hook that failed. */
  readonly expectFailure: (policy: "open" | "reject" | "abort", reason?: string | RegExp) => TestHook
}

/**
 * Starts a test of a hook, or of several hooks as one chain.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { testHook } from "@belay/testing/TestHook"
 *
 * const noFridays = defineHook({
 *   name: "no-fridays",
 *   tools: "deploy",
 *   preToolCall: () => HookAction.reject("not on Fridays")
 * })
 * await testHook(noFridays)
 *   .given("preToolCall", { name: "deploy", args: { to: "production" } }).expect("Reject", /Fridays/)
 *   .given("preToolCall", { name: "look" }).expectContinue()
 * ```
 * @category testing
 * @since 0.1.0
 */
export const testHook = (hook: AgentHook | ReadonlyArray<AgentHook>, world: World = {}): TestHook => {
  checkWorld("testHook", world)
  return new Trial(HookChain.makeUnsafe(hooksOf("testHook", hook)), world)
}

/** The result of a chain. @category models @since 0.1.0 */
export interface DryRun extends Verdict {
  readonly seen: Observation
}

/** Runs a chain at a point without an agent. @category testing @since 0.1.0 */
export const dryRun = async <P extends HookPointName>(
  hooks: ReadonlyArray<AgentHook>,
  point: P,
  event: Given<P>,
  world: World = {}
): Promise<DryRun> => {
  checkPoint("dryRun", point, names)
  const trial = testHook(hooks, world).given(point, event)
  const seen = await trial
  return { ...seen.verdicts[0]!, seen }
}

/** A class, because chained calls must return the same object, which must be a thenable. */
class Trial implements TestHook {
  private readonly chain: HookChain.HookChain
  private readonly stage: ReturnType<typeof makeStage>
  private readonly verdicts: Array<Verdict> = []
  private tail: Promise<Verdict | undefined> = Promise.resolve(undefined)

  constructor(chain: HookChain.HookChain, world: World) {
    this.chain = chain
    this.stage = makeStage(world)
  }

  given<P extends Point>(point: P, event?: Given<P>, place?: Place, act?: Act<P>): TestHook {
    return this.after(async () => {
      checkPoint("given", point, points)
      assertArguments(event === undefined || Object(event) === event, "given", ["event"], [event])
      if (place !== undefined) {
        checkPlace("given", place)
        this.stage.move(place)
      }
      // The type of the act depends on the point.
      const verdict = await drive(this.chain, point, fill(point, event), this.stage, act as never)
      this.verdicts.push(verdict)
      return verdict
    })
  }

  expect(answer: Verdict["answer"], detail?: unknown): TestHook {
    return this.check((verdict) => {
      const expected = `${answer}${
        detail === undefined ? "" : ` ${detail instanceof RegExp ? String(detail) : short(detail)}`
      }`
      if (verdict.answer !== answer) return this.differs(verdict, expected)
      if (detail === undefined) return undefined
      if (verdict.reason !== undefined) {
        return matches(verdict.reason, detail)
          ? undefined
          : this.differs(verdict, expected)
      }
      return same(verdict.value, detail, this.differing(verdict, expected))
    })
  }
  expectContinue(): TestHook {
    return this.expect("Continue")
  }
  expectTransform(value: unknown): TestHook {
    return this.expect("Transform", value)
  }
  expectFailure(policy: "open" | "reject" | "abort", reason?: string | RegExp): TestHook {
    return this.check((verdict) => {
      const isRight = verdict.policy === policy && (reason === undefined || matches(verdict.reason ?? "", reason))
      return isRight
        ? undefined
        : this.differs(verdict, `a failure (${policy})${reason === undefined ? "" : ` ${String(reason)}`}`)
    })
  }

  // oxlint-disable-next-line unicorn/no-thenable -- to be awaited is what it is for
  then<A = Observation, B = never>(
    whenDone?: ((observed: Observation) => A | PromiseLike<A>) | null,
    whenFailed?: ((error: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    return this.tail.then(() => this.observed()).then(whenDone, whenFailed)
  }

  private observed(): Observation {
    const { stage } = this
    const { durable, state } = stage.kept()
    const sessionId = stage.sessionId()
    return {
      ...stage.seen,
      verdicts: [...this.verdicts],
      state,
      local: stage.local(),
      durable,
      artifact: (key) => stage.run(stage.artifacts.read(sessionId, /^(?:hook|tool):/.test(key) ? key : `hook:${key}`))
    }
  }

  private after(next: (last: Verdict | undefined) => Promise<Verdict | undefined>): this {
    this.tail = this.tail.then(next)
    return this
  }
  private check(judge: (verdict: Verdict) => void): this {
    return this.after(async (verdict) => {
      if (verdict === undefined) {
        return broken("nothing was given to the hook yet: say given(point, event) before what is expected")
      }
      judge(verdict)
      return verdict
    })
  }

  private differs(verdict: Verdict, expected: string): never {
    return broken(this.differing(verdict, expected))
  }
  private differing({ answer, explain, point, policy, reason, value }: Verdict, expected: string): string {
    const hooks = this.chain.hooks.map(({ name }) => name).join(", ")
    const detail = reason ?? (value === undefined ? undefined : short(value))
    const found = `${answer}${detail === undefined ? "" : ` ${JSON.stringify(detail)}`}${
      policy === undefined ? "" : ` (${policy})`
    }`
    return `expected ${hooks} to answer ${expected} at ${point}, found ${found}\n${explain}`
  }
}

const matches = (reason: string, wanted: unknown): boolean =>
  wanted instanceof RegExp ? wanted.test(reason) : reason === wanted
