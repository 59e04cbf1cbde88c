/** Stores what the host set in the metadata of the current turn: a recipe, and whether hooks run. */
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"

const Turn = Schema.Struct({
  turn: Schema.Finite,
  recipe: Schema.optionalKey(Schema.String),
  off: Schema.optionalKey(Schema.Boolean)
})

export interface Turns {
  /** Stores the metadata of a turn that starts. */
  readonly start: (metadata: { readonly [key: string]: unknown }, ctx: HookContext) => void
  /** Returns the recipe that the host set. */
  readonly recipe: (ctx: HookContext) => string | undefined
  readonly isOff: (ctx: HookContext) => boolean
}

export const make = (name: string): Turns => {
  const turns = HookState.key(`${name}/turn`, Turn, { turn: 0 })
  const current = (ctx: HookContext): Partial<typeof Turn.Type> => {
    const turn = ctx.state.get(turns)
    return turn.turn === ctx.root.turnNumber ? turn : {}
  }
  return {
    start: ({ hooks, recipe }, ctx) =>
      ctx.state.set(turns, {
        turn: ctx.root.turnNumber,
        ...defined({
          recipe: typeof recipe === "string" ? recipe : undefined,
          off: hooks === "none" ? true : undefined
        })
      }),
    recipe: (ctx) => current(ctx).recipe || undefined,
    isOff: (ctx) => current(ctx).off === true
  }
}
