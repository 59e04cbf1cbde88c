/** What the hook does with results: it labels them, and settles what was asked. */
import type { Eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { canonical as canonicalJson, type Json } from "@belay/core/Json"
import type { OnToolDeniedEvent, PostToolCallEvent, PreToolCallEvent } from "@belay/core/Tool"
import type { Checks, Grounded, Problem } from "./check/check.ts"
import type { Checkable } from "./check/classOfLeaf.ts"
import type { Configuration } from "./configure.ts"
import { label, taint } from "./label/label.ts"
import { type Checked, type Memory, memoryOf } from "./memory.ts"
import type { AboutCall } from "./question.ts"
import { forgetAct, isEmpty } from "./repeat.ts"
import { add, setOf } from "./text/hashes.ts"

/** What decides about calls of one kind of tools in place of their arguments, such as commands of a shell. */
export type Special = (
  memory: Memory,
  event: PreToolCallEvent,
  call: Checkable,
  ctx: HookContext
) => Checks | undefined

/** What the hook works with. */
export interface Setup {
  readonly configuration: Configuration
  readonly ungrounded: "ask" | "deny"
  readonly secrets: "ask" | "deny"
  readonly links: "ask" | "verbatim"
  readonly plan?:
    | ((turn: { readonly message: string; readonly tools: HookContext["tools"] }, ctx: HookContext) => Eventual<
      ReadonlyArray<string>
    >)
    | undefined
  readonly special?: Special
  /** Whether the calls of a tool are checked. The results of all tools are labelled. */
  readonly isChecked: (tool: string) => boolean
  readonly about: AboutCall
  /** Remembers what a call was about. */
  readonly noteCall: (callId: string, args: Json) => void
  /** Answers questions in this process. */
  readonly answer?: (call: PreToolCallEvent, ctx: HookContext) => HookAction.Ask["answer"]
}

export const isDelegate = (tools: HookContext["tools"], name: string): boolean =>
  tools.some((one) => one.name === name && one.delegates)

export const keyOf = ({ sessionId }: HookContext, id: string): string => `${sessionId}/${id}`

const maxChecks = 100

const maxArgument = 100

/** Remembers what was checked, for `explain`. */
export const remember = (
  memory: Memory,
  { id, name }: PreToolCallEvent,
  { stepNumber, turnNumber }: HookContext,
  problems: ReadonlyArray<Problem>,
  grounded: ReadonlyArray<Grounded>
): void => {
  if (problems.length + grounded.length === 0) return
  const about = { callId: id, tool: name, turn: turnNumber, step: stepNumber }
  const found: ReadonlyArray<Checked> = [
    ...grounded.map(({ argument, grounded: why }) => ({
      ...about,
      argument: argument.slice(0, maxArgument),
      grounded: why
    })),
    ...problems.map(({ argument, source }) => ({
      ...about,
      argument: argument.slice(0, maxArgument),
      ...(source === undefined ? {} : { source: `${source.field} of ${source.tool}, step ${source.step}` })
    }))
  ]
  const added = found.slice(0, maxChecks)
  const before = memory.get("checks")
  const checks: Array<Checked> = []
  // The list is frozen, for which an index is faster than a copy.
  for (let index = Math.max(0, before.length + added.length - maxChecks); index < before.length; index++) {
    checks.push(before[index]!)
  }
  checks.push(...added)
  memory.set("checks", checks)
}

export const afterCall = (
  { configuration: { kindOf }, noteCall }: Setup,
  { approval, call: { args, id, name }, executed, result, tool }: PostToolCallEvent,
  ctx: HookContext
): undefined => {
  const memory = memoryOf(ctx)
  settle(memory, () => keyOf(ctx, id), executed ? "approved" : "dropped", args, approval?.remember === "field")
  const about = { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: ctx.stepNumber }
  const delegates = isDelegate(ctx.tools, name)
  // What a sub-agent has read has tainted the tree already; its answer has no other source.
  if (!executed || !result.ok) forgetAct(memory, () => keyOf(ctx, id))
  if (delegates && executed) memory.set("results", memory.get("results") + 1)
  else if (result.ok) {
    noteCall(id, args)
    label(memory, { tool: name, callId: id, kind: kindOf(tool), args, output: result.output, ...about })
  } else {
    memory.set("results", memory.get("results") + 1)
    if (executed) taint(memory, about)
  }
}

/** Ends an open question. A call that ran after its question was approved, and so were the values of the question. */
const settle = (
  memory: Memory,
  keyOfCall: () => string,
  how: "approved" | "refused" | "dropped",
  args?: Json,
  withFields = false
): void => {
  const open = memory.get("open")
  if (isEmpty(open)) return
  const key = keyOfCall()
  if (!Object.hasOwn(open, key)) return
  const { [key]: asked, ...others } = open
  if (asked === undefined) return
  memory.set("open", others)
  if (how === "refused") memory.set("refused", add(memory.get("refused"), setOf(asked.refusals)))
  if (how !== "approved" || args === undefined || memory.hash(canonicalJson(args)) !== asked.args) return
  const approved = withFields ? asked.values + asked.fields : asked.values
  memory.set("approved", add(memory.get("approved"), setOf(approved)))
  const plan = memory.get("plan")
  if (asked.plan !== undefined && plan !== null) memory.set("plan", [...new Set([...plan, asked.plan])])
}

export const afterDenial = ({ by, call: { id } }: OnToolDeniedEvent, ctx: HookContext): undefined => {
  const memory = memoryOf(ctx)
  memory.set("results", memory.get("results") + 1)
  forgetAct(memory, () => keyOf(ctx, id))
  settle(memory, () => keyOf(ctx, id), by === "person" || by === ctx.hook ? "refused" : "dropped")
}
