/** Counts the calls of all agents of a conversation, per turn and per session, under one key of `ctx.state`. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The calls so far: in the turn that was counted last, and in the whole session. A turn of the agent that the host
 * started includes the turns of its sub-agents.
 */
const Counts = Schema.Struct({ turn: Schema.Finite, inTurn: Schema.Finite, inSession: Schema.Finite })

const keyOf = HookState.ownKey("calls", Counts, { turn: 0, inTurn: 0, inSession: 0 })

/** A number, or a function that returns it for the turn. */
type Limit = number | ((ctx: HookContext) => number)

interface Limits {
  readonly perTurn?: Limit
  readonly perSession?: Limit
  readonly onLimit?: "reject" | "abort"
}

/** Throws a `ConfigError` for an invalid limit. */
export const checkLimits = (name: string, { onLimit, perSession, perTurn }: Limits): void => {
  Result.getOrThrow(checkOptions(
    name,
    ["perTurn", perTurn ?? perSession ?? null, (limit: unknown) => limit !== null, "a limit here or as perSession"],
    whole("perTurn", typeof perTurn === "function" ? undefined : perTurn),
    whole("perSession", typeof perSession === "function" ? undefined : perSession),
    oneOf("onLimit", onLimit, ["reject", "abort"])
  ))
}

/** The counts at the turn of the context. */
const countsAt = (counts: typeof Counts.Type, { root: { turnNumber } }: HookContext): typeof Counts.Type =>
  counts.turn === turnNumber ? counts : { turn: turnNumber, inTurn: 0, inSession: counts.inSession }

/** Counts one call. */
export const add = (ctx: HookContext): void => {
  ctx.state.update(keyOf(ctx.hook), (counts) => {
    const { inSession, inTurn, turn } = countsAt(counts, ctx)
    return { turn, inTurn: inTurn + 1, inSession: inSession + 1 }
  })
}

/** Describes the limit that is used up; `undefined` when another call may be made. `NaN` allows no call. */
export const exhaustedLimit = ({ perSession, perTurn }: Limits, ctx: HookContext): string | undefined => {
  const { inSession, inTurn } = countsAt(ctx.state.get(keyOf(ctx.hook)), ctx)
  const turn = valueOf(perTurn, ctx)
  const session = valueOf(perSession, ctx)
  if (!(inTurn < turn)) return `${turn} per turn`
  return inSession < session ? undefined : `${session} per session`
}

const valueOf = (limit: Limit | undefined, ctx: HookContext): number =>
  typeof limit === "function" ? limit(ctx) : limit ?? Infinity
