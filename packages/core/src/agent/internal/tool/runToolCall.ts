/**
 * Run the tools of a step: policy, pre hooks, policy again if they changed anything, the act, post hooks. One result a
 * call, in the order of the calls.
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import {
  type ExecutionGrant,
  failure,
  type PostToolCallEvent,
  type PreToolCallEvent,
  success,
  type ToolMeta,
  type ToolResult,
  unrestricted
} from "../../../data/Tool.ts"
import { fingerprint, type Outcome } from "../../../hook/HookChain.ts"
import type { PostStepEvent } from "../../../hook/HookPoint.ts"
import type { Decoded } from "../../../port/ToolDispatcher.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { limited } from "../model/callModel.ts"
import { used } from "../session/compact.ts"
import { load } from "../session/rotate.ts"
import { delegated, resumed } from "../subagent/delegate.ts"
import type { Turn, Work } from "../turn/turn.ts"
import { ended, isEnded } from "../turn/turnEnd.ts"
import { isRevealed, wrap } from "../turn/wrapAct.ts"
import { allowed, ask, everyHook, isSettled, remember } from "./askPerson.ts"
import { About } from "./dispatchContext.ts"
import { isNow } from "./toolDispatcher.ts"

type Failure = AgentError | TurnEnded

/** Runs what is not done of the open step; then the step joins the conversation, or the turn is suspended. */
export const runTools = function*(turn: Turn): Effect.fn.Return<CoreOutput | undefined, Failure> {
  const { dispatcher, limits } = turn.host
  const all = turn.calls.filter(({ status }) => status !== "done" && status !== "asked")
  const room = limits.toolCalls - turn.used.toolCalls
  const left = all.length > room ? all.slice(0, room) : all
  turn.used.toolCalls += left.length
  for (const { status } of left) if (status === "planned") turn.toolCalls++
  if (left.length === 1) {
    const work = left[0]!
    const event = plain(turn, work)
    if (event === undefined) yield* runOne(turn, work)
    else {
      const pre = turn.host.chain.has("preToolCall")
        ? turn.host.chain.fold("preToolCall", event, turn, decodeFor(turn, event.tool))
        : undefined
      if (pre === undefined) {
        work.status = "started"
        const began = performance.now()
        const result = yield* dispatcher.dispatch(event, event.grant, new About(turn, event.id, limits.toolMs))
        const post = finishing(turn, event, result, performance.now() - began, true)
        work.result = load(turn, event.id, post === undefined ? result : yield* concluded(turn, event, result, post))
        work.status = "done"
      } else yield* keepResult(turn, work, judged(turn, work, event, event.args, pre))
    }
  } else {
    const alone = dispatcher.exclusive !== undefined && left.some(({ call }) => dispatcher.exclusive!(call.name))
    yield* Effect.forEach(left, (work) => Effect.gen(() => runOne(turn, work)), {
      concurrency: alone ? 1 : "unbounded",
      discard: true
    })
  }
  if (turn.calls.some(({ status }) => status === "asked")) {
    if (turn.root.host.config.store !== undefined) yield* turn.save()
    return yield* ended({ type: "suspended" })
  }
  if (left.length < all.length) return yield* limited(turn, "toolCalls", turn.used.toolCalls, limits.toolCalls)
  const over = turn.calls.find(({ takenOver }) => takenOver !== undefined)?.takenOver
  turn.closeStep("not run")
  if (over !== undefined) turn.messages.push({ role: "assistant", content: over })
  if (turn.host.chain.has("postStep")) yield* postStep(turn)
  return over === undefined ? undefined : { text: over, finishReason: "stop" }
}

/** A hook may look at the step, rewrite the history (when it stays valid), or end the turn. */
export const postStep = function*(turn: Turn): Effect.fn.Return<void, Failure> {
  const folded = turn.fold("postStep", standing(turn))
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.by === undefined) return
  if (outcome.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by })
  }
  turn.rewrite(outcome.event.messages, outcome.by)
}

/** The conversation as it stands, for whoever may rewrite it. */
export const standing = (turn: Turn): PostStepEvent => ({
  messages: turn.messages.slice(),
  usage: turn.usage,
  budget: { usedTokens: used(turn), windowTokens: turn.host.config.window?.tokens ?? 0 }
})

/**
 * A call about which nothing is special: known tool, fitting arguments, no policy, nobody who listens or keeps the
 * state.
 */
const plain = (turn: Turn, { call, status }: Work): PreToolCallEvent | undefined => {
  const { delegates, dispatcher, policy, tools, toolWrappers } = turn.host
  if (status !== "planned" || call.malformed !== undefined || policy !== undefined) return undefined
  if (
    turn.root.host.config.store !== undefined || toolWrappers.length > 0 || turn.listened || delegates.has(call.name)
  ) return undefined
  const tool = tools.get(call.name)
  if (tool === undefined) return undefined
  const decoded = dispatcher.decode(tool, call.args)
  return isNow(decoded) && decoded.ok ? { ...call, args: decoded.args, tool, grant: unrestricted } : undefined
}

const runOne = (turn: Turn, work: Work): Effect.fn.Return<void, Failure> => keepResult(turn, work, resultOf(turn, work))

const keepResult = function*(
  turn: Turn,
  work: Work,
  coming: Effect.fn.Return<ToolResult | undefined, Failure>
): Effect.fn.Return<void, Failure> {
  const result = yield* coming
  if (result === undefined) return
  work.result = load(turn, work.call.id, result)
  work.status = "done"
  if (turn.session.root.hasDurable) turn.lent.durable.endCall(work.call.id)
  if (turn.root.host.config.store !== undefined) yield* turn.save()
}

/** Runs one tool for a hook; nothing when a person would have to decide. */
export const sideTool = function*(side: Turn, call: ToolCall): Effect.fn.Return<ToolResult | undefined, Failure> {
  return yield* resultOf(side, { call, status: "planned" })
}

/** The call's result, or nothing when a person has to decide first. */
const resultOf = function*(turn: Turn, work: Work): Effect.fn.Return<ToolResult | undefined, Failure> {
  const { call } = work
  const tool = turn.host.tools.get(call.name)
  if (tool === undefined) {
    return failure(`unknown tool "${call.name}": the tools are ${[...turn.host.tools.keys()].join(", ") || "none"}`)
  }
  if (work.status === "decided" && work.decision?.type === "deny") {
    return yield* denied(turn, work, "person", work.decision.reason)
  }
  const delegate = turn.host.delegates.get(call.name)
  if (delegate !== undefined && (work.sub !== undefined || work.child !== undefined)) {
    const event = { ...call, args: work.ask?.args ?? call.args, tool, grant: unrestricted }
    const began = performance.now()
    const result = yield* resumed(turn, work, event, delegate)
    return result === undefined ? undefined : yield* finished(turn, event, result, performance.now() - began, true)
  }
  if (work.status === "started" && tool.idempotent !== true && delegate === undefined) {
    return failure(
      "unknown outcome: the process ended while this tool ran. Check whether it had its effect before calling it again."
    )
  }
  const edited = work.decision?.type === "edit" ? work.decision.args : undefined
  const decoded = turn.host.dispatcher.decode(tool, edited ?? work.ask?.args ?? call.args)
  const args = isNow(decoded) ? decoded : yield* decoded
  if (!args.ok) return failure(misfit(call.malformed, args.why))
  if (edited !== undefined && work.ask !== undefined) {
    remember(work, work.ask.by, fingerprint(call.name, args.args), true)
  }
  if (call.malformed !== undefined && work.status === "planned") {
    turn.publish({ type: "args-repaired", call, text: call.malformed })
  }

  if (work.status === "decided" && work.decision?.type === "respond") {
    const event = { ...call, args: args.args, tool, grant: unrestricted }
    return yield* finished(turn, event, success(work.decision.output), 0, false)
  }

  const { chain, policy } = turn.host
  if (policy === undefined && !chain.has("preToolCall")) {
    return yield* executed(turn, work, { ...call, args: args.args, tool, grant: unrestricted })
  }
  const answer = yield* allowed(turn, work, tool, args.args)
  if (answer === undefined) return undefined
  if (answer === "decided") return yield* resultOf(turn, work)
  if (answer.type === "deny") return yield* denied(turn, work, answer.by, answer.reason)
  return yield* gated(turn, work, tool, args.args, answer.grant)
}

const misfit = (malformed: string | undefined, why: string): string =>
  malformed === undefined
    ? `the arguments do not fit the tool's schema: ${why}`
    : `the arguments are not valid JSON: ${malformed.slice(0, 200)}`

/** From the pre hooks to the result. */
const gated = function*(
  turn: Turn,
  work: Work,
  tool: ToolMeta,
  args: Json,
  grant: ExecutionGrant
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const { chain } = turn.host
  const event: PreToolCallEvent = { ...work.call, args, tool, grant }
  if (!chain.has("preToolCall") || isSettled(work, everyHook, () => fingerprint(tool.name, args))) {
    return yield* executed(turn, work, event)
  }
  // What was approved is what runs: arguments that are read otherwise now are asked about again.
  // What a hook proposed, the hooks before it have not seen.
  const after = work.decision?.type === "approve" && work.ask?.proposed !== true &&
      work.ask?.fingerprint === fingerprint(tool.name, args)
    ? work.ask.by
    : undefined
  const { settled } = work
  const resume = settled === undefined
    ? undefined
    : { settled, ...(after === undefined || after === "policy" ? {} : { after }) }
  return yield* judged(turn, work, event, args, chain.fold("preToolCall", event, turn, decodeFor(turn, tool), resume))
}

/** Reads changed arguments as the tool will. */
const decodeFor = (turn: Turn, tool: ToolMeta) => (value: unknown) => {
  const read = turn.host.dispatcher.decode(tool, (value as PreToolCallEvent).args)
  return isNow(read)
    ? (read.ok ? { ok: true as const, value: { ...(value as object), args: read.args } } : read)
    : { ok: true as const, value }
}

/** What the pre hooks' word leads to. */
const judged = function*(
  turn: Turn,
  work: Work,
  asked: PreToolCallEvent,
  args: Json,
  folded: Outcome<"preToolCall"> | undefined | Effect.Effect<Outcome<"preToolCall">>
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const { tool } = asked
  let event = asked
  let limits = asked.grant
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome !== undefined) {
    const decided = yield* stopped(turn, work, outcome)
    if (decided !== "goes on") return decided
    event = outcome.event
  }
  if (event.args !== args) {
    const last: Decoded | Effect.Effect<Decoded> = turn.host.dispatcher.decode(tool, event.args)
    const fits = isNow(last) ? last : yield* last
    if (!fits.ok) {
      return yield* denied(
        turn,
        work,
        outcome?.by ?? "hook",
        `${outcome?.by ?? "a hook"} changed the arguments to something that does not fit: ${fits.why}`
      )
    }
    const again = yield* allowed(turn, work, tool, event.args)
    // The hooks have answered for exactly these arguments: only the policy's question is open.
    if (again === undefined || again === "decided") remember(work, everyHook, fingerprint(tool.name, event.args))
    if (again === undefined) return undefined
    if (again === "decided") return yield* resultOf(turn, work)
    if (again.type === "deny") return yield* denied(turn, work, again.by, again.reason)
    limits = again.grant
  }
  if (event.args !== args || work.ask !== undefined) work.executedArgs = event.args
  return yield* executed(turn, work, limits === event.grant ? event : { ...event, grant: limits })
}

/** What a pre hook's decision means, where it stops the call. */
const stopped = function*(
  turn: Turn,
  work: Work,
  outcome: Outcome<"preToolCall">
): Effect.fn.Return<ToolResult | undefined | "goes on", Failure> {
  const { action, by = "hook", event } = outcome
  switch (action._tag) {
    case "Reject":
      return yield* denied(turn, work, by, action.reason)
    case "Abort":
      return yield* ended({ type: "aborted", reason: action.reason, by })
    case "Respond":
      return yield* finished(turn, event, success(action.output), 0, false)
    case "Ask": {
      if (action.args === undefined) {
        return (yield* ask(turn, work, by, action, event.args))
          ? yield* resultOf(turn, work)
          : undefined
      }
      const read = turn.host.dispatcher.decode(event.tool, action.args)
      const fits = isNow(read) ? read : yield* read
      if (!fits.ok) return yield* denied(turn, work, by, `${by} proposed arguments that do not fit: ${fits.why}`)
      return (yield* ask(turn, work, by, action, fits.args)) ? yield* resultOf(turn, work) : undefined
    }
    default:
      return "goes on"
  }
}

const denied = function*(turn: Turn, work: Work, by: string, reason: string): Effect.fn.Return<ToolResult> {
  if (turn.listened) turn.publish({ type: "tool-denied", call: work.call, by, reason })
  const folded = turn.fold("onToolDenied", { call: work.call, by, reason })
  if (folded !== undefined && Effect.isEffect(folded)) yield* folded
  return failure(reason)
}

/** The act. */
const executed = function*(
  turn: Turn,
  work: Work,
  event: PreToolCallEvent
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const { dispatcher, limits, toolWrappers } = turn.host
  work.status = "started"
  if (turn.root.host.config.store !== undefined) yield* turn.save()
  if (turn.listened) turn.publish({ type: "tool-start", call: { id: event.id, name: event.name, args: event.args } })
  const about = new About(turn, event.id, event.grant.timeoutMs ?? limits.toolMs)
  const began = performance.now()
  const delegate = turn.depth > 0 ? undefined : turn.host.delegates.get(event.name)
  // Asked for anew at every attempt: a wrapper may begin the act later, twice or never.
  const act = (): Effect.Effect<ToolResult, Failure> =>
    delegate === undefined
      ? dispatcher.dispatch(event, event.grant, about)
      : handed(delegated(turn, work, event, delegate))
  const reveal = ({ args }: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
    // Another agent is told what was approved: nothing is revealed to it.
    if (delegate !== undefined) return act()
    const read = dispatcher.decode(event.tool, args)
    return Effect.flatMap(isNow(read) ? Effect.succeed(read) : read, (decoded) =>
      // Its words could quote the arguments.
      decoded.ok
        ? dispatcher.dispatch({ ...event, args: decoded.args }, event.grant, about)
        : Effect.succeed(failure("the revealed arguments do not fit the tool's schema")))
  }
  const approved = (value: PreToolCallEvent) => value === event || isSame(value, event)
  const result = yield* toolWrappers.length === 0
    ? act()
    : Effect.catch(
      wrap<PreToolCallEvent, ToolResult>(
        turn,
        "wrapToolCall",
        toolWrappers,
        (value) =>
          approved(value)
            ? act()
            : isRevealed(value)
            ? reveal(value)
            : Effect.succeed(
              failure("a hook changed the call in wrapToolCall, where nobody checks it: change it at preToolCall")
            ),
        {
          broken: (hook, message) => Effect.succeed(failure(`hook ${hook} failed at wrapToolCall: ${message}`)),
          refused: (_hook, { reason }) => Effect.succeed(failure(reason)),
          approved
        }
      )(event),
      (error) => isEnded(error) ? Effect.fail(error) : Effect.succeed(failure(messageOf(error)))
    )
  if (result === waiting) return undefined
  return yield* finished(turn, event, result, performance.now() - began, true)
}

/** Stands, inside the act, for a result that has to wait for somebody's decision. */
const waiting: ToolResult = Object.freeze(failure("waits for a person's decision"))

const handed = (coming: Effect.fn.Return<ToolResult | undefined, Failure>): Effect.Effect<ToolResult, Failure> =>
  Effect.map(Effect.gen(() => coming), (result) => result ?? waiting)

const isSame = (value: PreToolCallEvent, event: PreToolCallEvent): boolean =>
  value.id === event.id && fingerprint(value.name, value.args) === fingerprint(event.name, event.args)

/** Asks the post hooks; nothing when there is nobody to tell of the result. */
const finishing = (
  turn: Turn,
  event: PreToolCallEvent,
  result: ToolResult,
  elapsedMs: number,
  isExecuted: boolean
): Finishing | undefined => {
  const asked = turn.host.chain.has("postToolCall")
  if (!asked && !turn.listened) return undefined
  const { args, id, name, tool } = event
  const end = { call: { id, name, args }, tool, result, elapsedMs, executed: isExecuted }
  const folded = asked ? turn.fold("postToolCall", end) : undefined
  return folded === undefined && !turn.listened ? undefined : { end, folded }
}

interface Finishing {
  readonly end: PostToolCallEvent
  readonly folded: Outcome<"postToolCall"> | undefined | Effect.Effect<Outcome<"postToolCall">>
}

const finished = function*(
  turn: Turn,
  event: PreToolCallEvent,
  result: ToolResult,
  elapsedMs: number,
  isExecuted: boolean
): Effect.fn.Return<ToolResult, Failure> {
  const post = finishing(turn, event, result, elapsedMs, isExecuted)
  return post === undefined ? result : yield* concluded(turn, event, result, post)
}

/** What the post hooks make of the result. */
const concluded = function*(
  turn: Turn,
  { name }: PreToolCallEvent,
  result: ToolResult,
  { end: { call, elapsedMs, executed: isExecuted }, folded }: Finishing
): Effect.fn.Return<ToolResult, Failure> {
  let final = result
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome !== undefined) {
    const { action, by = "hook" } = outcome
    if (action._tag === "Abort") return yield* ended({ type: "aborted", reason: action.reason, by })
    final = outcome.event.result
    if (action._tag === "Reject") {
      if (outcome.failure === undefined) turn.inject(`About the result of ${name}: ${action.reason}`, undefined, by)
      else final = failure(action.reason)
    }
  }
  if (turn.listened) turn.publish({ type: "tool-end", call, result: final, elapsedMs, executed: isExecuted })
  return final
}
