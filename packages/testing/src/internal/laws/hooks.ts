/** The laws of hooks. */
import type { AgentHook } from "@belay/core/AgentHook"
import { assertArguments } from "@belay/core/ArgumentCheck"
import type { HookAction } from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type * as HookState from "@belay/core/HookState"
import { canonical, whyNot } from "@belay/core/Json"
import { checkKinds, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { worldKinds } from "../kit/checks.ts"
import { drive, type Verdict } from "../kit/drive.ts"
import { fill, type Given, hostileEvents, type Point, points } from "../kit/events.ts"
import { isHook } from "../kit/hooksOf.ts"
import { make as makeStage, type Stage } from "../kit/stage.ts"
import type { World } from "../kit/world.ts"
import { broken, holds, type Law, same, short } from "./law.ts"

/**
 * The part of `@belay/hooks/HookDefaults` that the laws test.
 *
 * @category models
 * @since 0.1.0
 */
export interface Common {
  readonly enabled?: boolean
  readonly when?: () => boolean
  readonly name?: string
  readonly onDecision?: (decision: { readonly action: HookAction["_tag"] }) => void
}

/** @category models @since 0.1.0 */
export interface Options extends World {
  /** Claims that the same events give the same answers and effects. Default false. */
  readonly deterministic?: boolean
  /**
   * Claims that sessions share nothing. Leave it out for a hook that limits several sessions together. It needs a
   * function that creates the hook. Default false.
   */
  readonly perSession?: boolean
  /** Creates the hook with common options, for hooks built with `HookDefaults.apply`. */
  readonly withCommon?: (common: Common) => AgentHook
  /** More events. Events to which the hook reacts make every law stronger. */
  readonly events?: { readonly [P in Point]?: ReadonlyArray<Given<P>> }
  /** Maximum characters of JSON in the state after all events. Default 65,536. */
  readonly maxState?: number
  /** Milliseconds for an answer. Default 2,000. */
  readonly withinMs?: number
}

// Each point has a list of events.
const eventKinds = Object.fromEntries(points.map((point) => [point, "list"])) as OptionKinds<
  NonNullable<Options["events"]>
>

const optionKinds: OptionKinds<Options> = {
  ...worldKinds,
  deterministic: "flag",
  perSession: "flag",
  withCommon: "function",
  events: optionsIn("object", eventKinds),
  maxState: "number",
  withinMs: "number"
}

interface Attempt {
  readonly point: Point
  readonly event: unknown
}

export const hookLaws = (given: AgentHook | (() => AgentHook), options: Options): ReadonlyArray<Law> => {
  Result.getOrThrow(checkKinds("HookLaws.cases", options, optionKinds))
  const { deterministic = false, maxState = 65_536, perSession = false, withCommon, withinMs = 2000 } = options
  const make = typeof given === "function" ? given : () => given
  const sample = make()
  assertArguments(isHook(sample), "HookLaws.cases", ["hook"], [given])
  const law = (name: string, prove: () => Promise<void>): Law => ({ name: `${sample.name}: ${name}`, run: prove })
  const implemented = points.filter((point) => typeof sample[point] === "function")
  const events = (): ReadonlyArray<Attempt> =>
    implemented.flatMap((point) => {
      // The events of a point have its type.
      const own = (options.events?.[point] ?? []) as ReadonlyArray<Given<typeof point>>
      return [...own.map((one) => fill(point, one)), fill(point), ...hostileEvents(point)].map((event) => ({
        point,
        event
      }))
    })
  const world = {
    llm: () => "a model says so",
    callTool: () => ({ ok: true, output: "a tool says so" }) as const,
    ...options
  }
  const staged = (freeze = true) => makeStage(world, freeze)

  /** Sends one event. The law does not hold if the hook fails or takes too long. */
  const one = async (chain: HookChain.HookChain, { event, point }: Attempt, stage: Stage): Promise<Verdict> => {
    const late = `took more than ${withinMs} ms at ${point} of ${short(event)}`
    const verdict = await soon(withinMs, late, drive(chain, point, event, stage))
    if (verdict.answer === "Fail") broken(`broke at ${point} of ${short(event)}: ${verdict.reason}`)
    return verdict
  }
  const all = async (hook: AgentHook, stage: Stage, tried: ReadonlyArray<Attempt>): Promise<ReadonlyArray<string>> => {
    const chain = HookChain.makeUnsafe([hook])
    const told: Array<string> = []
    for (const each of tried) told.push(answerOf(await one(chain, each, stage)))
    return told
  }

  return [
    law("implements a point and has valid options", async () => {
      holds(implemented.length > 0, "it implements no point")
      HookChain.makeUnsafe([sample])
    }),
    law(
      "never fails, and answers every event soon with a legal action",
      async () => void await all(make(), staged(), events())
    ),
    law("does not change its event", async () => {
      const chain = HookChain.makeUnsafe([make()])
      const stage = staged(false)
      for (const each of events()) {
        const before = canonical(each.event)
        await soon(
          withinMs,
          `took more than ${withinMs} ms at ${each.point}`,
          drive(chain, each.point, each.event, stage)
        )
        if (canonical(each.event) !== before) broken(`changed what it was given at ${each.point}: ${short(each.event)}`)
      }
    }),
    law("does not change a prototype", async () => {
      const chain = HookChain.makeUnsafe([make()])
      const stage = staged()
      for (const { event, point } of events()) {
        await soon(withinMs, `took more than ${withinMs} ms at ${point}`, drive(chain, point, event, stage))
        if (!("polluted" in {})) continue
        // Repairs the prototype, so that later tests are not affected.
        delete (Object.prototype as { polluted?: unknown }).polluted
        broken(`put what it was given at ${point} into the prototype of every object`)
      }
    }),
    law("works for parallel calls", async () => {
      const chain = HookChain.makeUnsafe([make()])
      const stage = staged()
      await Promise.all(events().map((each) => one(chain, each, stage)))
    }),
    law(`keeps state that is JSON, of at most ${maxState} characters`, async () => {
      const stage = staged()
      const hook = make()
      for (let turnNumber = 1; turnNumber <= 20; turnNumber++) {
        stage.move({ turnNumber })
        await all(hook, stage, events().filter((_, index) => index % 5 === turnNumber % 5))
      }
      const { durable, locals, state } = stage.kept()
      const stores: ReadonlyArray<readonly [string, HookState.Store]> = [
        ["state", state],
        ["state.durable.conversation", durable.conversation],
        ["state.durable.turn", durable.turn],
        ...[...locals.values()].map((local) => ["local", local] as const)
      ]
      for (const [where, store] of stores) {
        const why = whyNot(store.snapshot())
        if (why !== undefined) broken(`ctx.${where} is not JSON: ${why}`)
        const size = JSON.stringify(store.snapshot()).length
        holds(size <= maxState, `ctx.${where} has ${size} characters after 20 turns`)
      }
    }),
    ...deterministic
      ? [law("gives the same answers for the same events", async () => {
        const tried = events()
        const [first, second] = [staged(), staged()]
        const [hook, twin] = [make(), make()]
        const [one, other] = [await all(hook, first, tried), await all(twin, second, tried)]
        const at = one.findIndex((answer, index) => answer !== other[index])
        if (at >= 0) {
          broken(
            `answered ${tried[at]!.point} of ${short(tried[at]!.event)} once with ${short(one[at])}, then with ${
              short(other[at])
            }`
          )
        }
        same(effectsOf(first), effectsOf(second), "what it did besides answering")
      })]
      : [],
    ...perSession && typeof given === "function"
      ? [law("keeps sessions separate", async () => {
        const tried = events()
        const [hook, stage] = [make(), staged()]
        await all(hook, stage, tried)
        stage.move({ sessionId: "session-2" })
        const after = await all(hook, stage, tried)
        const fresh = staged()
        fresh.move({ sessionId: "session-2" })
        const alone = await all(make(), fresh, tried)
        const at = after.findIndex((answer, index) => answer !== alone[index])
        if (at >= 0) {
          broken(
            `answered ${tried[at]!.point} of ${short(tried[at]!.event)} with ${
              short(after[at])
            } after another session, with ${short(alone[at])} without`
          )
        }
        same(stage.kept().state.snapshot(), fresh.kept().state.snapshot(), "its state in the second session")
        same(localsOf(stage), localsOf(fresh), "its local state in the second session")
      })]
      : [],
    ...withCommon === undefined ? [] : commonLaws(withCommon, law, all, staged, events)
  ]
}

const commonLaws = (
  withCommon: NonNullable<Options["withCommon"]>,
  law: (name: string, prove: () => Promise<void>) => Law,
  all: (hook: AgentHook, stage: Stage, tried: ReadonlyArray<Attempt>) => Promise<ReadonlyArray<string>>,
  staged: () => Stage,
  events: () => ReadonlyArray<Attempt>
): ReadonlyArray<Law> => [
  law("does nothing when `enabled` is false", async () => {
    const hook = withCommon({ enabled: false })
    same(points.filter((point) => hook[point] !== undefined), [], "points it implements")
  }),
  law("does nothing if `when` returns false", async () => {
    const stage = staged()
    const answers = await all(withCommon({ when: () => false }), stage, events())
    same(answers.filter((answer) => answer !== "Continue"), [], "answers besides Continue")
    same(effectsOf(stage), effectsOf(staged()), "what it did besides answering")
  }),
  law("has the name of the option", async () => same(withCommon({ name: "another" }).name, "another", "name")),
  law("calls `onDecision` with each decision", async () => {
    const heard: Array<string> = []
    const hook = withCommon({ onDecision: ({ action }) => void heard.push(action) })
    const answers = await all(hook, staged(), events().filter(({ point }) => !point.startsWith("wrap")))
    same(heard, answers.map((answer) => answer.split(" ")[0]).filter((answer) => answer !== "Continue"), "decisions")
  })
]

/** Writes an answer as text. */
const answerOf = ({ answer, reason, value }: Verdict): string =>
  answer === "Continue" ? answer : `${answer} ${reason ?? ""} ${value === undefined ? "" : canonical(value)}`

const localsOf = ({ kept }: Stage): unknown => [...kept().locals].map(([agent, local]) => [agent, local.snapshot()])

/** What a hook did in addition to its answer, without times. */
const effectsOf = ({ kept, seen }: Stage): unknown => {
  const { events, failures, followUps, httpRequests, injections, late, llmRequests, notices, toolRequests, warnings } =
    seen
  return {
    events: events.map(({ name }) => name),
    failures,
    followUps,
    injections,
    late,
    llmRequests,
    notices,
    toolRequests,
    httpRequests,
    warnings,
    state: Object.keys(kept().state.snapshot()),
    local: [...kept().locals.values()].flatMap((local) => Object.keys(local.snapshot()))
  }
}

/** Waits for a promise. The law does not hold if it rejects. */
export const soon = async <A>(ms: number, late: string, promise: Promise<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_, reject) => timer = setTimeout(() => reject(new Error(late)), ms))
  try {
    return await Promise.race([promise, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
