/**
 * Agents in the background of a turn: they work while their lead agent goes on. The turn does not end before the lead
 * agent has read their answers.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { type AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { digest } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { failure, success, type ToolResult } from "../../../data/tool/Tool.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { addSpent } from "../../../guard/internal/state/spent.ts"
import type { SubAgentRun } from "../../../guard/internal/state/subAgentRun.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import { awaitName } from "../definition/backgroundTools.ts"
import { type BackgroundAgent, BackgroundAgents, type EndedTurn, Messages } from "../running/backgroundAgents.ts"
import type { BackgroundTurn } from "../running/turnParts.ts"

/** Whether this turn can have agents in the background: only that of the agent that the host started. */
export const hasBackground = ({ depth, parent }: BackgroundTurn): boolean => parent === undefined && depth === 0

/** Lets a sub-agent work in the background. It was started by this process or by an earlier one. */
export const startInBackground = (
  turn: BackgroundTurn,
  about: Pick<BackgroundAgent, "tool" | "message"> & { readonly id?: string },
  { run, session, sub }: {
    readonly sub: SubAgentRun
    readonly session: SessionState
    readonly run: Effect.Effect<EndedTurn, AgentError>
  }
): BackgroundAgent => {
  const all = turn.background ??= new BackgroundAgents()
  const { id = all.newId(), message, tool } = about
  const messages = new Messages()
  session.owner = messages
  const fiber = Effect.runForkWith(turn.io.services ?? Context.empty())(run)
  const agent: BackgroundAgent = { id, tool, message, work: { sub, fiber, messages }, isAwaited: false }
  all.agents.set(id, agent)
  fiber.addObserver((exit) => {
    // The call that waits for it ends the turn otherwise.
    if (Exit.isSuccess(exit) && exit.value.status === "aborted" && !agent.isAwaited) turn.abort(exit.value)
    // Messages that came too late.
    for (const steer of messages.steers) messages.settleSteer(steer, { type: "notRunning" })
  })
  return agent
}

export const startedText = ({ id }: BackgroundAgent): string =>
  `It works in the background as ${id}. You get its answer before you finish, or with ${awaitName}.`

/** Returns the agent with the id of the arguments, or why there is none. */
export const backgroundAgent = ({ background }: BackgroundTurn, args: Json): BackgroundAgent | string => {
  const id = typeof args === "object" && args !== null && "id" in args ? args.id : undefined
  const found = typeof id === "string" ? background?.agents.get(id) : undefined
  if (found !== undefined && !found.isAwaited) return found
  const ids = background?.open.map((one) => one.id).join(", ") ?? ""
  return `no agent works in the background as ${JSON.stringify(id)}: ${
    ids === "" ? "there is none" : `there are ${ids}`
  }`
}

/** Runs `message_agent`. */
export const messageAgent = (turn: BackgroundTurn, args: Json): Effect.Effect<ToolResult> => {
  const agent = backgroundAgent(turn, args)
  if (typeof agent === "string") return Effect.succeed(failure(agent))
  if (agent.work === undefined) return Effect.succeed(failure(`${agent.id} is gone: start it again`))
  const { fiber, messages } = agent.work
  const message = typeof args === "object" && args !== null && "message" in args ? args.message : ""
  const ended = () => {
    const exit = fiber.pollUnsafe()
    return failure(
      exit === undefined || Exit.isFailure(exit) || exit.value.status !== "suspended"
        ? `${agent.id} has finished: read its answer with ${awaitName}`
        : `${agent.id} waits for a person and reads no messages until then`
    )
  }
  if (fiber.pollUnsafe() !== undefined) return Effect.succeed(ended())
  return Effect.callback<ToolResult>((resume) =>
    messages.send(
      { message: typeof message === "string" ? message : JSON.stringify(message) },
      (outcome) => resume(Effect.succeed(outcome.type === "delivered" ? success("delivered") : ended()))
    )
  )
}

/** Runs `cancel_agent`. */
export const cancelAgent = (turn: BackgroundTurn, args: Json): Effect.Effect<ToolResult> => {
  const agent = backgroundAgent(turn, args)
  if (typeof agent === "string") return Effect.succeed(failure(agent))
  if (agent.work === undefined) return Effect.succeed(failure(`${agent.id} is gone: start it again`))
  const { fiber, sub } = agent.work
  return Effect.gen(function*() {
    yield* Fiber.interrupt(fiber)
    addSpent(turn.state, sub.spent())
    turn.background?.agents.delete(agent.id)
    yield* sub.shutDown
    return success(`${agent.id} was cancelled`)
  })
}

/**
 * Waits until one of the agents has finished or waits itself. Returns the call with which the lead agent reads it, or
 * nothing if there is none.
 */
export const nextAnswer = function*(turn: BackgroundTurn): Step<ToolCall | undefined, AgentError> {
  const open = unread(turn)
  if (open.length === 0) return undefined
  const settled = yield* Effect.raceAll(open.map((one) => Effect.as(Fiber.await(one.work!.fiber), one)))
  return callFor(turn, settled)
}

/** The calls with which the lead agent reads those that do not work any more. */
export const settledAnswers = (turn: BackgroundTurn): ReadonlyArray<ToolCall> =>
  unread(turn).flatMap((one) => one.work?.fiber.pollUnsafe() === undefined ? [] : [callFor(turn, one)])

/** The agents that the runtime may read. A hook or a limit may have stopped a call for one of them in this step. */
const unread = (turn: BackgroundTurn): ReadonlyArray<BackgroundAgent> =>
  (turn.background?.open ?? []).filter((one) => {
    const id = idFor(turn, one)
    return one.work !== undefined && turn.state.calls.every(({ state: { call } }) => call.id !== id)
  })

const callFor = (turn: BackgroundTurn, agent: BackgroundAgent): ToolCall => {
  const id = idFor(turn, agent)
  turn.session.ids.add(id)
  return { id, name: awaitName, args: { id: agent.id } }
}

/** Each step reads an agent at most once. The id stays the same when the step is repeated. */
const idFor = ({ session, state }: BackgroundTurn, { id }: BackgroundAgent): string =>
  `await_${digest([session.id, state.turnNumber, state.stepNumber, id])}`

/** Waits until none of them works: each has finished, waits for a person, or was parked. */
export const settleBackground = (turn: BackgroundTurn): Effect.Effect<void> =>
  Effect.forEach(
    turn.background?.open ?? [],
    ({ work }) => work === undefined ? Effect.void : Fiber.await(work.fiber),
    {
      concurrency: "unbounded",
      discard: true
    }
  )

/**
 * Stops them, also those that a call waits for. What they had done until now is stored with the turn, if it can be
 * resumed.
 */
export const stopBackground = (turn: BackgroundTurn): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { background } = turn
    if (background === undefined || background.agents.size === 0) return Effect.void
    background.freeze(turn.session.root.durable.turn)
    return Effect.forEach(background.agents.values(), ({ work }) =>
      work === undefined ? Effect.void : Fiber.interrupt(work.fiber), {
      concurrency: "unbounded",
      discard: true
    })
  })

/** Whether an agent was cancelled while somebody waited for it. */
export const wasCancelled = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
