/** Runs the entries of hook files one by one or at once, whatever their type, and tells how each ended. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Outcome } from "../Outcome.ts"
import type { Finished } from "../runner/Command.ts"
import type { Runners, Work } from "../Runners.ts"

/** One entry of a file. */
export interface Entry {
  readonly event: string
  readonly file: string
  readonly key: string
  /** What the file calls it. */
  readonly name?: string
  readonly work: Work
  /** Milliseconds. */
  readonly timeoutMs: number
  /** Whether the user wrote the file, or the project could have. Default `project`. */
  readonly trusted?: "user" | "project"
}

/** What an entry is told. */
interface Told {
  readonly input: JsonObject
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** What runs in place of the entry's own work. */
  readonly work?: Work
}

/** What its dialect read of how it ended. */
interface Read {
  readonly outcome: Outcome["type"]
}

export interface Entries<E extends Entry> {
  readonly run: <R extends Read>(entry: E, told: Told, read: (finished: Finished) => R, ctx: HookContext) => Effect.Effect<R>
  /** Lets something go on by itself: it ends with the session. */
  readonly detach: (work: Effect.Effect<void>, ctx: HookContext) => Effect.Effect<void>
  /** Ends what still goes on for a session. */
  readonly end: (sessionId: string) => Effect.Effect<void>
}

export interface Setup<E extends Entry> {
  readonly runners: Runners
  /** Why an entry may not run now, if it may not: it is then one that broke. */
  readonly refuse: ((entry: E) => string | undefined) | undefined
  /** Most bytes of what a command writes. Default: as for any command. */
  readonly maxOutput?: number
}

export const make = <E extends Entry>({ maxOutput, refuse, runners }: Setup<E>): Entries<E> => {
  const going = new Map<string, Set<Fiber.Fiber<void>>>()
  return {
    run: (entry, { cwd, env, input, work = entry.work }, read, ctx) => {
      const why = refuse?.(entry)
      const { timeoutMs, trusted = "project" } = entry
      const finished = why === undefined
        ? runners({ work, input, cwd, env, timeoutMs, trusted, ...(maxOutput === undefined ? {} : { maxOutput }) }, ctx)
        : Effect.succeed({ ...broken, stderr: `was not run: ${why}` })
      return Effect.map(finished, (finished) => {
        const said = read(finished)
        if (why === undefined) tell(entry, said.outcome, finished, ctx)
        return said
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => tell(entry, "cancelled", undefined, ctx))))
    },
    detach: (work, ctx) =>
      Effect.map(Effect.forkDetach(work), (fiber) => {
        const { sessionId } = ctx.root
        const fibers = going.get(sessionId) ?? new Set()
        going.set(sessionId, fibers)
        fibers.add(fiber)
        fiber.addObserver(() => void fibers.delete(fiber))
      }),
    end: (sessionId) =>
      Effect.suspend(() => {
        const fibers = [...going.get(sessionId) ?? []]
        going.delete(sessionId)
        return Effect.asVoid(Fiber.interruptAll(fibers))
      })
  }
}

/** What an entry is called in warnings. */
export const labelOf = ({ key, work }: Entry): string => `${key} (${shown(work).slice(0, 80)})`

const shown = (work: Work): string => {
  if (work.type === "command") return [work.command, ...work.args ?? []].join(" ")
  return work.type === "http" ? work.url : work.type === "mcp_tool" ? `${work.server} ${work.tool}` : work.prompt
}

const broken: Finished = { exitCode: 1, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 0 }

const short = (text: string): string => text.slice(0, 500).toWellFormed()

const tell = (entry: Entry, outcome: Outcome["type"], finished: Finished | undefined, ctx: HookContext): void => {
  if (!ctx.events.active) return
  const { event, file, key, name } = entry
  const { durationMs = null, exitCode = null, stderr = "", stdout = "" } = finished ?? {}
  const payload: { readonly [name: string]: Json } = {
    event,
    file,
    key,
    ...(name === undefined ? {} : { name }),
    command: short(shown(entry.work)),
    outcome,
    exitCode: exitCode ?? null,
    durationMs,
    stdout: short(stdout),
    stderr: short(stderr)
  }
  ctx.events.emit("hook-run", payload)
}
