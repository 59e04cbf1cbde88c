/**
 * A whole turn: session and turn points around the core, the wall clock over it, and one ending for every way it can
 * go.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type AgentError, PortFailed, SessionError } from "../../../data/AgentError.ts"
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { after } from "../../../data/internal/timer.ts"
import type { Message } from "../../../data/Message.ts"
import type { TurnInput, TurnOutput } from "../../../data/Turn.ts"
import type { Usage } from "../../../data/Usage.ts"
import type { HookPointName, In } from "../../../hook/HookPoint.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import type { AgentContext } from "../../AgentContext.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { RunCommon, RunResult } from "../../RunResult.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { isAnswering } from "../config/structuredOutput.ts"
import { callModel, limited } from "../model/callModel.ts"
import { admit } from "../session/addMessages.ts"
import { pendingOf } from "../subagent/delegate.ts"
import { postStep, runTools, standing } from "../tool/runToolCall.ts"
import { phase } from "./generatorEffect.ts"
import { rejected } from "./hookError.ts"
import { discreet, revealed, revealedJson } from "./revealText.ts"
import type { Turn } from "./turn.ts"
import { ended, isEnded } from "./turnEnd.ts"

type Failure = AgentError | TurnEnded

/** How long an interrupted turn may take to let go, in milliseconds. */
const graceMs = 250

/** Runs a turn to one of its endings. */
export const execute = (turn: Turn, resumed: boolean): Effect.Effect<RunResult, AgentError> =>
  Effect.withFiber((fiber) => {
    const { session } = turn
    // All in one step: an interruption comes before it, and nothing has begun, or after it, and the child is told.
    return Effect.callback<RunResult, AgentError>((resume) => {
      if (session.status === "busy" || session.status === "closed") {
        return resume(unavailable(session.id, session.status))
      }
      const isNew = session.status === "new"
      session.status = "busy"
      session.resumable = undefined
      session.parked = undefined
      turn.services = fiber.context
      const child = Effect.runForkWith(fiber.context)(ending(turn, Effect.gen(() => whole(turn, isNew, resumed))))
      let calledOff = () => {}
      child.addObserver((exit) => {
        calledOff()
        // The conversation may have gone on in another session.
        const { session: last } = turn
        last.stop = undefined
        if (last.status === "busy") last.status = turn.unstarted ? "new" : "idle"
        turn.abortSignal()
        resume(turn.expired && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? expired(turn) : exit)
      })
      if (child.pollUnsafe() !== undefined) return
      turn.watch.start(fiber)
      calledOff = () => turn.watch.stop()
      turn.watch.add(turn.host.limits.wallClockMs, () => {
        turn.expired = true
        child.interruptUnsafe()
      })
      return session.stop = Effect.callback<void>((done) => {
        calledOff()
        turn.abortSignal()
        const cancel = after(fiber, graceMs, () => done(Effect.void))
        child.addObserver(() => {
          cancel()
          done(Effect.void)
        })
        child.interruptUnsafe()
      })
    })
  })

const unavailable = (sessionId: string, problem: "busy" | "closed"): SessionError =>
  new SessionError({
    sessionId,
    problem,
    message: `session ${sessionId} is ${problem === "busy" ? "busy with another turn" : "closed"}`
  })

const whole = function*(turn: Turn, isNew: boolean, resumed: boolean): Effect.fn.Return<TurnOutput, Failure> {
  if (isNew) yield* startSession(turn, resumed)
  if (!turn.host.chain.has("onTurnError")) return yield* inner(turn, resumed)
  return yield* Effect.catchCause(Effect.gen(() => inner(turn, resumed)), (cause) => {
    const error = Cause.hasDies(cause) ? died(turn, cause) : Cause.squash(cause) as Failure
    return isEnded(error) || Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.gen(() => recovered(turn, error))
  })
}

/** A bug of a core, a provider or a port, as the error of the turn. */
const died = (turn: Turn, cause: Cause.Cause<unknown>): PortFailed => {
  const error = Cause.squash(cause)
  return new PortFailed({ port: turn.coreType, message: `the core failed: ${messageOf(error)}`, cause: error })
}

/** Tells the hooks of a failed turn; the first that has an answer recovers it. */
const recovered = function*(turn: Turn, error: AgentError): Effect.fn.Return<TurnOutput, Failure> {
  const folded = turn.fold("onTurnError", { input: turn.input, error })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag !== "Replace") return yield* Effect.fail(error)
  turn.closeStep("not run: the turn failed")
  // What the user was told is part of the conversation, where his question is.
  const { text } = outcome.action.value
  if (turn.messages.length > 0 && turn.messages.at(-1)!.role !== "assistant") {
    turn.messages.push({ role: "assistant", content: text })
  }
  return outputOf(turn, { finishReason: "stop", ...outcome.action.value })
}

const inner = function*(turn: Turn, resumed: boolean): Effect.fn.Return<TurnOutput, Failure> {
  const goesOn = resumed && turn.phase !== "start"
  if (goesOn && turn.listened) turn.publish({ type: "turn-start", message: turn.input.message, resumed })
  const core: CoreOutput & { readonly executed: boolean } = goesOn
    ? { ...(yield* work(turn)), executed: true }
    : yield* begin(turn)
  const output = outputOf(turn, core)
  const { memory } = turn.host
  if (memory?.postTurnObserve !== undefined) {
    yield* tolerate(
      turn,
      "memory",
      Effect.suspend(() => memory.postTurnObserve!(turn.input, output, turn.session.id)),
      undefined
    )
  }
  const folded = turn.fold("postTurn", { input: turn.input, output, executed: core.executed })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Reject") return yield* rejected("postTurn", outcome)
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  return outcome === undefined ? output : { ...output, ...outcome.event.output }
}

/** From the user's words to the core's. */
const begin = function*(turn: Turn): Effect.fn.Return<CoreOutput & { readonly executed: boolean }, Failure> {
  const folded = turn.fold("preTurn", turn.input)
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  const keeps = outcome?.action._tag === "Abort" && outcome.action.keepMessage === true
  if (turn.listened) {
    // What the hooks refused or replaced is told to nobody.
    const tag = outcome?.action._tag
    const message = tag === "Reject" || (tag === "Abort" && !keeps) ? "" : (outcome?.event ?? turn.input).message
    turn.publish({ type: "turn-start", message, resumed: false })
  }
  // Also of a refused turn the hooks of its error see only what the earlier ones made of it; of what a confidential one
  // refused, nothing.
  const refusedBy = outcome?.action._tag === "Reject" ? outcome.by : undefined
  const hidden = refusedBy !== undefined &&
    turn.host.chain.hooks.some(({ confidential, name }) => confidential === true && name === refusedBy)
  const input = turn.input = hidden ? { message: "" } : outcome?.event ?? turn.input
  if (outcome?.action._tag === "Reject") return yield* rejected("preTurn", outcome)
  if (keeps) turn.messages.push(spoken(input))
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  const { memory } = turn.host
  if (memory?.preTurnContext !== undefined) {
    admit(
      turn,
      yield* tolerate(turn, "memory", Effect.suspend(() => memory.preTurnContext!(input, turn.session.id)), []),
      "memory"
    )
  }
  turn.phase = "model"
  turn.messages.push(spoken(input))
  if (outcome?.action._tag === "Respond") {
    const { text } = outcome.action.output
    turn.messages.push({ role: "assistant", content: text })
    return { text, finishReason: "stop", executed: false }
  }
  return { ...(yield* work(turn)), executed: true }
}

const spoken = ({ attachments = [], message }: TurnInput): Message => ({
  role: "user",
  content: attachments.length === 0 ? message : [{ type: "text", text: message }, ...attachments]
})

const work = (turn: Turn): Effect.Effect<CoreOutput, Failure> => turn.host.core.runTurn(turn.input, new Context(turn))

const startSession = function*(turn: Turn, resumed: boolean): Effect.fn.Return<void, Failure> {
  const { source: began } = turn.session
  const source = resumed ? "resume" : began
  const { core: { init } } = turn.host
  if (init !== undefined) {
    turn.unstarted = true
    yield* Effect.mapError(
      init(turn.session.id),
      (cause) =>
        new PortFailed({
          port: turn.coreType,
          message: `the core could not be initialised: ${messageOf(cause)}`,
          cause
        })
    )
    turn.unstarted = false
  }
  // A sub-agent works in the session of the agent it works for.
  if (turn.parent !== undefined) return
  const folded = turn.fold("onSessionStart", { sessionId: turn.session.id, source, context: [] })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Reject" || outcome?.action._tag === "Abort") turn.unstarted = true
  if (outcome?.action._tag === "Reject") return yield* rejected("onSessionStart", outcome)
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  if (outcome !== undefined) admit(turn, outcome.event.context, outcome.by ?? "runtime")
  if (turn.listened) turn.publish({ type: "session-start", source })
}

const outputOf = (
  turn: Turn,
  core: { readonly text: string; readonly finishReason: CoreOutput["finishReason"] }
): TurnOutput => ({
  text: core.text,
  finishReason: core.finishReason,
  usage: turn.usage,
  steps: turn.stepNumber,
  toolCalls: turn.toolCalls
})

/** A port that is not essential: its failure is reported, not fatal. */
const tolerate = <A>(turn: Turn, port: string, effect: Effect.Effect<A, unknown>, otherwise: A): Effect.Effect<A> =>
  Effect.catchCause(effect, (cause) => {
    turn.warn(`${port} failed: ${messageOf(Cause.squash(cause))}`, "runtime")
    return Effect.succeed(otherwise)
  })

/** Gives a follow-up its turn, or lets the agent stop. */
const keepGoing = function*(turn: Turn, text: string): Effect.fn.Return<boolean, Failure> {
  const { chain, limits } = turn.host
  if (chain.has("postStep")) yield* postStep(turn)
  if (!chain.has("preStop")) return false
  turn.followUps = []
  const folded = turn.fold("preStop", { text, followUps: turn.followUpCount, ...standing(turn) })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  if (outcome?.by !== undefined) turn.rewrite(outcome.event.messages, outcome.by)
  if (turn.followUps.length === 0) return false
  const message = turn.followUps.join("\n\n")
  if (turn.used.followUps >= limits.followUps) {
    // Whoever resumes the run finds it where it stopped: about to be told this.
    turn.inject(message, undefined, "follow-up")
    return yield* limited(turn, "followUps", turn.used.followUps, limits.followUps, text)
  }
  turn.used.followUps++
  turn.followUpCount++
  turn.publish({ type: "follow-up", message, count: turn.followUpCount })
  turn.messages.push({ role: "user", content: message, source: "follow-up" })
  return true
}

/** A class because one is made for every turn: nothing is built but what a core asks for. */
class Context implements AgentContext {
  private readonly turn: Turn

  constructor(turn: Turn) {
    this.turn = turn
  }
  get sessionId() {
    return this.turn.session.id
  }
  get provider() {
    return this.turn.host.providers[0]
  }
  get tools() {
    return this.turn.host.dispatcher
  }
  get memory() {
    return this.turn.host.memory
  }
  get policy() {
    return this.turn.host.policy
  }
  get config() {
    return this.turn.host.config
  }
  get messages() {
    return this.turn.messages.slice()
  }
  get phase() {
    const { phase: now } = this.turn
    return now === "start" ? "model" : now
  }
  get hooks() {
    const { turn } = this
    const { chain } = turn.host
    return { has: chain.has, run: <P extends HookPointName>(point: P, event: In<P>) => chain.run(point, event, turn) }
  }
  get events() {
    const { turn } = this
    return { active: turn.listened, emit: (event: AgentEventBody) => turn.publish(event) }
  }
  get callModel() {
    return phase(() => callModel(this.turn))
  }
  get runTools() {
    return phase(() => runTools(this.turn))
  }
  keepGoing(text: string) {
    return phase(() => keepGoing(this.turn, text))
  }
  append(message: Message) {
    this.turn.messages.push(message)
  }
}

/** Turns every exit into an ending: the conversation valid, the state saved, the event sent. */
const ending = (turn: Turn, effect: Effect.Effect<TurnOutput, Failure>): Effect.Effect<RunResult, AgentError> =>
  Effect.onExit(
    Effect.matchCauseEffect(effect, {
      onSuccess: (output): Effect.Effect<RunResult, AgentError> => {
        turn.phase = "ended"
        if (turn.parent === undefined && turn.session.hasDurable) turn.session.durable.endTurn()
        const { finishReason, text } = output
        const { core } = turn.host
        const forUser = isAnswering(core) ? revealedJson(turn, text) : revealed(turn, text)
        return isAnswering(core)
          ? Effect.flatMap(
            forUser === text
              ? core.object(text)
              : Effect.mapError(core.object(forUser), (error) => discreet(error, text)),
            (object) =>
              done(
                turn,
                Object.assign(new Ending(turn, forUser), { status: "completed" as const, finishReason, object }),
                text
              )
          )
          : done(turn, Object.assign(new Ending(turn, forUser), { status: "completed" as const, finishReason }), text)
      },
      onFailure: (cause): Effect.Effect<RunResult, AgentError> => {
        const error = Cause.squash(cause)
        if (isEnded(error)) {
          return done(turn, endOf(turn, error.end))
        }
        turn.closeStep("not run: the turn failed")
        turn.phase = "ended"
        if (Cause.hasDies(cause)) {
          return died(turn, cause)
        }
        return Effect.failCause(cause as Cause.Cause<AgentError>)
      }
    }),
    (exit) => {
      if (Exit.isFailure(exit) && !turn.expired) {
        turn.closeStep("cancelled before it ended; its outcome is unknown")
        turn.phase = "ended"
        const status = Cause.hasInterruptsOnly(exit.cause) ? "cancelled" : "failed"
        turn.publish({ type: "turn-end", status, text: messageOf(Cause.squash(exit.cause)), usage: turn.usage })
        if (turn.parent === undefined) {
          return leave(turn, exit.cause)
        }
      }
      return Effect.void
    }
  )

/** What was written until a turn failed is kept, unless it was the store that failed. */
const leave = (turn: Turn, cause: Cause.Cause<AgentError>): Effect.Effect<void> => {
  if (turn.session.root.hasDurable) turn.session.durable.endTurn()
  const error = Cause.squash(cause)
  if (
    turn.host.config.store === undefined || turn.session.unsure ||
    (error instanceof PortFailed && error.port === "store")
  ) {
    return Effect.void
  }
  return Effect.catch(turn.save(), ({ message }) => Effect.sync(() => turn.warn(message, "runtime")))
}

/** The wall clock interrupted the turn: what was running has an unknown outcome, the rest can be resumed. */
const expired = (turn: Turn): Effect.Effect<RunResult, AgentError> => {
  const { wallClockMs: max } = turn.host.limits
  turn.publish({ type: "limit", limit: "wallClockMs", used: max, max })
  return done(turn, endOf(turn, { type: "limited", limit: "wallClockMs", used: max, max, text: "" }))
}

/** A class because its messages are copied only when somebody reads them. */
class Ending implements RunCommon {
  readonly sessionId: string
  readonly turnNumber: number
  readonly text: string
  readonly usage: Usage
  readonly steps: number
  readonly toolCalls: number
  readonly records: ReadonlyArray<HookRecord>
  private readonly log: ReadonlyArray<Message>
  private readonly length: number

  constructor(turn: Turn, text: string) {
    this.sessionId = turn.session.id
    this.turnNumber = turn.turnNumber
    this.text = text
    this.usage = turn.usage
    this.steps = turn.stepNumber
    this.toolCalls = turn.toolCalls
    this.records = turn.records
    this.log = turn.messages
    this.length = this.log.length
  }
  get messages(): ReadonlyArray<Message> {
    return this.log.slice(0, this.length)
  }
}

const endOf = (turn: Turn, end: TurnEnded["end"]): RunResult => {
  if (end.type === "aborted") {
    turn.closeStep(`not run: ${end.reason}`)
    turn.phase = "ended"
    if (turn.parent === undefined && turn.session.hasDurable) turn.session.durable.endTurn()
    return Object.assign(new Ending(turn, end.reason), { status: "aborted" as const, reason: end.reason, by: end.by })
  }
  turn.session.resumable = turn.turnNumber
  turn.session.parked = turn
  const snapshot = turn.snapshot()
  if (end.type === "suspended") {
    return Object.assign(new Ending(turn, ""), { status: "suspended" as const, pending: pendingOf(turn), snapshot })
  }
  return Object.assign(new Ending(turn, end.text), {
    status: "limited" as const,
    limit: end.limit,
    used: end.used,
    max: end.max,
    snapshot
  })
}

const done = (turn: Turn, result: RunResult, text = result.text): Effect.Effect<RunResult, AgentError> => {
  if (turn.listened) turn.publish({ type: "turn-end", status: result.status, text, usage: result.usage })
  const saved = turn.root.host.config.store === undefined ? Effect.void : turn.save()
  if (turn.parent !== undefined || !("snapshot" in result)) return Effect.as(saved, result)
  // Taken once the store has this state: whoever resumes it goes on from there.
  return Effect.andThen(
    saved,
    Effect.map(Effect.suspend(() => turn.sealed(turn.snapshot())), (snapshot) => Object.assign(result, { snapshot }))
  )
}
