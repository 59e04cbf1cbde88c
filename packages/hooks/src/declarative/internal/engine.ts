/** Runs the commands of one event: those that fit it, at once, and their outcomes in the order of the configuration. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest, type JsonObject } from "@belay/core/Json"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Condition from "../../Condition.ts"
import type { Handler } from "../HookConfig.ts"
import * as Outcome from "../Outcome.ts"
import type { Finished, Runner } from "../runner/Command.ts"
import { type EventName, rowOf } from "./events.ts"

/** An event that happened. */
interface Occasion {
  readonly event: EventName
  /** Everything that is told on standard input. */
  readonly payload: JsonObject
  /** The call as scripts know it, for `if`. */
  readonly call?: Condition.Call
  readonly env?: { readonly [name: string]: string }
}

export interface Setup {
  readonly name: string
  readonly handlers: ReadonlyArray<Handler>
  readonly run: Runner
  readonly projectDir: string
  readonly home: string
  readonly concurrency: number
  readonly passEnv: ReadonlyArray<string>
  readonly graceMs: number
  /** Whether a command that broke blocks where it could have. */
  readonly blockOnError: boolean
  /** Why a handler may not run now, if it may not. */
  readonly refuse: (handler: Handler) => string | undefined
}

export interface Engine {
  readonly has: (...events: ReadonlyArray<EventName>) => boolean
  /** Nothing where no command fits. */
  readonly fire: (occasion: Occasion, ctx: HookContext) => Effect.Effect<Outcome.Verdict> | undefined
  /** What asynchronous commands of the session said since. */
  readonly deliver: (ctx: HookContext) => void
  /** Ends what still runs for the session. */
  readonly end: (sessionId: string) => Effect.Effect<void>
}

export const make = (setup: Setup): Engine => {
  const { concurrency, handlers, name, refuse } = setup
  const events = new Set(handlers.map(({ event }) => event))
  const fired = HookState.key(`${name}/once`, Schema.Array(Schema.String), [])
  const running = new Map<string, Set<Fiber.Fiber<void>>>()
  const waiting = new Map<string, Array<Outcome.Said>>()

  const fitting = (occasion: Occasion, ctx: HookContext): ReadonlyArray<Handler> => {
    const value = valueOf(occasion)
    const found = new Map<string, Handler>()
    for (const handler of handlers) {
      if (handler.event !== occasion.event || !handler.matcher.test(value)) continue
      if (handler.rule !== undefined && !holds(handler.rule, occasion, ctx, setup.home)) continue
      const id = identity(handler)
      if (!found.has(id)) found.set(id, handler)
    }
    return [...found].flatMap(([id, handler]) => handler.command.once === true && !claim(ctx, digest([handler.event, id])) ? [] : [handler])
  }

  /** Whether it is the first time in this session: said once, whoever asks at the same time. */
  const claim = (ctx: HookContext, id: string): boolean => {
    let first = false
    ctx.root.state.update(fired, (ids) => {
      first = !ids.includes(id)
      return first ? [...ids, id] : ids
    })
    return first
  }

  const one = (
    handler: Handler,
    occasion: Occasion,
    timeout: number,
    ctx: HookContext,
    onFirstLine?: (line: string) => void
  ): Effect.Effect<Outcome.Outcome> => {
    const why = refuse(handler)
    if (why !== undefined) {
      const refused: Outcome.Outcome = { type: "nonBlockingError", reason: `was not run: ${why}` }
      return Effect.succeed(strict(refused, occasion.event, setup.blockOnError))
    }
    const { args, command } = handler.command
    const placed = (text: string) => text.replaceAll("${CLAUDE_PROJECT_DIR}", () => setup.projectDir)
    const request = {
      ...(args === undefined ? { command } : { command: placed(command), args: args.map(placed) }),
      cwd: ctx.cwd,
      input: `${JSON.stringify(occasion.payload)}\n`,
      env: { CLAUDE_PROJECT_DIR: setup.projectDir, ...occasion.env },
      passEnv: setup.passEnv,
      timeoutMs: timeout * 1_000,
      graceMs: setup.graceMs,
      ...(onFirstLine === undefined ? {} : { onFirstLine })
    }
    return Effect.map(setup.run(request), (finished) => {
      const outcome = strict(Outcome.read(finished, occasion.event), occasion.event, setup.blockOnError)
      tell(handler, outcome, finished, ctx)
      return outcome
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => tell(handler, interrupted, undefined, ctx))))
  }

  const tell = (
    { command: { command }, event, file, key }: Handler,
    { type }: Outcome.Outcome,
    finished: Finished | undefined,
    ctx: HookContext
  ): void => {
    if (!ctx.events.active) return
    const { durationMs = null, exitCode = null, stderr = "", stdout = "" } = finished ?? {}
    const short = (text: string) => text.slice(0, 500).toWellFormed()
    ctx.events.emit("hook-run", {
      event,
      file,
      key,
      command: short(command),
      outcome: type,
      exitCode,
      durationMs,
      stdout: short(stdout),
      stderr: short(stderr)
    })
  }

  /** Lets a command go on by itself: what it says is for later, and it ends with the session. */
  const keep = (work: Effect.Effect<Outcome.Outcome | undefined>, ctx: HookContext): Effect.Effect<void> =>
    Effect.gen(function*() {
      const { sessionId } = ctx.root
      const fibers = running.get(sessionId) ?? new Set()
      running.set(sessionId, fibers)
      const fiber = yield* Effect.forkDetach(Effect.map(work, (outcome) => {
        if (outcome === undefined || !("said" in outcome) || outcome.said === undefined) return
        const { context, messages } = outcome.said
        const list = waiting.get(sessionId) ?? []
        if (context.length + messages.length > 0 && list.length < 100 && running.has(sessionId)) {
          waiting.set(sessionId, [...list, outcome.said])
        }
      }))
      fibers.add(fiber)
      fiber.addObserver(() => void fibers.delete(fiber))
    })

  /** Waits for a command, unless it says in its first line that nobody has to. */
  const waited = (handler: Handler, occasion: Occasion, ctx: HookContext): Effect.Effect<Outcome.Outcome> =>
    Effect.gen(function*() {
      const early = yield* Deferred.make<number>()
      const listen = (line: string) => {
        const ms = Outcome.detached(line)
        if (ms !== undefined) Deferred.doneUnsafe(early, Effect.succeed(ms))
      }
      const fiber = yield* Effect.forkDetach(one(handler, occasion, timeoutOf(handler), ctx, listen))
      const stop = Fiber.interrupt(fiber)
      const first = yield* Effect.onInterrupt(Effect.raceFirst(Fiber.join(fiber), Deferred.await(early)), () => stop)
      if (typeof first !== "number") return first
      yield* keep(Effect.ensuring(Effect.raceFirst(Fiber.join(fiber), Effect.as(Effect.sleep(first), undefined)), stop), ctx)
      return { type: "success", said: { context: [], messages: [], problems: [] } }
    })

  return {
    has: (...names) => names.some((event) => events.has(event)),
    fire: (occasion, ctx) => {
      if (!events.has(occasion.event)) return undefined
      const found = fitting(occasion, ctx)
      if (found.length === 0) return undefined
      // Nothing goes on after the end.
      const last = occasion.event === "SessionEnd"
      const now = last ? found : found.filter(({ command }) => command.async !== true)
      const later = last ? [] : found.filter(({ command }) => command.async === true)
      const budget = last ? Math.min(60, Math.max(1.5, ...found.map(({ command }) => command.timeout ?? 0))) : Infinity
      return Effect.gen(function*() {
        for (const handler of later) yield* keep(one(handler, occasion, timeoutOf(handler), ctx), ctx)
        const outcomes = yield* Effect.forEach(
          now,
          (handler) => last ? one(handler, occasion, Math.min(timeoutOf(handler), budget), ctx) : waited(handler, occasion, ctx),
          { concurrency }
        )
        const verdict = Outcome.aggregate(outcomes, now.map(({ command, key }) => `${key} (${command.command.slice(0, 80)})`))
        for (const warning of verdict.warnings) ctx.warn(warning)
        for (const message of verdict.messages) ctx.notifyUser(message)
        return verdict
      })
    },
    deliver: (ctx) => {
      const said = waiting.get(ctx.root.sessionId) ?? []
      waiting.delete(ctx.root.sessionId)
      for (const { context, messages, suppressOutput } of said) {
        for (const text of context) ctx.inject(text)
        if (suppressOutput !== true) { for (const message of messages) ctx.notifyUser(message) }
      }
    },
    end: (sessionId) =>
      Effect.suspend(() => {
        const fibers = [...running.get(sessionId) ?? []]
        running.delete(sessionId)
        waiting.delete(sessionId)
        return Effect.asVoid(Fiber.interruptAll(fibers))
      })
  }
}

const interrupted: Outcome.Outcome = { type: "cancelled", cause: "interrupt", reason: "was cancelled" }

const valueOf = ({ event, payload }: Occasion): string => {
  const { field } = rowOf(event)
  const value = field !== undefined && Object.hasOwn(payload, field) ? payload[field] : ""
  return typeof value === "string" ? value : ""
}

/** What cannot be told counts as if it held. */
const holds = (rule: Condition.Rule | "never", { call }: Occasion, ctx: HookContext, home: string): boolean =>
  rule !== "never" && call !== undefined && Condition.evaluate(rule, call, { cwd: ctx.cwd, home, use: "advice" }) !== "no-match"

/** The same command in several files runs once. */
const identity = ({ command: { args, command } }: Handler): string => JSON.stringify([command, args ?? null])

const timeoutOf = ({ command, event }: Handler): number => command.timeout ?? rowOf(event).timeout ?? 600

const strict = (outcome: Outcome.Outcome, event: EventName, blocks: boolean): Outcome.Outcome => {
  if (!blocks || outcome.type === "success" || outcome.type === "blocking") return outcome
  if (event !== "PermissionRequest" && event !== "PreToolUse" && event !== "UserPromptSubmit") return outcome
  const said = "said" in outcome && outcome.said !== undefined ? outcome.said : { context: [], messages: [], problems: [] }
  return { type: "blocking", reason: `a hook broke: it ${outcome.reason}`, said }
}
