/**
 * Fires the events of Base Coat. It builds the envelope, runs the hooks that decide, and then runs the telemetry hooks,
 * which read the decision.
 */
import * as Deadline from "@belay/core/Deadline"
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Engine from "../../engine/runEntries.ts"
import type { Answer } from "./answer.ts"
import type { Envelope, EventName, Handler, Tool } from "./events.ts"
import * as Failures from "./failures.ts"
import { whereabouts } from "./repository.ts"
import type { State } from "./state.ts"
import { merge, type Verdict } from "./verdict.ts"

export interface Setup {
  readonly engine: Engine.Engine<Handler, Envelope, Answer, Verdict>
  readonly state: State
  /** The folder whose repository and branch are reported if the session has no folder. */
  readonly projectDir: string
  /** A failure that happens again within this time, in milliseconds, is a duplicate. */
  readonly quietMs: number
}

/** A failure of a tool, a provider or a hook. */
export interface Failed {
  readonly about: JsonObject
  /** The name of the tool, the provider or the hook that failed. */
  readonly where: string
  readonly message: string
  readonly tool?: Tool
}

type Fields = { readonly [key: string]: Json | undefined }

export interface Events {
  readonly has: (event: EventName) => boolean
  /** Fires an event. Returns undefined if the event has no hooks. `metrics` are added to the event `base-coat`. */
  readonly fire: (
    event: EventName,
    ctx: HookContext,
    fields: Fields,
    metrics?: (verdict: Verdict) => JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** Fires `OnError`. If the failure is a duplicate, the verdict has no context and no warnings. */
  readonly fireError: (failed: Failed, ctx: HookContext) => Effect.Effect<Verdict | undefined>
}

export const make = (setup: Setup): Events => {
  const { engine, projectDir, quietMs, state } = setup

  const fire: Events["fire"] = (event, ctx, fields, metrics = () => ({})) => {
    if (!engine.has(event)) return undefined
    return Effect.gen(function*() {
      const begin = yield* Deadline.now
      const envelope: Envelope = {
        hook: event,
        timestamp: new Date(yield* Clock.currentTimeMillis).toISOString(),
        sessionId: ctx.root.sessionId,
        agent: ctx.agent.name,
        ...whereabouts(ctx.cwd === "" ? projectDir : ctx.cwd),
        budget: state.budget(ctx),
        ...defined(fields)
      }
      const entries = engine.select({ event, subjects: [], input: envelope }, ctx)
      const verdict = yield* runAll(entries, envelope, ctx)
      if (ctx.events.active) {
        const elapsedMs = Math.round((yield* Deadline.now) - begin)
        const measured = { ...metrics(verdict), metadata: verdict.metadata }
        ctx.events.emit("base-coat", { event, hooks: entries.length, elapsedMs, ...measured })
      }
      if (event !== "OnError") yield* reportBroken(event, verdict, ctx)
      return verdict
    })
  }

  /**
   * Runs the hooks that decide, and then the telemetry hooks, which read the decision. If the hooks are asked again,
   * the telemetry hooks run only if the decision changes.
   */
  const runAll = Effect.fnUntraced(function*(entries: ReadonlyArray<Handler>, envelope: Envelope, ctx: HookContext) {
    const deciding = entries.filter(({ kind }) => kind !== "telemetry")
    const first = yield* engine.run(deciding, envelope, ctx)
    const blocked = first.answers.at(-1)?.blocked
    const telemetry = ctx.askedAgain && blocked === undefined ? [] : entries.filter(({ kind }) => kind === "telemetry")
    const outcome = blocked === undefined
      ? { action: "passThrough" }
      : { action: "block", reason: blocked.reason, by: blocked.by }
    const second = yield* engine.run(telemetry, { ...first.input, outcome }, ctx)
    const ran = [...deciding.slice(0, first.answers.length), ...telemetry]
    return merge([...first.answers, ...second.answers], ran)
  })

  const reportBroken = Effect.fnUntraced(function*(event: EventName, { failures }: Verdict, ctx: HookContext) {
    for (const { hookId, message } of failures) {
      const about = { source: "hook", hook: hookId, event }
      const verdict = yield* fireError({ about, where: hookId, message }, ctx)
      verdict?.warnings.forEach((warning) => ctx.warn(warning))
      verdict?.context.forEach((one) => ctx.inject(one))
    }
  })

  const fireError: Events["fireError"] = ({ about, message, tool, where }, ctx) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const signature = Failures.signatureOf(where, message)
      const failure = Failures.count(state.tallies, signature, { now, quietMs }, ctx)
      const error = { ...about, message, ...failure }
      const metrics = () => ({ class: signature, recurrence: failure.recurrence })
      const fired = fire("OnError", ctx, { tool, error }, metrics)
      const verdict = fired === undefined ? undefined : yield* fired
      return verdict !== undefined && failure.duplicate ? { ...verdict, context: [], warnings: [] } : verdict
    })

  return { has: (event) => engine.has(event), fire, fireError }
}
