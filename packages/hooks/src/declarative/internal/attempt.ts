/** One run of one entry of a dialect: refused, run, read and told. */
import type { HookContext } from "@belay/core/HookContext"
import { whyNot } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Finished } from "../runner/Command.ts"
import type { Runners, Task, Work } from "../Runners.ts"

/** What of an entry a run is about. */
export interface Entry {
  readonly event: string
  readonly file: string
  readonly key: string
  readonly work: Work
  /** Whether the user wrote the file, or the project could have. Default `project`. */
  readonly trusted?: "user" | "project"
}

/** How the entries of a source are run. */
export interface How<H extends Entry> {
  readonly runners: Runners
  readonly refuse: (handler: H) => string | undefined
}

/** An object that was parsed, of which nothing is known. */
export type Fields = { readonly [key: string]: unknown }

/** Runs an entry. What it wrote is read when it ended with 0; else there is a reason why it does not count. */
export const attempt = <H extends Entry, A>(
  handler: H,
  task: Omit<Task, "work">,
  read: (stdout: string) => Result.Result<A, string>,
  how: How<H>,
  ctx: HookContext
): Effect.Effect<Result.Result<A, string>> =>
  Effect.suspend(() => {
    const why = how.refuse(handler)
    if (why !== undefined) return Effect.succeed(Result.fail(`was not run: ${why}`))
    return how.runners({ ...task, work: handler.work, trusted: handler.trusted ?? "project" }, ctx).pipe(
      Effect.map((finished) => {
        const answer = Result.flatMap(ended(finished), read)
        tell(handler, Result.isSuccess(answer) ? "success" : finished.timedOut ? "cancelled" : "nonBlockingError", finished, ctx)
        return answer
      }),
      Effect.onInterrupt(() => Effect.sync(() => tell(handler, "cancelled", undefined, ctx)))
    )
  })

/** Reads a JSON object; nothing where nothing was written. Keys that would be prototypes are left out. */
export const object = (stdout: string): Result.Result<Fields | undefined, string> => {
  const text = stdout.trim()
  if (text === "") return Result.succeed(undefined)
  const parsed = Result.try(() => JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value) as unknown)
  if (Result.isFailure(parsed)) return Result.fail("wrote what is no JSON")
  const why = whyNot(parsed.success)
  if (why !== undefined) return Result.fail(`wrote JSON that cannot be used: ${why.slice(0, 200)}`)
  return isFields(parsed.success) ? Result.succeed(parsed.success) : Result.fail("wrote JSON that is no object")
}

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

const ended = ({ exitCode, overflowed, stderr, stdout, timedOut }: Finished): Result.Result<string, string> => {
  if (timedOut) return Result.fail("took too long and was ended")
  if (overflowed) return Result.fail("wrote too much and was ended")
  if (exitCode === 0) return Result.succeed(stdout)
  const line = stderr.trim().split("\n", 1)[0]!.slice(0, 1_000).toWellFormed()
  return Result.fail(`${exitCode === undefined ? "was killed" : `ended with ${exitCode}`}${line === "" ? "" : `: ${line}`}`)
}

const tell = ({ event, file, key, work }: Entry, outcome: string, finished: Finished | undefined, ctx: HookContext): void => {
  if (!ctx.events.active) return
  const { durationMs = null, exitCode = null, stderr = "", stdout = "" } = finished ?? {}
  ctx.events.emit("hook-run", {
    event,
    file,
    key,
    command: short(label(work)),
    outcome,
    exitCode,
    durationMs,
    stdout: short(stdout),
    stderr: short(stderr)
  })
}

const label = (work: Work): string => {
  if (work.type === "command") return [work.command, ...work.args ?? []].join(" ")
  return work.type === "http" ? work.url : work.type === "mcp_tool" ? `${work.server}.${work.tool}` : work.prompt
}

const short = (text: string): string => text.slice(0, 500).toWellFormed()
