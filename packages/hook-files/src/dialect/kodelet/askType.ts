/**
 * Runs `<file> hook` to find out the events of executables, and decides which of two executables with the same name is
 * used.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { refusalOf, type Refuse } from "../../engine/refusal.ts"
import type { Runners } from "../../runner/Runners.ts"
import type { Handler } from "./config.ts"
import { guards, type Type, types } from "./events.ts"

/** An executable whose hook type is known. */
export interface Typed {
  readonly handler: Handler
  readonly type: Type
}

export interface Asked {
  readonly typed: ReadonlyArray<Typed>
  readonly problems: ReadonlyArray<string>
  /** The problems of executables that failed to report their type. Such an executable could be a guard. */
  readonly broken: ReadonlyArray<string>
  /** Executables that may not run now, each with the reason. */
  readonly refused: ReadonlyArray<{ readonly handler: Handler; readonly why: string }>
}

interface Untyped {
  readonly problem: string
  readonly broke: boolean
}

export const ask = (
  handlers: ReadonlyArray<Handler>,
  cwd: string,
  { refuse, runners }: {
    readonly runners: Runners
    readonly refuse: Refuse<Handler> | undefined
  },
  ctx: HookContext
): Effect.Effect<Asked> => {
  const refused: Array<Asked["refused"][number]> = []
  const one = (handler: Handler): Effect.Effect<Result.Result<Typed, Untyped>> => {
    const label = `${handler.key} (${handler.file})`
    const work = { ...handler.work, args: ["hook"] }
    const asked = Effect.map(
      runners({ work, input: {}, cwd, timeoutMs: 5_000 }, ctx),
      ({ exitCode, stdout, timedOut }) => {
        const type = types.find((known) => known === stdout.trim())
        if (exitCode === 0 && type !== undefined) return Result.succeed({ handler, type })
        const how = timedOut
          ? "it took too long"
          : `it ended with ${exitCode} and printed ${JSON.stringify(stdout.trim().slice(0, 100))}`
        return Result.fail({
          problem: `${label} is left out, because its event is unknown: ${how}`,
          broke: exitCode !== 0
        })
      }
    )
    return Effect.flatMap(refusalOf(refuse, handler), (why) => {
      if (why === undefined) return asked
      refused.push({ handler, why })
      return Effect.succeed(Result.fail({ problem: `${label} was not asked for its event: ${why}`, broke: true }))
    })
  }
  return Effect.map(Effect.forEach(handlers, one, { concurrency: 8 }), (all) => {
    const untyped = all.flatMap((each) => Result.isFailure(each) ? [each.failure] : [])
    return {
      typed: unshadowed(all.flatMap((each) => Result.isSuccess(each) ? [each.success] : [])),
      problems: untyped.map(({ problem }) => problem),
      broken: untyped.flatMap(({ broke, problem }) => broke ? [problem] : []),
      refused
    }
  })
}

/**
 * If the project and the user have executables with the same name, only the project's executable runs. If the user's
 * executable is a guard, it also runs, before the project's.
 */
const unshadowed = (all: ReadonlyArray<Typed>): ReadonlyArray<Typed> => {
  const twin = ({ handler: { key, ofProject } }: Typed) =>
    all.find(({ handler }) => handler.key === key && handler.ofProject !== ofProject)
  return all.flatMap((one) => {
    const other = twin(one)
    if (other === undefined) return [one]
    if (!one.handler.ofProject) return []
    return guards.has(other.type) ? [other, one] : [one]
  })
}
