/** What the hook does at each point. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { canonical as canonicalJson, type Json } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import { type Message, text as textOf } from "@belay/core/Message"
import type { OnToolDeniedEvent, PostToolCallEvent, PreToolCallEvent, ToolMeta } from "@belay/core/Tool"
import type { TurnInput } from "@belay/core/Turn"
import * as Effect from "effect/Effect"
import { isAskedFor, isUnsaidAct } from "./act.ts"
import { forgetAway, isAwayAskedFor } from "./away.ts"
import {
  approvalOf,
  check,
  type Checkable,
  type Checks,
  fieldOf,
  type Grounded,
  type Problem,
  readsAddress,
  vouchForEarly
} from "./check.ts"
import type { Configuration } from "./configure.ts"
import { label, taint } from "./label.ts"
import { type Checked, type Memory, memoryOf } from "./memory.ts"
import { hear, isHeard, maxMessage, withoutQuotes } from "./person.ts"
import type { Planner } from "./plan.ts"
import { type AboutCall, detailsOf, feedbackOf, questionOf } from "./question.ts"
import { forgetAct, isEmpty, repeats } from "./repeat.ts"
import { decisiveIn } from "./text/decisive.ts"
import { add, has, setOf } from "./text/hashes.ts"
import { leavesOf } from "./text/leaves.ts"
import { isTold } from "./told.ts"
import { kindOfCall } from "./toolKind.ts"

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
  readonly planner?: Planner | undefined
  readonly special?: Special
  /** Whether the calls of a tool are checked. The results of all tools are labelled. */
  readonly isChecked: (tool: string) => boolean
  readonly about: AboutCall
  /** Remembers what a call was about. */
  readonly noteCall: (callId: string, args: Json) => void
  /** Answers questions in this process. */
  readonly answer?: (call: PreToolCallEvent, ctx: HookContext) => HookAction.Ask["answer"]
}

/** Makes the methods of the hook. */
export const flowHook = (setup: Setup): Omit<AgentHook, "name"> => {
  // What was said before later hooks changed it, by session. It is needed until the model is asked.
  const said = new Map<string, string>()
  const clean: Clean = new WeakMap()
  return {
    priority: 4,
    kind: "policy",
    // It refuses neither. Where a driver shows no requests, everything counts as read.
    observes: ["preLlmCall", "postCompaction"],
    reinvoke: "ifChanged",
    onSessionStart: (_event, ctx) => start(setup, ctx),
    preTurn: (turn, ctx) => {
      if (!ctx.askedAgain) {
        // A driver that shows no requests leaves them.
        const [oldest] = said.keys()
        if (oldest !== undefined && said.size >= 1_000) said.delete(oldest)
        said.set(ctx.sessionId, turn.message)
      }
      return beforeTurn(setup, turn, ctx, said.get(ctx.sessionId))
    },
    preLlmCall: (request, ctx) => {
      said.delete(ctx.sessionId)
      beforeModel(setup, request, ctx, clean)
      return setup.planner?.go(request.tools, ctx)
    },
    preToolCall: (call, ctx) => {
      const planning = setup.planner?.go(ctx.tools, ctx)
      return planning === undefined
        ? beforeCall(setup, call, ctx)
        : Effect.map(planning, () => beforeCall(setup, call, ctx))
    },
    postToolCall: (event, ctx) => afterCall(setup, event, ctx),
    onToolDenied: (event, ctx) => afterDenial(event, ctx),
    // A summary can have anything in it.
    postCompaction: (_end, ctx) => taint(memoryOf(ctx), { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: 0 })
  }
}

/**
 * The last messages of requests that had nothing untrusted, so that each message is looked at once: the key of the
 * conversation, the place of the message, and the results up to it.
 */
type Clean = WeakMap<Message, { readonly key: string; readonly index: number; readonly results: number }>

const start = ({ configuration }: Setup, ctx: HookContext): HookAction.Reject | undefined => {
  if (ctx.agent.depth > 0) return undefined
  // A sub-agent may have the tool that the agent itself does not have.
  const why = ctx.tools.some(({ delegates }) => delegates) ? undefined : configuration.whyUnknown(ctx.tools)
  if (why === undefined) return undefined
  if (ctx.coreType === "tool-loop") return HookAction.reject(why)
  // Other drivers do not know all their tools, and some know none before their first request.
  if (ctx.tools.length > 0) ctx.warn(why)
  return undefined
}

const beforeTurn = (
  { planner }: Setup,
  { attachments, message: given, part, steer }: TurnInput,
  ctx: HookContext,
  original: string | undefined
): Effect.Effect<undefined, unknown> | undefined => {
  const memory = memoryOf(ctx)
  if (ctx.agent.depth > 0) {
    // What an agent says to its sub-agent is the model's text. Without this hook, nobody knows what it has read.
    if (memory.get("heard") === "") taint(memory, { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: 0 })
    return undefined
  }
  // Of what a client sends, only the message itself is known to be the person's. Results are labelled where they
  // arrive.
  if (part !== undefined) {
    if (part === "before") taint(memory, { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: 0 })
    return undefined
  }
  if (steer !== true) {
    for (const key of ["approved", "refused"] as const) memory.set(key, "")
    memory.set("open", {})
    memory.set("done", {})
    forgetAway(memory)
  }
  // What a hook put around the words of the person, such as documents, is not theirs.
  const isWrapped = original !== undefined && original !== "" && given !== original && given.includes(original)
  const message = isWrapped ? original : given
  hear(memory, message)
  const isForeign = isWrapped || attachments !== undefined || message.length > maxMessage ||
    withoutQuotes(message) !== message
  if (isForeign) taint(memory, { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: 0 })
  return planner?.begin({ message, steer: steer === true }, ctx)
}

/** Notices what no other point has shown: texts of hooks, memories, and results from before this hook was there. */
const beforeModel = (
  { configuration: { labelOfText, whyUnknown } }: Setup,
  request: LlmRequest,
  ctx: HookContext,
  clean: Clean
): undefined => {
  const isFirst = ctx.agent.depth === 0 && ctx.turnNumber <= 1 && ctx.stepNumber === 1
  if (isFirst && ctx.tools.length === 0 && request.tools.length > 0) {
    const why = whyUnknown(request.tools)
    // Another agent of the driver may have the tool.
    if (why !== undefined) ctx.warn(why)
  }
  const memory = memoryOf(ctx)
  if (memory.get("tainted") !== "") return
  const { messages, parameters } = request
  const key = memory.get("key")
  const trustsHistory = ctx.agent.depth > 0 || labelOfText("memory").includes("trusted")
  let results = 0
  // What a foreign agent reads by itself is not seen.
  let isForeign = ctx.coreType === "acp" || parameters.hostedTools?.some(({ type }) => type !== "tool-search") === true
  for (let index = messages.length - 1; index >= 0 && !isForeign; index--) {
    const message = messages[index]!
    const known = clean.get(message)
    if (known?.index === index && known.key === key) {
      results += known.results
      break
    }
    if (message.role === "tool") results++
    else if (message.role === "user") {
      isForeign = message.source === undefined
        ? !trustsHistory && !isHeard(memory, textOf(message))
        : !labelOfText(`hook:${message.source}`).includes("trusted")
    }
  }
  if (isForeign || results > memory.get("results")) {
    // It is read with this call.
    taint(memory, { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: ctx.stepNumber - 1 })
  } else if (messages.length > 0) clean.set(messages.at(-1)!, { key, index: messages.length - 1, results })
}

/** Whether the model that makes this call may have read anything untrusted. */
const isTainted = (memory: Memory, { sessionId, stepNumber, turnNumber }: HookContext): boolean => {
  // A driver that shows no requests to its guard has no steps. Nobody knows what its model has read.
  if (stepNumber === 0) return true
  const tainted = memory.get("tainted")
  if (tainted === "") return false
  const [turn, step, ...session] = tainted.split(" ")
  // The calls of one step were all asked for before the first of them had a result.
  return !(session.join(" ") === sessionId && Number(turn) === turnNumber && Number(step) >= stepNumber)
}

const beforeCall = (
  setup: Setup,
  event: PreToolCallEvent,
  ctx: HookContext
): HookAction.Reject | HookAction.Ask | undefined => {
  const { args, id, name, tool } = event
  const { configuration: { kindOf, rankOf }, links, secrets, ungrounded } = setup
  const leaves = leavesOf(args)
  const { acts, destroys, kind, reachesOut } = kindOfCall(kindOf(tool), leaves)
  const { tools } = ctx
  if (kind === "local" || !setup.isChecked(name) || isDelegate(tools, name)) return undefined
  const memory = memoryOf(ctx)
  const call: Checkable = {
    tool: name,
    args,
    leaves,
    schema: tool.inputSchema,
    kind,
    ranks: rankOf,
    links,
    cwd: ctx.cwd
  }
  const isRepeated = repeats(memory, call, () => keyOf(ctx, id))
  if (!isTainted(memory, ctx) && !isTold(memory, call, tools, (one) => isOfServer(setup, one))) {
    vouchForEarly(memory, call)
    return undefined
  }
  // The schema does not always name the address that a tool reads. A search of the web takes secrets out too.
  if (kind === "source" && !readsAddress(call) && !(reachesOut && memory.get("secrets") !== "")) return undefined
  const { grounded, isMeant, problems } = setup.special?.(memory, event, call, ctx) ?? check(memory, call)
  const plan = setup.planner === undefined ? null : memory.get("plan")
  // Nobody destroys what the person only wants to read or to change. Where no value says that the person meant the act,
  // its name has to.
  const isUnasked = !has(memory.get("approved"), memory.hash(`act:${name}`)) &&
    (destroys
      ? !isAwayAskedFor(memory, name)
      : kind === "sink" && problems.length === 0 &&
        ((acts && !isMeant && !isAskedFor(memory, name)) || isUnsaidAct(memory, name)))
  const outsidePlan = isUnasked || isRepeated || (plan !== null && kind === "sink" && !plan.includes(name))
  remember(memory, event, ctx, problems, grounded)
  if (problems.length === 0 && !outsidePlan) return undefined
  const refused = memory.get("refused")
  const refusedAct = memory.hash(`refused act:${name}`)
  if (outsidePlan && has(refused, refusedAct)) {
    return HookAction.reject(`${name} was not run: the person has refused it. Continue without it.`)
  }
  const again = problems.filter((one) => has(refused, refusalOf(memory, name, one)))
  if (again.length > 0) {
    const values = again.map(({ argument, value }) => `${argument} ${JSON.stringify(value)}`).join(", ")
    return HookAction.reject(`${name} was not run: the person has refused ${values}. Continue without it.`)
  }
  if (problems.length > maxProblems) {
    return HookAction.reject(`${name} was not run: the user named none of ${problems.length} of its values. Use fewer.`)
  }
  const isSecret = problems.some(({ problem }) => problem === "secret")
  const denies = (isSecret && secrets === "deny") ||
    ((outsidePlan || problems.some(({ problem }) => problem === "ungrounded")) && ungrounded === "deny")
  const wrong = { tool: name, problems, isUnasked: outsidePlan && !isRepeated, isRepeated, about: setup.about }
  if (denies) return HookAction.reject(feedbackOf(wrong))
  memory.set("open", {
    ...memory.get("open"),
    [keyOf(ctx, id)]: {
      tool: name,
      args: memory.hash(canonicalJson(args)),
      values: problems.map(({ class: one, problem, value }) =>
        memory.hash(approvalOf(problem === "secret" ? "secret" : one, value))
      ).join("") + (isUnasked ? memory.hash(`act:${name}`) : ""),
      refusals: problems.map((one) =>
        refusalOf(memory, name, one)
      ).join("") +
        (outsidePlan && problems.length === 0 ? refusedAct : ""),
      // A text as a whole is not a field: anything can stand in it.
      fields: problems.map(({ class: kind, problem, source }) =>
        source === undefined || source.field === "" || source.inText === true || problem === "secret"
          ? ""
          : memory.hash(fieldOf(kind, source))
      ).join(""),
      ...(outsidePlan ? { plan: name } : {})
    }
  })
  const answer = setup.answer?.(event, ctx)
  return HookAction.ask(
    questionOf(wrong),
    detailsOf(wrong),
    answer === undefined ? {} : { answer, standing: "none" }
  )
}

const isDelegate = (tools: HookContext["tools"], name: string): boolean =>
  tools.some((one) => one.name === name && one.delegates)

/** Whether somebody else wrote what the tool says about itself. */
const isOfServer = ({ configuration: { kindOf } }: Setup, tool: ToolMeta): boolean =>
  tool.name.startsWith("mcp__") && kindOf(tool).integrity !== "trusted"

const keyOf = ({ sessionId }: HookContext, id: string): string => `${sessionId}/${id}`

/** A refused value stays refused wherever the tool takes a value of its kind: `cc` after `to`. */
const refusalOf = (memory: Memory, tool: string, { class: kind, problem, value }: Problem): string =>
  memory.hash(`${tool} ${approvalOf(problem === "secret" ? "secret" : kind, value)}`)

const maxChecks = 100
const maxArgument = 100

/** A person cannot judge more values at once. */
const maxProblems = 200

/** Remembers what was checked, for `explain`. */
const remember = (
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

const afterCall = (
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

const afterDenial = ({ by, call: { args, id }, reason }: OnToolDeniedEvent, ctx: HookContext): undefined => {
  const memory = memoryOf(ctx)
  memory.set("results", memory.get("results") + 1)
  // The reason of another hook may be what a program wrote.
  if (by !== "person" && decisiveIn(reason).some((one) => !decisiveIn(JSON.stringify(args)).includes(one))) {
    taint(memory, { sessionId: ctx.sessionId, turn: ctx.turnNumber, step: ctx.stepNumber })
  }
  forgetAct(memory, () => keyOf(ctx, id))
  settle(memory, () => keyOf(ctx, id), by === "person" || by === ctx.hook ? "refused" : "dropped")
}
