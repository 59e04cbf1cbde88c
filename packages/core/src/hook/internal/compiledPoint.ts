/** A compiled point: its hooks in running order, with all data that a run needs. */
import * as Duration from "effect/Duration"
import { matcher } from "../../data/text/NamePattern.ts"
import type { AgentHook, FailurePolicy } from "../AgentHook.ts"
import type { HookContext } from "../HookContext.ts"
import { type HookPointName, type Row, table } from "../HookPoint.ts"
import type { FailureKind } from "../HookRecord.ts"

/** One hook at one point. */
export interface Entry {
  readonly hook: AgentHook<never>
  readonly name: string
  /** The index of the hook's context in the scope. */
  readonly slot: number
  readonly call: (event: unknown, ctx: HookContext) => unknown
  /** Whether the hook runs for this tool. Absent if it runs for all tools. */
  readonly wants?: (tool: string) => boolean
  readonly shadow: boolean
  /** Whether the hook sees the value even if an earlier hook has replaced it or answered for the operation. */
  readonly isPolicy: boolean
  /** Whether the hook must see the final value. */
  readonly gate: boolean
  /** Whether the writes of the gate can be taken back when it is asked again. */
  readonly tracked: boolean
  /** Whether the changes of the gate are made again when it is asked again. */
  readonly reapplies: boolean
  readonly confidential: boolean
  readonly observer: boolean
  /** Infinity if there is no timeout. */
  readonly timeoutMs: number
  readonly onFailure: FailurePolicy
  readonly onTimeout: FailurePolicy
}

/** One point. */
export interface CompiledPoint {
  readonly point: HookPointName
  readonly row: Row
  readonly deciders: ReadonlyArray<Entry>
  readonly observers: ReadonlyArray<Entry>
  readonly hasGates: boolean
  /** Whether the plain loop can run the point: it has no shadow hook or tool filter. */
  readonly plain: boolean
  readonly legal: { readonly [tag: string]: boolean }
  readonly apply: ((event: unknown, value: unknown) => unknown) | undefined
  readonly wrong: ((value: unknown, event: unknown) => string | undefined) | undefined
  readonly tightens: ((value: unknown, event: unknown) => boolean) | undefined
}

/** Compiles a point from hooks in forward order. Returns nothing if no hook implements the point. */
export const compile = (point: HookPointName, hooks: ReadonlyArray<AgentHook<never>>): CompiledPoint | undefined => {
  const row: Row = table[point]
  const entries = hooks.flatMap((hook, slot) => hook[point] === undefined ? [] : [entryOf(hook, slot, point)])
  if (entries.length === 0) return undefined
  // Confidential hooks run first on data from a model or a tool, so that other hooks receive it with their changes.
  if (row.order === "reverse") entries.reverse().sort((a, b) => Number(b.confidential) - Number(a.confidential))
  const deciders = entries.filter(({ observer }) => !observer)
  const observers = entries.filter(({ observer }) => observer)
  const hasGates = deciders.some(({ gate }) => gate)
  return {
    point,
    row,
    deciders,
    observers,
    hasGates,
    plain: entries.every(({ shadow, wants }) => !shadow && wants === undefined),
    legal: Object.fromEntries([["Continue", true], ...row.legal.map((tag) => [tag, true] as const)]),
    apply: row.field === undefined ? undefined : apply(row.field, point === "preToolCall"),
    // Each check is called only with the value of its own point.
    wrong: row.wrong as CompiledPoint["wrong"],
    tightens: row.tightens as CompiledPoint["tightens"]
  }
}

/** Whether a hook is an observer at this point. */
const observes = (hook: AgentHook<never>, point: HookPointName): boolean =>
  hook.kind === "observer" || hook.observes?.includes(point) === true

/** A tool call is replaced by a tool call. Only its arguments count. */
const apply = (field: string, ofCall: boolean): NonNullable<CompiledPoint["apply"]> =>
  ofCall
    ? (event, value) => ({ ...(event as object), args: (value as { readonly args: unknown }).args })
    : (event, value) => ({ ...(event as object), [field]: value })

const entryOf = (hook: AgentHook<never>, slot: number, point: HookPointName): Entry => {
  const onFailure = hook.onFailure ?? ((hook.failOpen ?? hook.kind !== "policy") ? "open" : "reject")
  const isForAll = hook.tools === undefined || hook.tools === "*" || !toolPoints.has(point)
  const wants = isForAll ? undefined : matcher(hook.tools)
  const gate = (hook.reinvoke ?? "never") !== "never" && hook.mode !== "shadow" && !observes(hook, point)
  return {
    hook,
    name: hook.name,
    slot,
    // The method is called only with the event of its own point.
    call: (hook[point] as Entry["call"]).bind(hook),
    shadow: hook.mode === "shadow",
    isPolicy: hook.kind === "policy",
    observer: observes(hook, point),
    confidential: hook.confidential === true,
    gate,
    // A hook whose changes are made again keeps what it has written for them.
    tracked: gate && hook.reinvoke !== "reapply",
    reapplies: hook.reinvoke === "reapply",
    timeoutMs: hook.timeout === "none"
      ? Infinity
      : hook.timeout === undefined
      ? 30_000
      : Duration.toMillis(hook.timeout),
    onFailure,
    onTimeout: hook.onTimeout ?? onFailure,
    ...(wants === undefined ? {} : { wants })
  }
}

const toolPoints: ReadonlySet<HookPointName> = new Set(["preToolCall", "postToolCall", "onPermission", "onToolDenied"])

/**
 * Returns what happens when the hook fails: the option of the hook if the point allows it; otherwise the failure is
 * only reported.
 */
export const policyOf = ({ legal }: CompiledPoint, entry: Entry, kind: FailureKind): FailurePolicy => {
  const wanted = kind === "timeout" ? entry.onTimeout : entry.onFailure
  if (entry.shadow || entry.observer || wanted === "open") return "open"
  if (wanted === "abort" && legal.Abort === true) return "abort"
  return legal.Reject === true ? "reject" : "open"
}

/** Whether a hook runs for this tool. */
export const isForTool = ({ wants }: Entry, tool: string | undefined): boolean =>
  wants === undefined || wants(tool ?? "")

/** The tool an event is about, at the tool points. */
export const toolOf = (event: unknown): string | undefined => {
  if (typeof event !== "object" || event === null) return undefined
  if ("name" in event && typeof event.name === "string") return event.name
  if ("call" in event && typeof event.call === "object" && event.call !== null && "name" in event.call) {
    return String(event.call.name)
  }
  return undefined
}

/** Returns the id of the tool call that an event is about. */
export const callIdOf = (event: unknown): string | undefined => {
  if (typeof event !== "object" || event === null) return undefined
  const call: unknown = "call" in event ? event.call : "args" in event ? event : undefined
  return typeof call === "object" && call !== null && "id" in call && typeof call.id === "string" ? call.id : undefined
}

/** What an event is about, for its record. */
export const subjectOf = (
  event: unknown
): { readonly subject: string | undefined; readonly callId: string | undefined } => ({
  subject: toolOf(event),
  callId: callIdOf(event)
})
