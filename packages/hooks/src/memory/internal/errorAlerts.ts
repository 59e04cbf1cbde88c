/**
 * Informs the developer and the model about known failures, and remembers in the session's state which of them it has
 * reported.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import { type Entry, normalizeError } from "./errorEntries.ts"

const State = Schema.Struct({
  turn: Schema.Finite,
  /** The entries that the model has read before a call of this turn. */
  told: Schema.Array(Schema.String),
  alerts: Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.Finite, missed: Schema.Finite })),
  /** The entries whose resolution the model has read but not tried yet. */
  pending: Schema.Array(Schema.String)
})

/** How many entries of each list are remembered. */
const maxRemembered = 128

/** The most entries that the model reads before one call. */
const maxAdvice = 5

/** A class: its methods share the key of the state and the options. */
export class ErrorAlerts {
  private readonly name: string
  private readonly windowMs: number
  private readonly state: HookState.StateKey<typeof State.Type>

  constructor(name: string, windowMs: number) {
    this.name = name
    this.windowMs = windowMs
    this.state = HookState.key(`${name}/state`, State, { turn: 0, told: [], alerts: [], pending: [] })
  }

  hasPending(ctx: HookContext): boolean {
    return this.pending(ctx).length > 0
  }

  pending(ctx: HookContext): ReadonlyArray<string> {
    return ctx.local.get(this.state).pending
  }

  removePending(ids: ReadonlyArray<string>, ctx: HookContext): void {
    if (ids.length === 0) return
    ctx.local.update(this.state, (now) => ({ ...now, pending: now.pending.filter((id) => !ids.includes(id)) }))
  }

  /** Before a call: informs the model about the entries for it, each once in a turn. */
  adviseBefore(
    tool: string,
    entriesFor: (informed: ReadonlyArray<string>) => ReadonlyArray<Entry>,
    ctx: HookContext
  ): void {
    const now = ctx.local.get(this.state)
    const told = now.turn === ctx.turnNumber ? now.told : []
    const entries = entriesFor(told)
    if (entries.length === 0) return
    ctx.local.set(this.state, {
      ...now,
      turn: ctx.turnNumber,
      told: [...told, ...entries.map(({ id }) => id)].slice(-maxRemembered)
    })
    for (const entry of entries.slice(0, maxAdvice)) {
      this.inject(entry.id, `Known trouble with such calls of ${tool}: ${entry.id}. ${advice(entry)}`, ctx)
    }
  }

  /** After a failure: alerts the developer and the model, unless the same failure caused an alert recently. */
  report(entry: Entry, tool: string, error: string, now: number, ctx: HookContext): void {
    const { category, id, occurrences, resolution } = entry
    const { alerts } = ctx.local.get(this.state)
    const last = alerts.find((alert) => alert.id === id)
    const isRecent = last !== undefined && now - last.at < this.windowMs
    const alert = isRecent ? { id, at: last.at, missed: last.missed + 1 } : { id, at: now, missed: 0 }
    const isAdvised = !isRecent && resolution.length > 0
    ctx.local.update(this.state, (before) => ({
      ...before,
      alerts: [...alerts.filter((one) => one !== last), alert].slice(-maxRemembered),
      pending: isAdvised ? [...before.pending.filter((one) => one !== id), id].slice(-maxRemembered) : before.pending
    }))
    if (isRecent) return
    const count = occurrences === 1 ? "the first" : `number ${occurrences}`
    const missed = last === undefined || last.missed === 0 ? "" : ` (${last.missed} more since the last alert)`
    ctx.warn(`${category} failure of ${tool}, ${count}${missed}: ${normalizeError(error)}`)
    ctx.events.emit("error-knowledge", { id, category, tool, occurrences })
    if (isAdvised) this.inject(id, `This failure of ${tool} is known. ${advice(entry)}`, ctx)
  }

  private inject(id: string, text: string, ctx: HookContext): void {
    ctx.inject(text, { key: `${this.name}/${id}`, mode: "overwrite" })
  }
}

const advice = ({ attempts, resolution, successRate }: Entry): string => {
  const steps = resolution.length === 1
    ? resolution[0]
    : resolution.map((step, index) => `${index + 1}. ${step}`).join(" ")
  if (attempts === 0) return `What helps: ${steps}`
  const share = `${Math.round(successRate * 100)} % of ${attempts} attempt${attempts === 1 ? "" : "s"}`
  return `What helps: ${steps} (helped in ${share})`
}
