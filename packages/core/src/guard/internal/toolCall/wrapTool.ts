/** Runs a tool inside the hooks that wrap it. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { failure, type PreToolCallEvent, type ToolResult } from "../../../data/tool/Tool.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { type FailedWrap, wrapAct } from "../point/wrapAct.ts"
import { isTurnEnd } from "../state/turnEnd.ts"
import { resolve, toEffect } from "../state/yieldable.ts"

type Failure = AgentError | TurnEnded

/** A tool that may run. */
export interface WrappedTool {
  readonly event: PreToolCallEvent
  /** Runs the tool with the arguments of an event. */
  readonly act: (event: PreToolCallEvent) => Effect.Effect<ToolResult, Failure>
  /** Whether another agent receives the arguments, so that nothing confidential is revealed in them. */
  readonly isForAgent: boolean
}

/** A wrapper may call the tool later, twice or never. If the wrapper fails, the model reads its error as the result. */
export const wrapTool = (turn: GuardTurn, tool: WrappedTool): Effect.Effect<ToolResult, Failure> => {
  const { act, event } = tool
  const isApproved = (value: PreToolCallEvent) => value === event || isSame(value, event)
  const surrounded = wrapAct<PreToolCallEvent, ToolResult>({
    turn,
    method: "wrapToolCall",
    hooks: turn.agent.toolWrappers,
    isApproved,
    failed: failedWrap,
    act: (value, isRevealed) => {
      if (isApproved(value)) return act(event)
      return isRevealed ? actOnRevealed(turn, tool, value.args) : Effect.succeed(changedInWrapper)
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
  turn: GuardTurn,
  { act, event, isForAgent }: WrappedTool,
  args: Json
): Effect.Effect<ToolResult, Failure> =>
  isForAgent ? act(event) : toEffect(function*() {
    const read = yield* resolve(turn.agent.dispatcher.decode(event.tool, args))
    // The schema's own message could quote the arguments.
    if (!read.ok) return failure("the revealed arguments do not fit the tool's schema")
    return yield* act({ ...event, args: read.args })
  })
