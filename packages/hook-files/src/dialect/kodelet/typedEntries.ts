/** Finds out the types of executables. `<file> hook` runs once for each of them, when the hook first runs. */
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { notifyRefusal } from "../../engine/refusal.ts"
import type { Runners } from "../../runner/Runners.ts"
import { ask, type Asked } from "./askType.ts"
import type { Handler } from "./config.ts"
import type { Entry } from "./dialect.ts"
import type { Type } from "./events.ts"

export interface Setup {
  readonly handlers: ReadonlyArray<Handler>
  readonly projectDir: string
  readonly runners: Runners
  readonly refuse: ((handler: Handler) => string | undefined) | undefined
  /** Whether the host switched hooks off for this turn. */
  readonly isOff: (ctx: HookContext) => boolean
}

export interface TypedEntries {
  readonly all: (ctx: HookContext) => Effect.Effect<Asked>
  readonly of: (ctx: HookContext, ...types: ReadonlyArray<Type>) => Effect.Effect<ReadonlyArray<Entry>>
}

const nobody: Asked = { typed: [], problems: [], broken: [], refused: [] }

export const make = ({ handlers, isOff, projectDir, refuse, runners }: Setup): TypedEntries => {
  let asking: Fiber.Fiber<Asked> | undefined
  const warned = new Set<string>()
  const all = (ctx: HookContext): Effect.Effect<Asked> =>
    Effect.suspend(() => {
      if (handlers.length === 0 || isOff(ctx)) return Effect.succeed(nobody)
      // The work runs in a separate fiber, because the turn that started it may be cancelled.
      asking ??= Effect.runFork(ask(handlers, projectDir, { runners, refuse }, ctx))
      return Effect.map(Fiber.join(asking), (asked) => {
        asked.problems.filter((problem) => !warned.has(problem)).forEach(ctx.warn)
        asked.problems.forEach((problem) => warned.add(problem))
        for (const { handler, why } of asked.refused) notifyRefusal(refuse!, handler.file, why, ctx)
        // The next call asks again, because a refused executable may be allowed to run by then.
        if (asked.refused.length > 0) asking = undefined
        return asked
      })
    })
  return {
    all,
    of: (ctx, ...types) =>
      Effect.map(
        all(ctx),
        ({ typed }) =>
          typed.flatMap(({ handler, type }) => types.includes(type) ? [{ ...handler, event: type, type }] : [])
      )
  }
}
