/** The points of a tool call, as a driver passes them on. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { isObject } from "effect/Predicate"
import * as Result from "effect/Result"
import { SnapshotError } from "../../../data/AgentError.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"
import { type Json, whyNot } from "../../../data/Json.ts"
import { show } from "../../../data/option/OptionCheck.ts"
import { type Decision, type PendingAsk, readDecision } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { failure, type PreToolCallEvent, success, type ToolResult, unrestricted } from "../../../data/tool/Tool.ts"
import type { FinishedCall, GivenCall } from "../../Driver.ts"
import { ToolWaits } from "../../ToolWaits.ts"
import type { ToolCallVerdict, ToolResultVerdict } from "../../Verdict.ts"
import { sameJson } from "../schema/sameValue.ts"
import { notADecision, whyNotCounted } from "../state/decision.ts"
import { isSignedDecision } from "../state/signature.ts"
import { approvalOf, planned, type RunningCall, update } from "../state/toolCallState.ts"
import type { Step } from "../state/yieldable.ts"
import { allowCall } from "../toolCall/allowCall.ts"
import { applyDecision } from "../toolCall/askPerson.ts"
import { checkPolicy } from "../toolCall/checkPolicy.ts"
import { finishCall, publishStart } from "../toolCall/finishCall.ts"
import { pendingOf } from "../toolCall/openQuestions.ts"
import { wrapTool } from "../toolCall/wrapTool.ts"
import type { Bare, Claim, Conversation, Failure, OpenCall } from "./conversation.ts"
import { metaOf } from "./sessionAgent.ts"
import type { SessionTurn } from "./sessionTurn.ts"

type Verdict = Bare<ToolCallVerdict>

/** A call of the driver, checked. */
interface Checked {
  readonly id: string
  readonly name: string
  readonly args: Json
}

/** Reads a call, which a model has made. Returns why it cannot be one. */
const readCall = (given: GivenCall): Checked | string => {
  if (!isObject(given)) return `the call is not an object with id, name and args: ${show(given)}`
  const { args = {}, id, name } = given
  if (typeof id !== "string" || id === "") return "the call has no id: expected a text that is not empty"
  // An id with a slash looks like the path to a call of a sub-agent.
  if (id.includes("/") || id === "__proto__") return `the id "${id}" of the call cannot be used: it must have no slash`
  if (typeof name !== "string" || name === "") return "the call names no tool: expected a text that is not empty"
  if (isObjectAsText(args)) {
    return `the arguments of ${name} are text: parse them first, because hooks read their fields`
  }
  const why = whyNot(args)
  return why === undefined ? { id, name, args: frozenCopy(args) } : `the arguments of ${name} are not JSON: ${why}`
}

/** Vendors send arguments as JSON text. No hook would find a field in it. */
const isObjectAsText = (args: unknown): boolean => {
  if (typeof args !== "string" || !args.trimStart().startsWith("{")) return false
  return Result.isSuccess(Result.try((): unknown => JSON.parse(args)))
}

const deny = (reason: string): Extract<Verdict, { readonly type: "deny" }> => ({ type: "deny", reason, by: "runtime" })

/**
 * Before a tool runs. A call that is allowed has not started: before it does, the driver may ask a person itself, and
 * continue in another process.
 */
export const toolCall = function*(conversation: Conversation, given: GivenCall): Step<Verdict, Failure> {
  const call = readCall(given)
  if (typeof call === "string") return deny(call)
  const turn = yield* conversation.turn()
  conversation.knowTool(call.name, () => metaOf(call.name, given.tool ?? {}))
  const open = conversation.open.get(call.id)
  const known = open?.running ?? turn.state.calls.find(({ state }) => state.call.id === call.id)
  if (known !== undefined) {
    const { args, name } = known.state.call
    const isSame = name === call.name && sameJson(args, call.args)
    const isOpen = turn.state.calls.includes(known)
    if (!isSame && isOpen) return deny(`another call with the id ${call.id} is not done: give each call its own id`)
    if (isSame) {
      return yield* (open === undefined ? judgeAgain(conversation, turn, known) : Deferred.await(open.verdict))
    }
  }
  turn.state.toolCalls++
  return yield* judge(conversation, turn, conversation.addCall(turn, { state: planned(call) }))
}

/** Asks the guard, and keeps the verdict for those who ask about the call again. */
const judge = function*(conversation: Conversation, turn: SessionTurn, open: OpenCall): Step<Verdict, Failure> {
  return yield* Effect.onExit(
    Effect.gen(() => decideCall(conversation, turn, open)),
    (exit) => {
      if (Exit.isFailure(exit)) {
        const { id } = open.running.state.call
        if (conversation.open.get(id) === open) conversation.open.delete(id)
        conversation.endCall(turn, open.running)
      }
      return Deferred.done(open.verdict, exit)
    }
  )
}

const decideCall = function*(conversation: Conversation, turn: SessionTurn, open: OpenCall): Step<Verdict, Failure> {
  const { running, running: { state: { call } } } = open
  const allowed = yield* allowCall(turn, running)
  if (allowed === "waits") return { type: "ask", question: running.state.ask! }
  if ("ok" in allowed) {
    conversation.endCall(turn, running)
    return allowed.ok
      ? { type: "respond", result: allowed.output }
      : { type: "deny", reason: allowed.error, by: running.deniedBy ?? "runtime" }
  }
  const { event } = allowed
  update(running, { type: "allow", args: event.args === call.args ? undefined : event.args })
  publishStart(turn, running, event)
  open.event = event
  open.startedAt = performance.now()
  return allow(running, event)
}

const allow = (
  { state: { changedBy } }: RunningCall,
  { args, grant }: PreToolCallEvent
): Extract<Verdict, { readonly type: "allow" }> => ({
  type: "allow",
  args,
  grant,
  ...(changedBy === undefined ? {} : { changedBy })
})

/** Returns the verdict about a call that another process has asked about, or that waits for a person itself. */
const judgeAgain = function*(
  conversation: Conversation,
  turn: SessionTurn,
  running: RunningCall
): Step<Verdict, Failure> {
  const { ask, call, decision, executedArgs, status } = running.state
  if (status === "asked") return { type: "ask", question: ask! }
  if (status === "planned") return yield* judge(conversation, turn, conversation.reopen(running))
  const args = executedArgs ?? call.args
  const tool = turn.agent.tools.get(call.name)!
  const checked = yield* checkPolicy(turn, running, tool, args)
  if (checked.type === "deny") return { type: "deny", reason: checked.reason, by: checked.by }
  const event = { ...call, args, tool, grant: checked.grant }
  const verdict = allow(running, event)
  if (status === "decided") {
    const open = conversation.reopen(running)
    open.event = event
    Deferred.doneUnsafe(open.verdict, Exit.succeed(verdict))
    if (ask !== undefined && decision?.by !== "rule") return { ...verdict, question: ask }
  }
  return verdict
}

/** After a tool has run. */
export const toolResult = function*(
  conversation: Conversation,
  given: FinishedCall,
  asked: ToolResult
): Step<Bare<ToolResultVerdict>, Failure> {
  const turn = yield* conversation.turn()
  const { elapsedMs, id } = given
  const open = conversation.open.get(id)
  const running = open?.running ?? turn.state.calls.find(({ state }) => state.call.id === id)
  const event = open?.event ?? eventOf(conversation, turn, running, given)
  const result = readResult(asked)
  if (event === undefined) {
    return {
      type: "allow",
      result: failure(`the result of call ${id} belongs to no call: give its name and arguments`)
    }
  }
  const state = running?.state
  if (state?.status === "planned" || state?.status === "asked") {
    turn.io.warn(`${event.name} has a result, but the guard did not allow call ${id}`, "runtime")
  }
  const startedAt = elapsedMs === undefined ? open?.startedAt ?? performance.now() : performance.now() - elapsedMs
  const approval = state === undefined ? undefined : approvalOf(state)
  const final = yield* Effect.onExit(
    Effect.gen(function*() {
      return yield* finishCall(turn, event, { result, startedAt, approval })
    }),
    () =>
      Effect.sync(() => {
        conversation.open.delete(id)
        if (running !== undefined) conversation.endCall(turn, running)
      })
  )
  return { type: "allow", result: final }
}

/** Makes the event of a call that this process has not seen. */
const eventOf = (
  conversation: Conversation,
  turn: SessionTurn,
  running: RunningCall | undefined,
  { args, id, name, tool }: FinishedCall
): PreToolCallEvent | undefined => {
  const { call, executedArgs } = running?.state ?? {}
  const read = readCall({ id, name: call?.name ?? name ?? "", args: executedArgs ?? call?.args ?? args ?? {} })
  if (typeof read === "string") return undefined
  conversation.knowTool(read.name, () => metaOf(read.name, tool ?? {}))
  return { ...read, tool: turn.agent.tools.get(read.name)!, grant: unrestricted }
}

/** Reads a result, which a program without types may have made. */
const readResult = (result: ToolResult): ToolResult => {
  const given: Partial<Record<keyof Extract<ToolResult, { ok: true }> | "error", unknown>> | null = result
  if (given?.ok === false) return failure(String(given.error))
  const why = given?.ok === true ? whyNot(given.output) : "expected { ok: true, output } or { ok: false, error }"
  return why === undefined ? success(frozenCopy(given?.output as Json)) : failure(`the tool gave no result: ${why}`)
}

/** What ends a call before its tool has run, or its result. */
export type CallVerdict = Exclude<Verdict, { readonly type: "allow" | "respond" }> | Bare<ToolResultVerdict>

/** Decides about a call, and starts it if it is allowed, so that its tool runs once. `claim` has then what runs. */
export const claimCall = function*(
  conversation: Conversation,
  given: GivenCall,
  claim: Claim
): Step<CallVerdict, Failure> {
  claim.event = undefined
  const verdict = yield* toolCall(conversation, given)
  if (verdict.type === "respond") return { type: "allow", result: success(verdict.result) }
  if (verdict.type !== "allow") return verdict
  const { id } = given
  const open = conversation.open.get(id)
  // Another process was quicker, so the point runs again.
  const isAgain = open?.claim === claim
  if (open?.claim !== undefined && !isAgain) return deny(`call ${id} is running already`)
  if (open?.event === undefined || (isAgain && open.running.state.status === "started")) {
    return deny(`call ${id} was started by another process`)
  }
  update(open.running, { type: "start" })
  open.claim = claim
  open.startedAt = performance.now()
  claim.event = open.event
  // What came out of the call follows.
  return { type: "allow", result: success(null) }
}

/** Runs a tool inside the hooks that wrap it, and passes its result to the others. */
export const runCall = function*(
  conversation: Conversation,
  event: PreToolCallEvent,
  run: (args: Json) => PromiseLike<Json> | Json
): Step<Bare<ToolResultVerdict>, Failure> {
  const turn = yield* conversation.turn()
  let waits = false
  const act = (one: PreToolCallEvent): Effect.Effect<ToolResult> =>
    Effect.catchCause(
      Effect.map(Effect.tryPromise({ try: async () => await run(one.args), catch: (error) => error }), (output) => {
        waits = false
        return readResult(success(output ?? null))
      }),
      (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        waits = error instanceof ToolWaits
        return Effect.succeed(failure(messageOf(error)))
      }
    )
  const result = yield* turn.agent.toolWrappers.length === 0
    ? act(event)
    : wrapTool(turn, { event, act, isForAgent: false })
  if (!waits) return yield* toolResult(conversation, event, result)
  conversation.open.delete(event.id)
  const running = turn.state.calls.find(({ state }) => state.call.id === event.id)
  if (running !== undefined) update(running, { type: "allow" })
  return { type: "allow", result }
}

/** Runs a tool inside the hooks, in one point. */
export const callTool = function*(
  conversation: Conversation,
  given: GivenCall,
  run: (args: Json) => PromiseLike<Json> | Json
): Step<CallVerdict, Failure> {
  const claim: Claim = {}
  const verdict = yield* claimCall(conversation, given, claim)
  return claim.event === undefined ? verdict : yield* runCall(conversation, claim.event, run)
}

/** Answers the question about a call. */
export const decide = function*(
  conversation: Conversation,
  callId: string,
  given: Decision
): Step<Verdict, Failure> {
  const turn = yield* conversation.turn()
  const wrong = (message: string) => new SnapshotError({ problem: "wrong-decision", message })
  if (typeof callId !== "string") return yield* wrong(`expected the id of a tool call, found ${show(callId)}`)
  const found = findQuestion(conversation, turn, callId)
  if (found === undefined) {
    const asks = questionsOf(conversation).map((ask) => ask.callId).join(", ") || "none"
    return yield* wrong(`tool call "${callId}" has no open question: open are ${asks}`)
  }
  const decision = readDecision(given)
  if (decision === undefined) return yield* wrong(notADecision(callId))
  const why = whyNotCounted(found.ask, decision)
  if (why !== undefined) return yield* wrong(`the decision on tool call "${callId}" does not count: ${why}`)
  const keys = turn.agent.config.approvals?.keys
  const question = { sessionId: conversation.session.id, turnNumber: turn.state.turnNumber, ask: found.ask }
  if (keys !== undefined && !(yield* Effect.promise(() => isSignedDecision(keys, { question, decision })))) {
    const message = `the decision on tool call "${callId}" is not signed for this question with a key of this guard: ` +
      "sign it with Approvals.sign"
    return yield* new SnapshotError({ problem: "forged", message })
  }
  const owner = found.conversation
  const ownTurn = yield* owner.turn()
  const { running } = found
  // Somebody else may have decided while the signature was checked.
  if (running.state.status !== "asked") return yield* wrong(`tool call "${callId}" has been decided`)
  yield* applyDecision(ownTurn, running, decision)
  if (running.state.status === "asked") return { type: "ask", question: running.state.ask! }
  const verdict = yield* judge(owner, ownTurn, owner.reopen(running))
  // The call runs in the process that has received the answer.
  if (verdict.type === "allow") update(running, { type: "start" })
  return verdict
}

interface Found {
  readonly conversation: Conversation
  readonly running: RunningCall
  /** The question as it was shown: for a sub-agent's call, with the path as its id. */
  readonly ask: PendingAsk
}

const findQuestion = (conversation: Conversation, turn: SessionTurn, callId: string): Found | undefined => {
  const running = turn.state.calls.find(({ state, subAgent }) => state.call.id === callId && subAgent === undefined)
  if (running?.state.status === "asked") return { conversation, running, ask: running.state.ask! }
  const slash = callId.indexOf("/")
  if (slash < 0) return undefined
  const id = callId.slice(0, slash)
  const child = conversation.childFor(id)
  const found = child?.begun === undefined ? undefined : findQuestion(child, child.begun, callId.slice(slash + 1))
  return found === undefined ? undefined : { ...found, ask: { ...found.ask, callId: `${id}/${found.ask.callId}` } }
}

/** The open questions of a conversation and those below it. */
export const questionsOf = (conversation: Conversation): ReadonlyArray<PendingAsk> => {
  const calls = conversation.begun?.state.calls ?? []
  return calls.flatMap((call) => {
    const { id } = call.state.call
    const child = conversation.childFor(id)
    return child === undefined
      ? pendingOf([call])
      : questionsOf(child).map((ask) => ({ ...ask, callId: `${id}/${ask.callId}` }))
  })
}
