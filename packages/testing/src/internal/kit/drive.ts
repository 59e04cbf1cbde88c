/** Runs hooks at a point as the runtime would, and returns the result. */
import type { AgentHook, Next } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, table } from "@belay/core/HookPoint"
import * as HookRecord from "@belay/core/HookRecord"
import { canonical } from "@belay/core/Json"
import { type LlmResponse, textResponse } from "@belay/core/LlmCall"
import { matcher } from "@belay/core/NamePattern"
import { isProviderError, type ProviderError } from "@belay/core/ProviderError"
import { type PreToolCallEvent, success, type ToolResult } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type EventAt, type Point, wrappers } from "./events.ts"
import type { Stage } from "./stage.ts"

/** The result of the hooks at a point. */
export interface Verdict {
  readonly point: Point
  /** The action. `Fail` means that a hook failed, or that a wrapper passed on a failure of the act. */
  readonly answer: HookRecord.HookRecord["action"] | "Fail"
  /** The reason of Reject, Abort and Ask, or the error of Fail. */
  readonly reason?: string
  /** The action of the hook. Absent for Fail. */
  readonly action?: HookAction.HookAction
  /** The new value of Transform and Replace, or the output of Respond. */
  readonly value?: unknown
  /** The event with all changes. */
  readonly event: unknown
  /** The hook that decided, or the last hook that changed the value. */
  readonly by?: string
  /** The failure of a hook. */
  readonly policy?: "open" | "reject" | "abort"
  readonly records: ReadonlyArray<HookRecord.HookRecord>
  /** The records as text. */
  readonly explain: string
}

/** The act inside a wrapper. */
export type Act<P extends Point> = P extends "wrapLlmCall" ?
  (request: EventAt<P>) => string | LlmResponse | ProviderError
  : (call: EventAt<P>) => ToolResult | ProviderError

const isWrapper = (point: Point): point is (typeof wrappers)[number] =>
  // `includes` takes only members of the tuple otherwise.
  (wrappers as ReadonlyArray<string>).includes(point)

/** Runs the hooks at a point. Never rejects because of a hook. */
export const drive = async (
  chain: HookChain.HookChain,
  point: Point,
  event: unknown,
  stage: Stage,
  act?: (input: never) => unknown
): Promise<Verdict> => {
  const { seen } = stage
  const [failed, recorded] = [seen.failures.length, seen.records.length]
  const verdict = isWrapper(point)
    // The event belongs to the point.
    ? await surround(chain, point, event as EventAt<typeof point>, stage, act)
    // The event belongs to the point.
    : await fold(chain, point, event as never, stage)
  const failure = seen.failures[failed]
  const records = [...seen.records.slice(recorded), ...verdict.records]
  const all = { ...verdict, point, records, explain: HookRecord.explain(records) }
  if (failure === undefined) return all
  const { action: _action, ...rest } = all
  return {
    ...rest,
    answer: "Fail",
    reason: `${failure.hook} ${failure.kind}: ${failure.message}`,
    by: failure.hook,
    policy: failure.policy
  }
}

type Half = Omit<Verdict, "point" | "explain">

const fold = async <P extends HookPointName>(
  chain: HookChain.HookChain,
  point: P,
  event: EventAt<P>,
  stage: Stage
): Promise<Half> => {
  // The event belongs to the point.
  const outcome = await stage.run(chain.run(point, event as never, stage.scope()))
  // Every action of a point is an action.
  const action = outcome.action as HookAction.HookAction
  // Not every row has a field.
  const field = (table[point] as { readonly field?: string }).field
  // An event is an object, whatever its point.
  const changed = outcome.event as { readonly [key: string]: unknown }
  const value = action._tag === "Respond" ? action.output : field === undefined ? changed : changed[field]
  return {
    answer: action._tag,
    action,
    ...("reason" in action ? { reason: action.reason } : {}),
    ...(action._tag === "Transform" || action._tag === "Replace" || action._tag === "Respond" ? { value } : {}),
    event: outcome.event,
    ...(outcome.by === undefined ? {} : { by: outcome.by }),
    records: []
  }
}

/**
 * Runs wrappers around an act. The result compares what reached the act with its input, and what returned with its
 * output.
 */
const surround = async (
  chain: HookChain.HookChain,
  point: (typeof wrappers)[number],
  event: EventAt<typeof point>,
  stage: Stage,
  act: ((input: never) => unknown) | undefined
): Promise<Half> => {
  const inputs: Array<unknown> = []
  const outputs: Array<unknown> = []
  const innermost = (input: unknown): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      inputs.push(input)
      // The type of the act depends on the wrapper.
      const answer = (act as ((input: unknown) => unknown) | undefined)?.(input) ??
        (point === "wrapLlmCall" ? "hi" : success("done"))
      if (isProviderError(answer)) return Effect.fail(answer)
      outputs.push(typeof answer === "string" ? textResponse(answer, "model-1") : answer)
      return Effect.succeed(outputs.at(-1))
    })
  const around = chain.hooks.filter((hook) =>
    hook[point] !== undefined &&
    // The input of `wrapToolCall` is this event.
    (point !== "wrapToolCall" || hook.tools === undefined || matcher(hook.tools)((event as PreToolCallEvent).name))
  )
  const wrapped = around.reduceRight(
    (inner, hook) => (input: unknown) => call(hook, point, input, inner, stage),
    innermost
  )
  const began = performance.now()
  const exit = await stage.run(Effect.exit(wrapped(event)))
  const half = judge(exit, inputs, outputs, event)
  const by = around[0]?.name
  const record: HookRecord.HookRecord = {
    // Wrappers have no point, so records use the point before the act.
    point: point === "wrapLlmCall" ? "preLlmCall" : "preToolCall",
    subject: point,
    hooks: around.map(({ name }) => ({
      hook: name,
      answer: half.answer === "Fail" ? "failed-closed" : half.answer,
      ...(half.reason === undefined ? {} : { why: half.reason }),
      durationMs: performance.now() - began
    })),
    action: half.answer === "Fail" ? "Reject" : half.answer
  }
  return { ...half, ...(by === undefined ? {} : { by }), event: inputs.at(-1) ?? event, records: [record] }
}

const judge = (
  exit: Exit.Exit<unknown, unknown>,
  inputs: ReadonlyArray<unknown>,
  outputs: ReadonlyArray<unknown>,
  event: unknown
): Pick<Half, "answer" | "reason" | "value" | "action"> => {
  if (Exit.isFailure(exit)) {
    const error: unknown = Cause.squash(exit.cause)
    if (
      typeof error === "object" && error !== null && "_tag" in error &&
      (error._tag === "Reject" || error._tag === "Abort")
    ) {
      // Wrappers fail with these actions only.
      const action = error as HookAction.Reject | HookAction.Abort
      return { answer: action._tag, action, reason: action.reason }
    }
    return { answer: "Fail", reason: error instanceof Error ? error.message : String(error) }
  }
  const { value } = exit
  if (inputs.length === 0) return { answer: "Respond", action: HookAction.respond(value), value }
  const isSame = canonical(inputs.at(-1)) === canonical(event) && canonical(outputs.at(-1)) === canonical(value)
  return isSame
    ? { answer: "Continue", action: HookAction.Continue }
    : { answer: "Transform", action: HookAction.transform(value), value }
}

/** Calls one wrapper with its own context. */
const call = (
  hook: AgentHook<never>,
  point: (typeof wrappers)[number],
  input: unknown,
  inner: (input: unknown) => Effect.Effect<unknown, unknown>,
  stage: Stage
): Effect.Effect<unknown, unknown> => {
  const next = Object.assign((value: unknown) => inner(value), {
    promise: (value: unknown) => stage.run(inner(value))
    // A function with the members of `Next`.
  }) as unknown as Next<
    never,
    never
  >
  // The type of a wrapper depends on its name.
  const method = hook[point] as unknown as (input: unknown, next: Next<never, never>, ctx: HookContext) => unknown
  return Effect.flatMap(contextOf(hook.name, stage), (ctx) =>
    Effect.suspend((): Effect.Effect<unknown, unknown> => {
      const answer = method.call(hook, input, next, ctx)
      return Effect.isEffect(answer)
        // `isEffect` does not know the types of the Effect.
        ? answer as Effect.Effect<unknown, unknown>
        : Effect.tryPromise({ try: async () => answer, catch: (error) => error })
    }))
}

/** Creates the context of a hook, as the chain does. */
const contextOf = (name: string, stage: Stage): Effect.Effect<HookContext> => {
  let context: HookContext | undefined
  const probe: AgentHook = { name, onSignal: (_event, ctx) => void (context = ctx) }
  const { onRecord: _onRecord, ...scope } = stage.scope()
  const chain = HookChain.makeUnsafe([probe])
  return Effect.map(
    chain.run("onSignal", { name: "probe", payload: null, blockable: false }, { ...scope, contexts: [] }),
    () => context!
  )
}
