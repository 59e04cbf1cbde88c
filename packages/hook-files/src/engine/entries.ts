/** Runs the entries of hook files one by one, whatever their type, and tells how each ended. */
import type { HookContext } from "@belay/core/HookContext"
import { type JsonObject, whyNot } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Answer } from "../Dialect.ts"
import { type Fields, isFields } from "../dialect/shared/fields.ts"
import type { Finished, Left } from "../process/Command.ts"
import type { Runners, Work } from "../Runners.ts"
import * as Jobs from "./background.ts"
import { recordRun as tell } from "./record.ts"
import { notifyRefusal as tellUser } from "./refusal.ts"

/** One entry of a file. */
export interface Entry {
  readonly event: string
  readonly file: string
  readonly key: string
  /** What the file calls it. */
  readonly name?: string
  readonly work: Work
  /** Whether the user wrote the file, or the project could have. Default `project`. */
  readonly trusted?: "user" | "project"
}

/** What an entry is told, and how long it may take. */
interface Told {
  readonly input: JsonObject
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: { readonly [name: string]: string }
  /** What runs in place of the entry's own work. */
  readonly work?: Work
}

/** What its dialect read of how it ended. */
interface Read {
  readonly outcome: Answer["outcome"]
}

export interface Entries<E extends Entry> {
  /** `refused` says why it was not run at all. */
  readonly run: <R extends Read>(
    entry: E,
    told: Told,
    read: (finished: Finished, refused: string | undefined) => R,
    ctx: HookContext
  ) => Effect.Effect<R>
  /** Lets something go on that is waited for a second at most, and that ends soon after the session. */
  readonly aside: (work: Effect.Effect<unknown>, ctx: HookContext) => Effect.Effect<void>
  /** A session is over: what still goes on for it has a little time left. */
  readonly end: (sessionId: string) => Effect.Effect<void>
  /** Waits for what is left of sessions that are over. */
  readonly drained: Effect.Effect<void>
}

export interface Setup<E extends Entry> {
  readonly runners: Runners
  /** Why an entry may not run now, if it may not. */
  readonly refuse: ((entry: E) => string | undefined) | undefined
  /** Who refuses, where `refuse` only passes it on. */
  readonly refuser?: object | undefined
  /** Most bytes of what a command writes. Default: as for any command. */
  readonly maxOutput?: number
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number | undefined
}

export const make = <E extends Entry>(
  { drainMs = 5_000, maxOutput, refuse, refuser = refuse, runners }: Setup<E>
): Entries<E> => {
  const jobs = Jobs.make(drainMs)
  return {
    run: (entry, { work = entry.work, ...told }, read, ctx) =>
      Effect.suspend(() => {
        const why = refuse?.(entry)
        if (why !== undefined) {
          if (refuser !== undefined) tellUser(refuser, entry.file, why, ctx)
          return Effect.succeed(read(broken, why))
        }
        const { trusted = "project" } = entry
        const onLinger = (left: Left) => jobs.keep(left, ctx)
        return runners({ ...told, work, trusted, onLinger, ...(maxOutput === undefined ? {} : { maxOutput }) }, ctx)
          .pipe(
            Effect.map((finished) => {
              const said = read(finished, undefined)
              tell(entry, said.outcome, finished, ctx)
              return said
            }),
            Effect.onInterrupt(() => Effect.sync(() => tell(entry, "cancelled", undefined, ctx)))
          )
      }),
    aside: jobs.aside,
    end: jobs.end,
    drained: jobs.drained
  }
}

/** An answer, or why it does not count. */
interface Answered<A> extends Read {
  readonly answer: Result.Result<A, string>
}

/** Reads what an entry wrote, where only 0 is a success and anything else an entry that broke. */
export const answered =
  <A>(read: (stdout: string) => Result.Result<A, string>) =>
  (finished: Finished, refused: string | undefined): Answered<A> => {
    const answer = refused === undefined
      ? Result.flatMap(ended(finished), read)
      : Result.fail(`was not run: ${refused}`)
    return {
      answer,
      outcome: Result.isSuccess(answer) ? "success" : finished.timedOut ? "cancelled" : "nonBlockingError"
    }
  }

/** Reads a JSON object; nothing where nothing was written. Keys that would be prototypes are left out. */
export const object = (stdout: string): Result.Result<Fields | undefined, string> => {
  const text = stdout.trim()
  if (text === "") return Result.succeed(undefined)
  const parsed = Result.try(() =>
    JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value) as unknown
  )
  if (Result.isFailure(parsed)) return Result.fail("wrote what is no JSON")
  const why = whyNot(parsed.success)
  if (why !== undefined) return Result.fail(`wrote JSON that cannot be used: ${why.slice(0, 200)}`)
  return isFields(parsed.success) ? Result.succeed(parsed.success) : Result.fail("wrote JSON that is no object")
}

const ended = ({ exitCode, overflowed, stderr, stdout, timedOut }: Finished): Result.Result<string, string> => {
  if (timedOut) return Result.fail("took too long and was ended")
  if (overflowed) return Result.fail("wrote too much and was ended")
  if (exitCode === 0) return Result.succeed(stdout)
  const line = stderr.trim().split("\n", 1)[0]!.slice(0, 1_000).toWellFormed()
  return Result.fail(
    `${exitCode === undefined ? "was killed" : `ended with ${exitCode}`}${line === "" ? "" : `: ${line}`}`
  )
}

const broken: Finished = { exitCode: 1, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 0 }
