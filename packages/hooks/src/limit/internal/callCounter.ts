/** Counts calls per turn and per session, under one key of the session's state. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The calls so far: in the turn that was counted last, and in the whole session. */
export interface Counts {
  readonly turn: number
  readonly inTurn: number
  readonly inSession: number
}

/** A number, or a function that returns it for the turn. */
type Limit = number | ((ctx: HookContext) => number)

interface Limits {
  readonly perTurn?: Limit
  readonly perSession?: Limit
  readonly onLimit?: "reject" | "abort"
}

/** Makes the key of the state under which a hook counts. Throws a `ConfigError` for an invalid limit. */
export const make = (name: string, { onLimit, perSession, perTurn }: Limits): HookState.StateKey<Counts> => {
  Result.getOrThrow(checkOptions(
    name,
    ["perTurn", perTurn ?? perSession ?? null, (limit: unknown) => limit !== null, "a limit here or as perSession"],
    whole("perTurn", typeof perTurn === "function" ? undefined : perTurn),
    whole("perSession", typeof perSession === "function" ? undefined : perSession),
    oneOf("onLimit", onLimit, ["reject", "abort"])
  ))
  return HookState.key(
    `${name}/calls`,
    Schema.Struct({ turn: Schema.Finite, inTurn: Schema.Finite, inSession: Schema.Finite }),
    {
      turn: 0,
      inTurn: 0,
      inSession: 0
    }
  )
}

/** The counts at the turn of the context. */
const read = (state: HookState.StateKey<Counts>, ctx: HookContext): Counts => {
  const counts = ctx.state.get(state)
  return counts.turn === ctx.turnNumber ? counts : { turn: ctx.turnNumber, inTurn: 0, inSession: counts.inSession }
}

/** Counts one call. */
export const add = (state: HookState.StateKey<Counts>, ctx: HookContext): void => {
  const { inSession, inTurn, turn } = read(state, ctx)
  ctx.state.set(state, { turn, inTurn: inTurn + 1, inSession: inSession + 1 })
}

/** Describes the limit that is used up; `undefined` when another call may be made. `NaN` allows no call. */
export const exhaustedLimit = (
  { perSession, perTurn }: Limits,
  state: HookState.StateKey<Counts>,
  ctx: HookContext
): string | undefined => {
  const { inSession, inTurn } = read(state, ctx)
  const turn = valueOf(perTurn, ctx)
  const session = valueOf(perSession, ctx)
  if (!(inTurn < turn)) return `${turn} per turn`
  return inSession < session ? undefined : `${session} per session`
}

const valueOf = (limit: Limit | undefined, ctx: HookContext): number =>
  typeof limit === "function" ? limit(ctx) : limit ?? Infinity
