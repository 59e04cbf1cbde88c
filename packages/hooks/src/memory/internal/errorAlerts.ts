/**
 * Informs the developer and the models about known failures, and remembers which of them it has reported: to the
 * developer in `ctx.state`, because a failure is the same in every agent, and to a model in `ctx.local`, because every
 * agent has its own conversation.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import { type Entry, normalizeError } from "./errorEntries.ts"

/** The alerts of the developer: the last one for each entry, and how often the failure has happened since then. */
const Alerts = Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.Finite, missed: Schema.Finite }))

/** What the model of one agent knows. */
const Advice = Schema.Struct({
  turn: Schema.Finite,
  /** The entries that the model has read before a call of this turn. */
  told: Schema.Array(Schema.String),
  /** When the model has read a resolution after a failure. */
  advised: Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.Finite })),
  /** The entries whose resolution the model has read but not tried yet. */
  pending: Schema.Array(Schema.String)
})

/** How many entries of each list are remembered. */
const maxRemembered = 128

/** The most entries that the model reads before one call. */
const maxAdvice = 5

/** A class: its methods share the keys of the states and the options. */
export class ErrorAlerts {
  private readonly name: string
  private readonly windowMs: number
  private readonly alerts: HookState.StateKey<typeof Alerts.Type>
  private readonly advice: HookState.StateKey<typeof Advice.Type>

  constructor(name: string, windowMs: number) {
    this.name = name
    this.windowMs = windowMs
    this.alerts = HookState.key(`${name}/alerts`, Alerts, [])
    this.advice = HookState.key(`${name}/advice`, Advice, { turn: 0, told: [], advised: [], pending: [] })
  }

  hasPending(ctx: HookContext): boolean {
    return this.pending(ctx).length > 0
  }

  pending(ctx: HookContext): ReadonlyArray<string> {
    return ctx.local.get(this.advice).pending
  }

  removePending(ids: ReadonlyArray<string>, ctx: HookContext): void {
    if (ids.length === 0) return
    ctx.local.update(this.advice, (now) => ({ ...now, pending: now.pending.filter((id) => !ids.includes(id)) }))
  }

  /** Before a call: informs the model about the entries for it, each once in a turn. */
  adviseBefore(
    tool: string,
    entriesFor: (informed: ReadonlyArray<string>) => ReadonlyArray<Entry>,
    ctx: HookContext
  ): void {
    const now = ctx.local.get(this.advice)
    const told = now.turn === ctx.turnNumber ? now.told : []
    const entries = entriesFor(told)
    if (entries.length === 0) return
    ctx.local.set(this.advice, {
      ...now,
      turn: ctx.turnNumber,
      told: [...told, ...entries.map(({ id }) => id)].slice(-maxRemembered)
    })
    for (const entry of entries.slice(0, maxAdvice)) {
      this.inject(entry.id, `Known trouble with such calls of ${tool}: ${entry.id}. ${advice(entry)}`, ctx)
    }
  }

  /** After a failure: alerts the developer and the model, each unless the same failure caused an alert recently. */
  report(entry: Entry, tool: string, error: string, now: number, ctx: HookContext): void {
    this.alertDeveloper(entry, { tool, error, now }, ctx)
    const { id, resolution } = entry
    const { advised } = ctx.local.get(this.advice)
    if (resolution.length === 0 || advised.some((one) => one.id === id && now - one.at < this.windowMs)) return
    ctx.local.update(this.advice, (before) => ({
      ...before,
      advised: [...advised.filter((one) => one.id !== id), { id, at: now }].slice(-maxRemembered),
      pending: [...before.pending.filter((one) => one !== id), id].slice(-maxRemembered)
    }))
    this.inject(id, `This failure of ${tool} is known. ${advice(entry)}`, ctx)
  }

  private alertDeveloper(
    { category, id, occurrences }: Entry,
    { error, now, tool }: { readonly tool: string; readonly error: string; readonly now: number },
    ctx: HookContext
  ): void {
    const alerts = ctx.state.get(this.alerts)
    const last = alerts.find((alert) => alert.id === id)
    const isRecent = last !== undefined && now - last.at < this.windowMs
    const alert = isRecent ? { id, at: last.at, missed: last.missed + 1 } : { id, at: now, missed: 0 }
    ctx.state.set(this.alerts, [...alerts.filter((one) => one !== last), alert].slice(-maxRemembered))
    if (isRecent) return
    const count = occurrences === 1 ? "the first" : `number ${occurrences}`
    const missed = last === undefined || last.missed === 0 ? "" : ` (${last.missed} more since the last alert)`
    ctx.warn(`${category} failure of ${tool}, ${count}${missed}: ${normalizeError(error)}`)
    ctx.events.emit("error-knowledge", { id, category, tool, occurrences })
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
