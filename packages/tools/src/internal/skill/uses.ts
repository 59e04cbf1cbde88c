/** Which skills are in use: plain data in the state of the tree of agents, so that every process knows it. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"

/** A skill in use: since which call, in which turn of the root agent, and what it declares. */
export interface Use extends Schema.Schema.Type<typeof Use> {}
const Use = Schema.Struct({
  skill: Schema.String,
  call: Schema.String,
  turn: Schema.Finite,
  /** The rules of `allowed-tools`. Absent if the skill declares none. */
  rules: Schema.optionalKey(Schema.Array(Schema.String))
})

const uses = Schema.Array(Use)

/** The skills that agents of the tree loaded. */
const ofTree = HookState.ownKey("skillUses", uses, [])
/** The skills that were in use when this sub-agent started. They are in use as long as it works. */
const inherited = HookState.ownKey("skillsInherited", uses, [])
/** The calls with which agents of the tree read texts of skills, in the last turn in which one did; -1 before that. */
const texts = HookState.ownKey(
  "skillTexts",
  Schema.Struct({ turn: Schema.Finite, calls: Schema.Array(Schema.String) }),
  { turn: -1, calls: [] }
)

/** The most skills of a conversation in use, and the most texts of one turn. */
const maxUses = 64
const maxTexts = 500

/** Until when a skill is in use. */
export type Until = "turn" | "conversation"

/** Returns the skills that restrict the calls of this agent now. */
export const activeUses = (ctx: HookContext, until: Until): ReadonlyArray<Use> => {
  const { turnNumber } = ctx.root
  const now = [...ctx.state.all(ofTree).values()].flat().filter(({ turn }) => until !== "turn" || turn === turnNumber)
  const own = ctx.agent.depth === 0 ? [] : ctx.local.get(inherited(ctx.hook))
  return own.length === 0 ? now : [...now, ...own.filter(({ call }) => now.every((one) => one.call !== call))]
}

/** Ids of calls are unique in a session only. */
const idOf = (ctx: HookContext, call: string): string => `${ctx.sessionId}/${call}`

/** Adds a skill. Returns why it cannot be added. */
export const addUse = (ctx: HookContext, until: Until, use: Omit<Use, "turn">): string | undefined => {
  const { turnNumber: turn } = ctx.root
  const call = idOf(ctx, use.call)
  const active = activeUses(ctx, until)
  if (active.length >= maxUses) return `${maxUses} skills are in use already, and no more can be`
  const others = ctx.state.get(ofTree(ctx.hook)).filter((one) =>
    one.call !== call && (until !== "turn" || one.turn === turn)
  )
  ctx.state.set(ofTree(ctx.hook), [...others, { ...use, call, turn }])
  noteText(ctx, use.call)
  return undefined
}

/** Removes the skill of a call that did not run. */
export const removeUse = (ctx: HookContext, given: string): void => {
  const call = idOf(ctx, given)
  const all = ctx.state.get(ofTree(ctx.hook))
  if (all.some((one) => one.call === call)) ctx.state.set(ofTree(ctx.hook), all.filter((one) => one.call !== call))
}

/** A sub-agent starts with the skills in use. What it does is done for them, however long it works. */
export const inheritUses = (ctx: HookContext, until: Until): void => {
  if (ctx.agent.depth === 0) return
  const active = activeUses(ctx, until)
  if (active.length > 0) ctx.local.set(inherited(ctx.hook), active.slice(0, maxUses))
}

/** Remembers a call whose result is a text of a skill. */
export const noteText = (ctx: HookContext, call: string): void => {
  const { turnNumber: turn } = ctx.root
  const { calls, turn: before } = ctx.state.get(texts(ctx.hook))
  const others = before === turn ? calls.filter((one) => one !== call) : []
  ctx.state.set(texts(ctx.hook), { turn, calls: [...others, call].slice(-maxTexts) })
}

/**
 * Returns the calls whose results the model may read, if agents of the tree have read texts of skills. An agent to
 * which a conversation was transferred has results of other agents, so the ids count without their session.
 */
export const shownTexts = (ctx: HookContext): ReadonlySet<string> | undefined => {
  const read = [...ctx.state.all(texts).values()]
  if (read.every(({ turn }) => turn < 0)) return undefined
  return new Set(read.flatMap(({ calls, turn }) => turn === ctx.root.turnNumber ? calls : []))
}
