/** What the guard says about an occasion, and how a system reads it. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Template, Wire, WireEvent } from "@belay/hook-files/Wires"
import { isFields } from "../../fields.ts"

/** What the guard says. Without any of these, the system goes on. */
export interface Said {
  /** Why it must not happen. */
  readonly deny?: string
  /** Why a person has to decide. */
  readonly ask?: string
  /** The arguments with which the call may run, as the system writes them. */
  readonly change?: Json
  /** What takes the place of a result. */
  readonly result?: Json
  /** What the model reads. */
  readonly context?: string
  /** Why the turn ends. */
  readonly stop?: string
  /** With which message the agent goes on in place of stopping. */
  readonly again?: string
}

/** What the command prints. Exit code 2 refuses, with standard error as the reason. */
export interface Output {
  readonly code: 0 | 2
  readonly stdout: string
  readonly stderr: string
}

/** The output that lets everything go on. Cursor takes an empty output for a failure. */
const nothing: Output = { code: 0, stdout: "{}", stderr: "" }

/** Refuses. Every system documents this answer. */
export const refused = (reason: string): Output => ({ code: 2, stdout: "", stderr: reasonOf(reason) })

/** Codex lets a call run, and shows a result, if there is no reason. */
const reasonOf = (reason: string): string => textOr(reason, "the guard gave no reason")

const textOr = (text: string, instead: string): string => text.trim() === "" ? instead : text

/**
 * Returns what is printed. An answer that the system does not have becomes the nearest one that is at least as strict.
 */
export const outputOf = (wire: Wire, event: string, said: Said): Output => {
  const row = wire.events[event]!
  const { change, stop } = said
  if (stop !== undefined && row.stop !== undefined) return written(row.stop, event, stop, stop)
  const deny = said.deny ?? stop ?? askedInstead(wire, row, said) ?? changedInstead(wire, row, said)
  if (deny !== undefined) {
    const template = row.deny ?? (said.result === undefined ? undefined : row.result)
    return template === undefined ? refused(deny) : written(template, event, deny, deny, contextOf(row, event, said))
  }
  if (said.again !== undefined) {
    return row.again === undefined ? nothing : written(row.again, event, said.again, said.again)
  }
  const more = contextOf(row, event, said)
  if (said.ask !== undefined) {
    const changed = change === undefined ? {} : filled(row.change as JsonObject, event, "", change)
    return written(row.ask!, event, said.ask, said.ask, merged(changed, more ?? {}))
  }
  if (said.result !== undefined) {
    const text = textOf(said.result)
    // Where the result cannot be replaced, the model at least reads what the hooks have made of it.
    return row.result === undefined ? refused(text) : written(row.result, event, text, said.result, more)
  }
  if (change !== undefined) return written(row.change!, event, "", change, more)
  if (said.context !== undefined && row.context === "exit") return refused(said.context)
  return more === undefined ? nothing : { ...nothing, stdout: JSON.stringify(more) }
}

const askedInstead = (wire: Wire, row: WireEvent, { ask }: Said): string | undefined =>
  ask === undefined || row.ask !== undefined
    ? undefined
    : `${ask} (${wire.name} cannot ask you here, so it was not run)`

const changedInstead = (wire: Wire, row: WireEvent, { ask, change }: Said): string | undefined =>
  change === undefined || (row.change !== undefined && (ask === undefined || row.asksAboutChange === true))
    ? undefined
    : `a hook changed the arguments, which ${wire.name} cannot pass on here. Make this call: ${JSON.stringify(change)}`

const contextOf = ({ context }: WireEvent, event: string, said: Said): JsonObject | undefined =>
  said.context === undefined || context === undefined || context === "exit"
    ? undefined
    : filled(context, event, said.context, said.context)

const written = (template: Template, event: string, reason: string, value: Json, more: JsonObject = {}): Output =>
  template === "exit"
    ? refused(reason)
    : { ...nothing, stdout: JSON.stringify(merged(filled(template, event, reason, value), more)) }

/** Replaces the placeholders of a template. */
const filled = (template: JsonObject, event: string, reason: string, value: Json): JsonObject => {
  const fill = (one: Json): Json => {
    if (one === "$reason") return reasonOf(reason)
    if (one === "$value") return value
    if (one === "$text") return textOf(value)
    if (one === "$event") return event
    if (typeof one !== "object" || one === null) return one
    if (Array.isArray(one)) return one.map((part: Json) => fill(part))
    const entries = Object.entries(one).map(([key, part]): readonly [string, Json] => {
      // A result that takes the place of another one can be empty, but not where it is a reason.
      const isReason = key === "reason" && part === "$text"
      return [key, isReason ? textOr(textOf(value), "the result is empty") : fill(part)]
    })
    return Object.fromEntries(entries)
  }
  // An object is filled to an object.
  return fill(template) as JsonObject
}

/** The parts of two answers. Both may have a part of the same name. */
const merged = (one: JsonObject, other: JsonObject): JsonObject => {
  const both = Object.entries(other).map(([key, value]) => {
    const before = one[key]
    return [key, isFields(before) && isFields(value) ? { ...value, ...before } : before ?? value]
  })
  return { ...one, ...Object.fromEntries(both) }
}

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)
