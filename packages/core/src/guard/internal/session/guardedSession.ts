/** The guard of one conversation: runs each point, and turns what comes out into a verdict. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type AgentError, SessionError } from "../../../data/AgentError.ts"
import type { CompactionRequest, PostCompactionEvent } from "../../../data/Compaction.ts"
import type { Delegation, PostDelegationEvent } from "../../../data/Delegation.ts"
import * as Awaitable from "../../../data/effect/Awaitable.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import type { Json } from "../../../data/Json.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { Decision } from "../../../data/RunState.ts"
import type { OnSessionEndEvent } from "../../../data/SessionEvent.ts"
import type { ToolResult } from "../../../data/tool/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { FinishedCall, GivenAnswer, GivenCall, GivenEnd, GuardSession } from "../../Driver.ts"
import type {
  CompactionVerdict,
  DelegationResultVerdict,
  DelegationVerdict,
  Stopped,
  StopVerdict,
  UserMessageVerdict
} from "../../Verdict.ts"
import { findNewerState } from "../io/newerState.ts"
import { isConflict } from "../io/storeTurn.ts"
import { askHooks, notifyHooks } from "../point/askHooks.ts"
import { askBeforeStop } from "../point/beforeStop.ts"
import { allowDelegation, finishDelegation } from "../point/delegation.ts"
import { readInput, receiveInput } from "../point/receiveInput.ts"
import { revealText } from "../point/revealText.ts"
import { stopOf } from "../state/turnEnd.ts"
import { enterPhase } from "../state/turnState.ts"
import type { Step } from "../state/yieldable.ts"
import type { Bare, Claim, Conversation, Failure } from "./conversation.ts"
import { type GivenFields, wrongGiven } from "./given.ts"
import { forgetPlaced } from "./keptState.ts"
import { callModel, modelAnswer, modelDelta, modelRequest, ownErrorOf } from "./modelPoints.ts"
import { RunOnce } from "./runOnce.ts"
import type { SessionOptions } from "./sessionOptions.ts"
import { callTool, claimCall, decide, questionsOf, runCall, toolCall, toolResult } from "./toolPoints.ts"
import { verdictOf, withContext } from "./verdictOf.ts"

/** How often a point is asked again because another process was quicker. */
const maxTries = 10

/** The maximum length of a message, in characters. */
const limits = { textLength: 5_000_000 }

/** A class, so that all sessions share their methods. */
export class GuardedSession implements GuardSession {
  readonly conversation: Conversation
  private readonly options: SessionOptions

  constructor(conversation: Conversation, options: SessionOptions) {
    this.conversation = conversation
    this.options = options
  }

  get id(): string {
    return this.conversation.id
  }
  get state() {
    return this.conversation.session.state
  }

  userMessage(input: string | TurnInput): Awaitable.Awaitable<UserMessageVerdict, AgentError> {
    const { conversation } = this
    const own = this.own(input)
    return this.verdict(function*(): Step<Bare<UserMessageVerdict>, Failure> {
      const read = readInput(conversation.id, own, limits)
      if (read instanceof SessionError) return yield* read
      const turn = conversation.begin(read)
      yield* conversation.start()
      const { answer, before } = yield* receiveInput(turn)
      enterPhase(turn.state, "model")
      if (answer !== undefined) return { type: "respond", text: answer }
      return { type: "allow", input: before === undefined ? turn.state.input : { ...turn.state.input, before } }
    }, { always: true })
  }

  modelRequest(request: LlmRequest) {
    const wrong = this.wrong("modelRequest", request, { messages: "list" })
    return this.verdict(() => modelRequest(this.conversation, this.own(request)), { wrong })
  }
  modelAnswer(answer: GivenAnswer) {
    const wrong = this.wrong("modelAnswer", answer, { response: "response" })
    return this.verdict(() => modelAnswer(this.conversation, this.own(answer)), { wrong })
  }
  modelDelta(delta: LlmDelta) {
    const wrong = this.wrong("modelDelta", delta, { type: "text" })
    return this.verdict(() => modelDelta(this.conversation, this.own(delta)), { wrong })
  }
  callModel(request: LlmRequest, call: (request: LlmRequest) => PromiseLike<LlmResponse>) {
    const wrong = this.wrong("callModel", request, { messages: "list" })
    const own = this.own(request)
    // The driver compares with what it has given, so it gets that if no hook has changed the copy.
    const once = new RunOnce<LlmRequest, LlmResponse>(async (allowed) => {
      const response = await call(allowed === own ? request : allowed)
      const why = this.wrong("callModel", { response }, { response: "response" })
      return why === undefined ? response : await Promise.reject(why)
    })
    return this.verdict(() => {
      once.begin()
      return callModel(this.conversation, own, once.run)
    }, { wrong })
  }
  toolCall(call: GivenCall) {
    return this.verdict(() => toolCall(this.conversation, call))
  }
  toolResult(call: FinishedCall, result: ToolResult) {
    const wrong = this.wrong("toolResult", call, { id: "text" })
    return this.verdict(() => toolResult(this.conversation, call, result), { wrong, always: true })
  }
  callTool(call: GivenCall, run: (args: Json) => PromiseLike<Json> | Json): ReturnType<GuardSession["callTool"]> {
    const { conversation } = this
    if (conversation.root.agent.config.store === undefined) {
      return this.verdict(() => callTool(conversation, call, run))
    }
    // The verdict is stored before the tool runs: another process must not allow what this one has used up.
    const once = new RunOnce<Json, Json>(run)
    const claim: Claim = {}
    return this.awaitable(Effect.flatMap(this.verdict(() => claimCall(conversation, call, claim)), (verdict) => {
      const { event: taken } = claim
      if (taken === undefined) return Effect.succeed(verdict)
      const ended = this.verdict(() => {
        once.begin()
        return runCall(conversation, taken, once.run)
      }, { always: true })
      return Effect.map(ended, (end) => ({ ...end, context: [...verdict.context, ...end.context] }))
    }))
  }
  decide(callId: string, decision: Decision) {
    return this.verdict(() => decide(this.conversation, callId, decision))
  }
  pending() {
    const { conversation } = this
    return this.awaitable(Effect.map(this.newest, () => {
      conversation.rejoin()
      return questionsOf(conversation)
    }))
  }

  delegation(asked: Delegation): Awaitable.Awaitable<DelegationVerdict, AgentError> {
    const { conversation } = this
    const own = this.own(asked)
    return this.verdict(function*(): Step<Bare<DelegationVerdict>, Failure> {
      const allowed = yield* allowDelegation(yield* conversation.turn(), own)
      if (allowed.type === "refuse") return { type: "deny", reason: allowed.reason, by: allowed.by }
      return allowed.type === "answer"
        ? { type: "respond", result: allowed.result }
        : { type: "allow", delegation: allowed.delegation }
    }, { wrong: this.wrong("delegation", asked, { agent: "text", message: "text" }) })
  }
  delegationResult(ended: PostDelegationEvent): Awaitable.Awaitable<DelegationResultVerdict, AgentError> {
    const { conversation } = this
    const own = this.own(ended)
    return this.verdict(function*(): Step<Bare<DelegationResultVerdict>, Failure> {
      const finished = yield* finishDelegation(yield* conversation.turn(), own)
      return finished.type === "refuse"
        ? { type: "deny", reason: finished.reason, by: finished.by }
        : { type: "allow", text: finished.text }
    }, { wrong: this.wrong("delegationResult", ended, { result: "object" }) })
  }

  compaction(request: CompactionRequest): Awaitable.Awaitable<CompactionVerdict, AgentError> {
    const { conversation } = this
    const own = this.own(request)
    return this.verdict(function*(): Step<Bare<CompactionVerdict>, Failure> {
      const outcome = yield* askHooks(yield* conversation.turn(), "preCompaction", own)
      const { action, by = "hook", event } = outcome ?? {}
      if (action?._tag === "Reject") return { type: "deny", reason: action.reason, by }
      if (action?._tag === "Respond") return { type: "respond", result: action.output }
      return { type: "allow", request: event ?? own }
    }, { wrong: this.wrong("compaction", request) })
  }
  compacted(event: PostCompactionEvent): Awaitable.Awaitable<void, AgentError> {
    const { conversation } = this
    return this.plain(function*() {
      const turn = yield* conversation.turn()
      forgetPlaced(conversation.session)
      const { removedCount, summary } = event
      turn.io.publish({ type: "compaction", removedCount, summary })
      yield* notifyHooks(turn, "postCompaction", event)
    }, this.wrong("compacted", event))
  }

  beforeStop(end: GivenEnd): Awaitable.Awaitable<StopVerdict, AgentError> {
    const { conversation, options: { followUps } } = this
    const wrong = this.wrong("beforeStop", end, { text: "text" })
    const { messages = [], text } = wrong === undefined ? this.own(end) : { text: "" }
    return this.verdict(function*(): Step<Bare<StopVerdict>, Failure> {
      const turn = yield* conversation.turn()
      const { state } = turn
      const budget = { usedTokens: 0, windowTokens: 0 }
      const event = { text, followUps: state.followUps, messages, usage: state.usage, budget }
      const { followUp } = yield* askBeforeStop(turn, event)
      if (followUp !== undefined && state.followUps < followUps) {
        state.followUps++
        return { type: "continue", message: followUp }
      }
      const { input, stepNumber: steps, toolCalls, usage } = state
      const output = { text, finishReason: "stop", usage, steps, toolCalls } as const
      const outcome = yield* askHooks(turn, "postTurn", { input, output, executed: true })
      const stop = stopOf("postTurn", outcome)
      if (stop !== undefined) return yield* stop
      const final = outcome?.event.output.text ?? text
      enterPhase(state, "ended")
      return { type: "allow", text: final, shown: revealText(turn, final) }
    }, { wrong, always: true })
  }

  end(reason: OnSessionEndEvent["reason"] = "done"): Awaitable.Awaitable<void, AgentError> {
    const { conversation, options } = this
    return this.plain(function*() {
      const { begun, parent, session } = conversation
      options.forget(conversation.id)
      if (begun !== undefined) enterPhase(begun.state, "ended")
      if (parent === undefined) {
        if (session.status === "new") return
        yield* notifyHooks(conversation.outside, "onSessionEnd", { sessionId: session.id, reason })
        conversation.outside.io.publish({ type: "session-end", reason })
      } else parent.endChild(conversation)
      conversation.endTurn()
    })
  }

  // How a point runs.

  /** Hooks get frozen values. What belongs to the driver must not be frozen, so they get a copy of it. */
  private own<A>(value: A): A {
    return this.conversation.agent.freeze ? copy(value) : value
  }

  /** Returns the error if the driver, which may be a program without types, gave something else. */
  private wrong<A>(method: string, value: A, fields: GivenFields<A> = {}): SessionError | undefined {
    return wrongGiven(this.conversation.id, method, value, fields)
  }

  /** Runs a point that has no verdict. */
  private plain(point: () => Step<void, Failure>, wrong?: SessionError): Awaitable.Awaitable<void, AgentError> {
    if (wrong !== undefined) return this.awaitable(Effect.fail(wrong))
    return this.awaitable(
      this.onNewest(Effect.catch(Effect.gen(point), (error) => Effect.asVoid(verdictOf(error))))
    )
  }

  /**
   * Runs a point, or fails with what is `wrong`. After the end of the turn, all verdicts are the same, unless the point
   * runs `always`.
   */
  private verdict<Verdict extends { readonly type: string }>(
    point: () => Step<Verdict, Failure>,
    { always = false, wrong }: { readonly always?: boolean; readonly wrong?: SessionError | undefined } = {}
  ): Awaitable.Awaitable<Verdict & { readonly context: ReturnType<Conversation["takeContext"]> }, AgentError> {
    const { conversation } = this
    if (wrong !== undefined) return this.awaitable(Effect.fail(wrong))
    const run = Effect.suspend((): Effect.Effect<Verdict | Bare<Stopped>, AgentError> => {
      const { stopped } = conversation
      if (stopped !== undefined && !always) return Effect.succeed({ ...stopped, type: "stop" })
      return Effect.catch(Effect.gen(point), (error) =>
        Effect.map(verdictOf(error), (end) => {
          if (end.type === "stop") conversation.setStopped(end)
          // A verdict that a point cannot have is left out of its type.
          return end as Bare<Stopped>
        }))
    })
    // What the driver has received must not be stored, or another process passes it on again. The types of the points
    // name `stop` and `deny` where they can occur.
    return this.awaitable(
      this.onNewest(Effect.map(run, (verdict) => withContext(conversation, verdict as Verdict)))
    )
  }

  /** Loads the newest state, runs a point, and saves what it has changed. */
  private onNewest<A>(point: Effect.Effect<A, AgentError>, tries = 1): Effect.Effect<A, AgentError> {
    const { conversation } = this
    const joined = Effect.suspend(() => {
      conversation.join()
      return point
    })
    const { root } = conversation
    if (root.agent.config.store === undefined) return joined
    const saved = Effect.tap(joined, () => Effect.map(conversation.outside.io.commit, () => conversation.noteSaved()))
    return Effect.andThen(
      this.newest,
      Effect.catch(saved, (error) =>
        isConflict(error) && tries < maxTries
          ? Effect.suspend(() => this.onNewest(point, tries + 1))
          : Effect.fail(error))
    )
  }

  /** Loads the session again if another process has changed it. */
  private get newest(): Effect.Effect<void, AgentError> {
    const { root } = this.conversation
    const { agent: { config: { store } } } = root
    if (store === undefined) return Effect.void
    return Effect.suspend(() =>
      root.session.storage.lock.withPermit(Effect.map(
        Effect.suspend(() => findNewerState(store, root.session)),
        (state) => {
          if (state !== undefined) root.reload(state)
        }
      ))
    )
  }

  /** Runs an Effect with the logger of the guard. */
  private awaitable<A>(effect: Effect.Effect<A, AgentError>): Awaitable.Awaitable<A, AgentError> {
    const { logging } = this.options
    return Awaitable.make(
      Effect.updateContext(effect, (now: Context.Context<never>) => Context.merge(logging, now)),
      run
    )
  }
}

/** Runs a point as a promise. If the driver's own call failed, its own error comes out. */
const run: Awaitable.RunPromise = (effect) =>
  Effect.runPromise(Effect.mapError(effect, (error) => {
    const own = ownErrorOf(error)
    return own === undefined ? error : own.cause
  }))
