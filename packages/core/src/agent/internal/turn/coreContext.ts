/** The context of a core: model, tools and hooks, bound to one turn. */
import type { AgentError } from "../../../data/AgentError.ts"
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import type { Message } from "../../../data/Message.ts"
import { askBeforeStop } from "../../../guard/internal/point/beforeStop.ts"
import { openStep } from "../../../guard/internal/state/turnState.ts"
import { type Step, toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { HookPointName, In } from "../../../hook/HookPoint.ts"
import type { AgentContext } from "../../AgentContext.ts"
import { callModel } from "../model/callModel.ts"
import { deliverSteers } from "../model/steer.ts"
import { reachLimit } from "../running/reachLimit.ts"
import type { Turn } from "../running/turn.ts"
import { nextAnswer } from "../subagent/background.ts"
import { askPostStep, historyOf, runTools } from "../tool/runTools.ts"

/** A class, because every turn makes one, and each part is built only when a core uses it. */
export class CoreContext implements AgentContext {
  private readonly turn: Turn
  private modelStep: AgentContext["callModel"] | undefined = undefined
  private toolStep: AgentContext["runTools"] | undefined = undefined

  constructor(turn: Turn) {
    this.turn = turn
  }
  get sessionId() {
    return this.turn.session.id
  }
  get provider() {
    return this.turn.agent.providers[0]
  }
  get tools() {
    return this.turn.agent.dispatcher
  }
  get memory() {
    return this.turn.agent.memory
  }
  get policy() {
    return this.turn.agent.policy
  }
  get config() {
    return this.turn.agent.config
  }
  get messages() {
    return this.turn.messages.slice()
  }
  get phase() {
    const { phase } = this.turn.state
    return phase === "start" ? "model" : phase
  }
  get hooks() {
    const { agent: { chain }, scope } = this.turn
    return { has: chain.has, run: <P extends HookPointName>(point: P, event: In<P>) => chain.run(point, event, scope) }
  }
  get events() {
    const { io } = this.turn
    return { active: io.hasListeners, emit: (event: AgentEventBody) => io.publish(event) }
  }
  get callModel() {
    return this.modelStep ??= toEffect(() => callModel(this.turn))
  }
  get runTools() {
    return this.toolStep ??= toEffect(() => runTools(this.turn))
  }
  keepGoing(text: string) {
    return toEffect(() => keepGoing(this.turn, text))
  }
  append(message: Message) {
    this.turn.messages.push(message)
  }
}

/** Runs the `preStop` hooks. Returns true if a hook gave a follow-up, so that the turn continues. */
const keepGoing = function*(turn: Turn, text: string): Step<boolean, AgentError | TurnEnded> {
  const next = turn.background === undefined ? undefined : yield* nextAnswer(turn)
  if (next !== undefined) {
    openStep(turn.state, { role: "assistant", content: "", toolCalls: [next] }, [next])
    yield* runTools(turn)
    return true
  }
  const { io, scope, state, used } = turn
  if (turn.hasHooks("postStep")) yield* askPostStep(turn)
  const hasSteers = turn.session.owner !== undefined && turn.session.owner.steers.length > 0
  if (hasSteers && (yield* deliverSteers(turn)) > 0) return true
  if (!turn.hasHooks("preStop")) return false
  const { followUp: message, rewritten } = yield* askBeforeStop(turn, {
    text,
    followUps: state.followUps,
    ...historyOf(turn)
  })
  if (rewritten !== undefined) turn.rewrite(rewritten.messages, rewritten.by)
  if (message === undefined) return false
  const { followUps: max } = turn.agent.limits
  if (used.followUps >= max) {
    // A resumed run continues from here, so the model then reads the follow-up.
    scope.inject(message, undefined, "follow-up")
    return yield* reachLimit(turn, "followUps", used.followUps, max, text)
  }
  used.followUps++
  state.followUps++
  io.publish({ type: "follow-up", message, count: state.followUps })
  turn.messages.push({ role: "user", content: message, source: "follow-up" })
  return true
}
