/** Runs the entries of one event: those that fit it, at once, and their outcomes in the order of the configuration. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest, type JsonObject } from "@belay/core/Json"
import * as Condition from "@belay/hooks/Condition"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Jobs from "../../engine/background.ts"
import { labelOf, tell } from "../../engine/record.ts"
import { tellUser } from "../../engine/refusal.ts"
import type { Finished, Left } from "../../process/Command.ts"
import type { Runners, Work } from "../../Runners.ts"
import type { Flavor } from "../codex/flavor.ts"
import { type EventName, rowOf } from "./events.ts"
import type { Handler } from "./HookConfig.ts"
import * as Outcome from "./Outcome.ts"

/** An event that happened. What is told is put together when an entry fits, as most calls fit none. */
interface Occasion {
  readonly event: EventName
  /** The call as scripts know it, for `if`. */
  readonly call?: Condition.Call
  readonly payload: () => JsonObject
  readonly env?: () => Variables
}

/** What entries are told of it. */
interface Told {
  readonly event: EventName
  readonly payload: JsonObject
  readonly env: Variables | undefined
}

type Variables = { readonly [name: string]: string }

export interface Setup {
  readonly name: string
  readonly flavor: Flavor
  readonly handlers: ReadonlyArray<Handler>
  readonly runners: Runners
  readonly projectDir: string
  readonly env: Variables
  readonly home: string
  readonly concurrency: number
  /** Milliseconds that asynchronous entries have after the session's end. */
  readonly drainMs: number
  /** Whether an entry that broke blocks where it could have. */
  readonly blockOnError: boolean
  /** Why a handler may not run now, if it may not. */
  readonly refuse: (handler: Handler) => string | undefined
  /** Whether `allow` of a project's entry answers the policy. */
  readonly projectAllows: boolean
  /** Whether a handler of a skill or an agent counts here. */
  readonly counts: (handler: Handler, ctx: HookContext) => boolean
  /** Hears what an asynchronous entry wants the agent to hear at once. */
  readonly onWake: ((sessionId: string, text: string) => void) | undefined
}

export interface Engine {
  readonly has: (...events: ReadonlyArray<EventName>) => boolean
  /** Whether the matcher of any entry takes a value: to be asked before anything is told. */
  readonly matches: (event: EventName, value: string) => boolean
  /** Nothing where no entry fits. */
  readonly fire: (occasion: Occasion, ctx: HookContext) => Effect.Effect<Outcome.Verdict> | undefined
  /** Lets something go on that is waited for a second at most, and that ends soon after the session. */
  readonly aside: (work: Effect.Effect<unknown>, ctx: HookContext) => Effect.Effect<void>
  /** What asynchronous entries of the session said since. */
  readonly deliver: (ctx: HookContext) => void
  /** What they want the agent to hear at once. */
  readonly wakes: (ctx: HookContext) => ReadonlyArray<string>
  /** The session is over: what still runs has a little time left. */
  readonly end: (sessionId: string) => Effect.Effect<void>
  /** Waits for what is left of sessions that are over. */
  readonly drained: Effect.Effect<void>
}

export const make = (setup: Setup): Engine => {
  const { concurrency, flavor, handlers, name, refuse } = setup
  const byEvent = Map.groupBy(handlers, ({ event }) => event)
  const fired = HookState.key(`${name}/once`, Schema.Array(Schema.String), [])
  const jobs = Jobs.make(setup.drainMs)
  const waiting = new Map<string, Array<Outcome.Said>>()
  const waking = new Map<string, Array<string>>()

  const seen = new Map(Array.from(byEvent.keys(), (event) => [event, new Map<string, ReadonlyArray<Handler>>()]))

  /** Whose matcher takes a value: looked up once a value, as long as there are few. */
  const candidates = (event: EventName, value: string): ReadonlyArray<Handler> => {
    const cache = seen.get(event)
    if (cache === undefined) return none
    const before = cache.get(value)
    if (before !== undefined) return before
    const names = rowOf(event).field === "tool_name" ? [value, ...flavor.aliases(value)] : [value]
    const found = byEvent.get(event)!.filter(({ matcher }) => names.some((name) => matcher.test(name)))
    if (cache.size === maxSeen) cache.clear()
    if (value.length < 200) cache.set(value, found)
    return found
  }

  const fitting = (
    event: EventName,
    value: string,
    call: Condition.Call | undefined,
    ctx: HookContext
  ): ReadonlyArray<Handler> => {
    const all = candidates(event, value)
    if (all.length === 0) return none
    const found = new Map<unknown, Handler>()
    for (const handler of all) {
      if (handler.rule !== undefined && !holds(handler.rule, call, ctx, setup.home)) continue
      if (handler.origin !== undefined && !setup.counts(handler, ctx)) continue
      const id = flavor.dedupe ? identity(handler) : handler
      if (!found.has(id)) found.set(id, handler)
    }
    return [...found.values()].filter((handler) =>
      handler.once !== true || claim(ctx, digest([handler.event, identity(handler)]))
    )
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
    told: Told,
    timeout: number,
    ctx: HookContext,
    hears: { readonly line?: (line: string) => void; readonly end?: (finished: Finished) => void } = {}
  ): Effect.Effect<Outcome.Outcome> => {
    const { event } = told
    const why = refuse(handler)
    if (why !== undefined) {
      tellUser(refuse, handler.file, why, ctx)
      return Effect.succeed(strict(refused(handler, told, why, setup.blockOnError), event, setup.blockOnError))
    }
    const task = {
      work: placed(handler, setup),
      input: told.payload,
      cwd: ctx.cwd,
      env: { ...setup.env, ...environmentOf(handler, setup), ...told.env },
      timeoutMs: timeout * 1_000,
      ...(handler.trusted === undefined ? {} : { trusted: handler.trusted }),
      ...(hears.line === undefined ? {} : { onFirstLine: hears.line }),
      onLinger: (left: Left) => jobs.keep(left, ctx)
    }
    return Effect.map(setup.runners(task, ctx), (finished) => {
      const outcome = strict(flavor.read(finished, event, handler.work), event, setup.blockOnError)
      tell(handler, outcome.type, finished, ctx)
      hears.end?.(finished)
      return outcome
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => tell(handler, "cancelled", undefined, ctx))))
  }

  /** Lets an entry go on by itself: what it says is for later, and it ends soon after the session. */
  const keep = (work: (goesOn: () => boolean) => Effect.Effect<Outcome.Outcome | undefined>, ctx: HookContext) =>
    jobs.start((goesOn) =>
      Effect.map(work(goesOn), (outcome) => {
        if (outcome === undefined || !goesOn() || !("said" in outcome) || outcome.said === undefined) return
        const { context, messages } = outcome.said
        const { sessionId } = ctx.root
        const list = waiting.get(sessionId) ?? []
        if (context.length + messages.length > 0 && list.length < 100) waiting.set(sessionId, [...list, outcome.said])
      }), ctx)

  /** Starts an entry that nobody waits for. */
  const start = (handler: Handler, told: Told, ctx: HookContext) => {
    const { sessionId } = ctx.root
    const wake = (goesOn: () => boolean) => ({ exitCode, stderr, stdout }: Finished): void => {
      if (handler.rewake !== true || exitCode !== 2) return
      const list = waking.get(sessionId) ?? []
      const text = (stderr.trim() || stdout.trim()).slice(0, Outcome.maxText).toWellFormed()
      if (text === "" || list.length === 100 || !goesOn()) return
      waking.set(sessionId, [...list, text])
      setup.onWake?.(sessionId, text)
    }
    return keep((goesOn) => one(handler, told, timeoutOf(handler), ctx, { end: wake(goesOn) }), ctx)
  }

  /** Waits for an entry, unless it says in its first line that nobody has to. */
  const waited = (handler: Handler, told: Told, ctx: HookContext): Effect.Effect<Outcome.Outcome> =>
    handler.work.type !== "command" ? one(handler, told, timeoutOf(handler), ctx) : Effect.gen(function*() {
      const early = yield* Deferred.make<number>()
      const listen = (line: string) => {
        const ms = Outcome.detached(line)
        if (ms !== undefined) Deferred.doneUnsafe(early, Effect.succeed(ms))
      }
      const fiber = yield* Effect.forkDetach(one(handler, told, timeoutOf(handler), ctx, { line: listen }))
      const stop = Fiber.interrupt(fiber)
      const first = yield* Effect.onInterrupt(Effect.raceFirst(Fiber.join(fiber), Deferred.await(early)), () => stop)
      if (typeof first !== "number") return first
      yield* keep(
        () => Effect.ensuring(Effect.raceFirst(Fiber.join(fiber), Effect.as(Effect.sleep(first), undefined)), stop),
        ctx
      )
      return { type: "success", said: Outcome.silent }
    })

  return {
    has: (...names) => names.some((event) => byEvent.has(event)),
    matches: (event, value) => candidates(event, value).length > 0,
    fire: ({ call, env, event, payload }, ctx) => {
      if (!byEvent.has(event)) return undefined
      const early = call === undefined ? payload() : undefined
      const found = fitting(event, call?.tool ?? valueOf(event, early!), call, ctx)
      if (found.length === 0) return undefined
      const told: Told = { event, payload: early ?? payload(), env: env?.() }
      // Nothing goes on after the end.
      const last = event === "SessionEnd"
      const now = last ? found : found.filter((handler) => handler.async !== true)
      const later = last ? [] : found.filter((handler) => handler.async === true)
      const budget = last ? Math.min(60, Math.max(1.5, ...found.map(({ timeout }) => timeout ?? 0))) : Infinity
      return Effect.gen(function*() {
        for (const handler of later) yield* start(handler, told, ctx)
        const outcomes = yield* Effect.forEach(
          now,
          (handler) => {
            if (handler.status !== undefined && ctx.events.active) {
              ctx.events.emit("hook-status", { event: handler.event, message: handler.status })
            }
            return last ? one(handler, told, Math.min(timeoutOf(handler), budget), ctx) : waited(handler, told, ctx)
          },
          { concurrency }
        )
        const said = outcomes.map((outcome, index) =>
          now[index]!.trusted === "project" && !setup.projectAllows ? tightened(outcome) : outcome
        )
        const heard = rowOf(event).deaf === true ? said.map(unheard) : said
        const verdict = Outcome.aggregate(heard, now.map(labelOf), flavor.separator)
        for (const warning of verdict.warnings) ctx.warn(warning)
        for (const message of verdict.messages) ctx.notifyUser(message)
        tellHost(verdict, ctx)
        return verdict
      })
    },
    aside: jobs.aside,
    deliver: (ctx) => {
      const said = waiting.get(ctx.root.sessionId) ?? []
      waiting.delete(ctx.root.sessionId)
      for (const { context, messages, suppressOutput } of said) {
        for (const text of context) ctx.inject(text)
        if (suppressOutput !== true) { for (const message of messages) ctx.notifyUser(message) }
      }
    },
    wakes: ({ root: { sessionId } }) => {
      const texts = waking.get(sessionId) ?? []
      waking.delete(sessionId)
      return texts
    },
    end: (sessionId) =>
      Effect.suspend(() => {
        waiting.delete(sessionId)
        waking.delete(sessionId)
        return jobs.end(sessionId)
      }),
    drained: jobs.drained
  }
}

const none: ReadonlyArray<Handler> = []
const maxSeen = 1_000

const unheard = (outcome: Outcome.Outcome): Outcome.Outcome =>
  outcome.type === "success" || outcome.type === "blocking" ? { type: "success", said: Outcome.silent } : outcome

/** A project tightens, and loosens nothing. */
const tightened = (outcome: Outcome.Outcome): Outcome.Outcome => {
  if (outcome.type !== "success" || outcome.said.permission !== "allow") return outcome
  const { permission: _word, permissionReason: _why, ...said } = outcome.said
  return { type: "success", said }
}

const tellHost = ({ permissions, terminal, title, watch }: Outcome.Verdict, { events }: HookContext): void => {
  if (!events.active) return
  if (terminal !== undefined) events.emit("terminal-sequence", { sequence: terminal })
  if (title !== undefined) events.emit("session-title", { title })
  if (watch !== undefined) events.emit("watch-paths", { paths: watch })
  if (permissions !== undefined) events.emit("permission-update", { update: permissions })
}

const valueOf = (event: EventName, payload: JsonObject): string => {
  const { field } = rowOf(event)
  const value = field !== undefined && Object.hasOwn(payload, field) ? payload[field] : ""
  return typeof value === "string" ? value : ""
}

/** What cannot be told counts as if it held. */
const holds = (
  rule: Condition.Rule | "never",
  call: Condition.Call | undefined,
  ctx: HookContext,
  home: string
): boolean =>
  rule !== "never" && call !== undefined &&
  Condition.evaluate(rule, call, { cwd: ctx.cwd, home, use: "advice" }) !== "no-match"

/** The same entry in several settings files runs once; those of plugins and skills stay apart. */
const identity = ({ origin, work }: Handler): string => JSON.stringify([work, origin?.root ?? null])

const timeoutOf = ({ event, timeout, work }: Handler): number =>
  timeout ?? (work.type === "prompt" ? 30 : work.type === "agent" ? 60 : rowOf(event).timeout ?? 600)

/** Folders that scripts look for. */
const environmentOf = ({ origin }: Handler, { flavor, projectDir }: Setup): { readonly [name: string]: string } => {
  const data = origin?.data === undefined
    ? {}
    : { CLAUDE_PLUGIN_DATA: origin.data, ...(flavor.name === "codex" ? { PLUGIN_DATA: origin.data } : {}) }
  const plugin = origin?.type === "plugin"
    ? { CLAUDE_PLUGIN_ROOT: origin.root, ...(flavor.name === "codex" ? { PLUGIN_ROOT: origin.root } : {}), ...data }
    : {}
  return { CLAUDE_PROJECT_DIR: projectDir, ...plugin }
}

/** A program with its arguments is started as it stands, with the names of folders filled in. */
const placed = (handler: Handler, setup: Setup): Work => {
  const { work } = handler
  if (work.type !== "command") return work
  if (work.args === undefined) return setup.flavor.shell(work)
  const folders = environmentOf(handler, setup)
  const fill = (text: string) =>
    text.replaceAll(
      /\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}/g,
      (whole, name: string) => folders[name] ?? whole
    )
  return { type: "command", command: fill(work.command), args: work.args.map(fill) }
}

/** What may not run cannot say no: where it could have, a person decides. The reasons of one event are all the same. */
const refused = ({ async }: Handler, told: Told, why: string, blocks: boolean): Outcome.Outcome => {
  const reason = `was not run: ${why}`
  if (blocks || async === true || (told.event !== "PreToolUse" && told.event !== "PermissionRequest")) {
    return { type: "nonBlockingError", reason }
  }
  const isFirst = !asked.has(told)
  asked.add(told)
  return {
    type: "success",
    said: { ...Outcome.silent, permission: "ask", ...(isFirst ? { permissionReason: why } : {}), problems: [reason] }
  }
}

const asked = new WeakSet<Told>()

const strict = (outcome: Outcome.Outcome, event: EventName, blocks: boolean): Outcome.Outcome => {
  if (!blocks || outcome.type === "success" || outcome.type === "blocking") return outcome
  if (event !== "PermissionRequest" && event !== "PreToolUse" && event !== "UserPromptSubmit") return outcome
  const said = "said" in outcome && outcome.said !== undefined ? outcome.said : Outcome.silent
  return { type: "blocking", reason: `a hook broke: it ${outcome.reason}`, said }
}
