/** Step 9 of a tool call: runs the tool inside the hooks that wrap it. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { failure, type PreToolCallEvent, type ToolResult } from "../../../data/tool/Tool.ts"
import { type FailedWrap, wrapAct } from "../../../guard/internal/point/wrapAct.ts"
import type { RunningCall } from "../../../guard/internal/state/toolCallState.ts"
import { isTurnEnd } from "../../../guard/internal/state/turnEnd.ts"
import { resolve, toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { Turn } from "../running/turn.ts"
import { delegate } from "../subagent/delegate.ts"
import { CallContext } from "./callContext.ts"

type Failure = AgentError | TurnEnded

/** Runs the tool. Returns `waiting` if a sub-agent waits for a person. */
export const runTool = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> =>
  turn.agent.toolWrappers.length === 0 ? act(turn, call, event) : actInWrappers(turn, call, event)

/** The placeholder result of a sub-agent that waits for a person. Wrappers return it like any other result. */
export const waiting: ToolResult = Object.freeze(failure("waits for a person's decision"))

/** Runs the function of the tool, or the agent to which it delegates. */
const act = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
  const { delegates, dispatcher, limits } = turn.agent
  const to = turn.depth > 0 ? undefined : delegates.get(event.name)
  if (to === undefined) {
    const context = new CallContext(turn, event, event.grant.timeoutMs ?? limits.toolMs)
    return dispatcher.dispatch(event, event.grant, context)
  }
  return Effect.map(
    toEffect(() => delegate(turn, call, event, to)),
    (result) => result === "waits" ? waiting : result
  )
}

/** A wrapper may call the tool later, twice or never. If the wrapper fails, the model reads its error as the result. */
const actInWrappers = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
  const isApproved = (value: PreToolCallEvent) => value === event || isSame(value, event)
  const surrounded = wrapAct<PreToolCallEvent, ToolResult>({
    turn,
    method: "wrapToolCall",
    hooks: turn.agent.toolWrappers,
    isApproved,
    failed: failedWrap,
    act: (value, isRevealed) => {
      if (isApproved(value)) return act(turn, call, event)
      return isRevealed ? actOnRevealed(turn, call, event, value.args) : Effect.succeed(changedInWrapper)
    }
  })
  return Effect.catch(
    surrounded(event),
    (error) => isTurnEnd(error) ? Effect.fail(error) : Effect.succeed(failure(messageOf(error)))
  )
}

const isSame = (value: PreToolCallEvent, event: PreToolCallEvent): boolean =>
  value.id === event.id && fingerprint(value.name, value.args) === fingerprint(event.name, event.args)

const changedInWrapper: ToolResult = failure(
  "a hook changed the call in wrapToolCall, where it is not checked: change it at preToolCall"
)

const failedWrap: FailedWrap<ToolResult> = {
  broken: (hook, message) => Effect.succeed(failure(`hook ${hook} failed at wrapToolCall: ${message}`)),
  refused: (_hook, { reason }) => Effect.succeed(failure(reason))
}

/** Runs the tool with the arguments into which a confidential hook changed the approved ones. */
const actOnRevealed = (
  turn: Turn,
  call: RunningCall,
  event: PreToolCallEvent,
  args: Json
): Effect.Effect<ToolResult, Failure> => {
  // Another agent receives the approved arguments; no secrets are revealed to it.
  if (turn.agent.delegates.has(event.name) && turn.depth === 0) return act(turn, call, event)
  return toEffect(function*() {
    const read = yield* resolve(turn.agent.dispatcher.decode(event.tool, args))
    // The schema's own message could quote the arguments.
    if (!read.ok) return failure("the revealed arguments do not fit the tool's schema")
    return yield* act(turn, call, { ...event, args: read.args })
  })
}
