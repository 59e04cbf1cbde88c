/**
 * Tries hooks on what has happened: recorded events are given to the hooks again, without a model and without tools. It
 * shows what a new guardrail would have refused, and what a changed one would let through.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { assertArguments, checked } from "@belay/core/ArgumentCheck"
import * as HookChain from "@belay/core/HookChain"
import type { HookPointName } from "@belay/core/HookPoint"
import type { JsonObject } from "@belay/core/Json"
import { checkWorld } from "./internal/kit/checks.ts"
import { drive, type Verdict } from "./internal/kit/drive.ts"
import { fill } from "./internal/kit/events.ts"
import { hooksOf } from "./internal/kit/hooksOf.ts"
import { make as makeStage } from "./internal/kit/stage.ts"
import type { World } from "./internal/kit/world.ts"

/** What hooks received at a point, as a `Recording` of `@belay/observe` has it. @category models @since 0.1.0 */
export interface Input {
  readonly point: HookPointName
  readonly sessionId: string
  /** The session that the host opened. Its inputs share their state. */
  readonly rootSessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly agent: string
  readonly depth: number
  readonly event: JsonObject
  /** What the hooks decided then, if they did not only continue. */
  readonly decision?: { readonly action: string; readonly by?: string; readonly reason?: string }
}

/** A difference between what the hooks would do now and what has happened. @category models @since 0.1.0 */
export interface Finding {
  readonly session: string
  /** The number of the input, from 0, among those of its session. */
  readonly at: number
  readonly point: HookPointName
  /** The name of the tool, at tool points. */
  readonly subject?: string
  readonly turn: number
  readonly step: number
  readonly agent: string
  /** What the hooks would do now. `Fail`: a hook failed. */
  readonly answer: Verdict["answer"]
  readonly by?: string
  readonly reason?: string
  /** What was decided then. */
  readonly recorded: string
  /**
   * `stricter`: the step went on then, and would be stopped now. `looser`: a hook of the same name stopped it then, and
   * would not now. `changes`: the value would be changed. `same`: it was stopped then too. `fails`: a hook failed.
   */
  readonly kind: "stricter" | "looser" | "changes" | "same" | "fails"
}

/** The result of a backtest. @category models @since 0.1.0 */
export interface Result {
  readonly sessions: number
  /** How many inputs the hooks received. */
  readonly inputs: number
  readonly findings: ReadonlyArray<Finding>
  readonly counts: { readonly [K in Finding["kind"]]: number }
  /** The share of the inputs that would be stopped now and were not then, from 0 to 1. */
  readonly stricterShare: number
}

/** What is expected of an input. Absent fields match all. @category models @since 0.1.0 */
export interface Expectation {
  readonly session: string
  readonly at?: number
  readonly point?: HookPointName
  readonly subject?: string
  readonly turn?: number
  readonly step?: number
  /** The answer that the hooks must give: `Continue` if they must not have a finding. */
  readonly expect: Verdict["answer"]
}

/**
 * Gives the inputs to the hooks, session by session, with the state that the hooks have built up. Each input is judged
 * as it was recorded: what follows a step that would be stopped now is tried nevertheless. Hooks that ask a model or a
 * server get what `world` answers.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import * as Backtest from "@belay/testing/Backtest"
 *
 * const noForce = defineHook({
 *   name: "no-force",
 *   tools: "bash",
 *   preToolCall: ({ args }) => JSON.stringify(args).includes("--force") ? HookAction.reject("no --force") : undefined
 * })
 * export const count = async (inputs: ReadonlyArray<Backtest.Input>) =>
 *   (await Backtest.run(noForce, inputs)).counts.stricter
 * ```
 * @category testing
 * @since 0.1.0
 */
export const run = async (
  hook: AgentHook | ReadonlyArray<AgentHook> | (() => AgentHook | ReadonlyArray<AgentHook>),
  inputs: Iterable<Input>,
  world: World = {}
): Promise<Result> => {
  const hooks = hooksOf("Backtest.run", typeof hook === "function" ? hook() : hook)
  // A text is a list too: of characters, none of which is an input.
  const isList = typeof inputs === "object" && inputs !== null && Symbol.iterator in inputs
  assertArguments(isList, "Backtest.run", ["hook", "inputs"], [hook, startOf(inputs)])
  const given = [...inputs]
  const wrong = given.findIndex((one) => typeof one !== "object" || one === null)
  assertArguments(wrong < 0, "Backtest.run", ["hook", `inputs[${wrong}]`], [hook, startOf(given[wrong])])
  checkWorld("Backtest.run", world)
  const chain = HookChain.makeUnsafe(hooks)
  const findings: Array<Finding> = []
  let count = 0
  const sessions = bySession(given)
  for (const [session, all] of sessions) {
    const stage = makeStage({ ...world, sessionId: session })
    let rootTurn = 1
    for (const [at, input] of all.entries()) {
      const { agent: name, depth, event, point, stepNumber, turnNumber } = input
      if (depth === 0 && turnNumber > 0) rootTurn = turnNumber
      if (!hooks.some((one) => one[point] !== undefined)) continue
      count++
      const agent = { name, depth, invokedBy: depth === 0 ? "main" : "subagent" } as const
      stage.move({ sessionId: session, turnNumber: rootTurn, stepNumber, agent })
      // The event was recorded at this point.
      const verdict = await drive(chain, point, fill(point, event as never), stage)
      const found = compare(input, session, at, verdict, hooks)
      if (found !== undefined) findings.push(found)
    }
  }
  const counts = { stricter: 0, looser: 0, changes: 0, same: 0, fails: 0 }
  for (const { kind } of findings) counts[kind]++
  return {
    sessions: sessions.size,
    inputs: count,
    findings,
    counts,
    stricterShare: counts.stricter / Math.max(1, count)
  }
}

/** A recording is a long text. */
const startOf = (value: unknown): unknown => typeof value === "string" ? value.slice(0, 40) : value

/** Returns the expectations that do not hold, each with what was found instead. @category testing @since 0.1.0 */
export const unmet = checked("Backtest.unmet", ["result"], (
  { findings }: Result,
  expectations: ReadonlyArray<Expectation>
): ReadonlyArray<{ readonly expectation: Expectation; readonly found: ReadonlyArray<Verdict["answer"]> }> =>
  expectations.flatMap((expectation) => {
    const { expect, ...where } = expectation
    const found = findings.filter((finding) =>
      Object.entries(where).every(([key, value]) => finding[key as keyof typeof where] === value)
    ).map(({ answer }) => answer)
    const holds = expect === "Continue" ? found.every((answer) => answer === expect) : found.includes(expect)
    return holds ? [] : [{ expectation, found: found.length === 0 ? ["Continue"] : found }]
  }))

const bySession = (inputs: Iterable<Input>): ReadonlyMap<string, ReadonlyArray<Input>> => {
  const sessions = new Map<string, Array<Input>>()
  for (const input of inputs) {
    const known = sessions.get(input.rootSessionId)
    if (known === undefined) sessions.set(input.rootSessionId, [input])
    else known.push(input)
  }
  return sessions
}

const stops: ReadonlySet<string> = new Set(["Reject", "Abort", "Ask", "Respond"])
const changes: ReadonlySet<string> = new Set(["Transform", "Replace"])

const compare = (
  { agent, decision, event, point, stepNumber, turnNumber }: Input,
  session: string,
  at: number,
  { answer, by, policy, reason }: Verdict,
  hooks: ReadonlyArray<AgentHook>
): Finding | undefined => {
  const recorded = decision?.action ?? "Continue"
  const isOwn = hooks.some(({ name }) => name === decision?.by)
  const wasStopped = stops.has(recorded)
  const kind = answer === "Fail"
    ? policy === "open" ? "fails" : wasStopped ? "same" : "stricter"
    : stops.has(answer)
    ? wasStopped ? "same" : "stricter"
    : wasStopped && isOwn
    ? "looser"
    : changes.has(answer)
    ? "changes"
    : undefined
  if (kind === undefined) return undefined
  const { name: subject = Object(event["call"]).name } = event
  return {
    session,
    at,
    point,
    ...(typeof subject === "string" ? { subject } : {}),
    turn: turnNumber,
    step: stepNumber,
    agent,
    answer,
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    recorded,
    kind
  }
}
