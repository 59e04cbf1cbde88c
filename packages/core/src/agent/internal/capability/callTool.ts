/** `ctx.callTool`: runs a tool of the agent for a hook. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { failure, type ToolResult } from "../../../data/tool/Tool.ts"
import { awaitable } from "../../../guard/internal/capability/runPromise.ts"
import type { Turn } from "../running/turn.ts"
import { runToolForHook } from "../tool/runToolCall.ts"
import { hookCall } from "./hookCall.ts"

export const callTool = (turn: Turn, call: ToolCall, hook: string): Awaitable<ToolResult, AgentError> =>
  awaitable(turn, runForHook(turn, call, hook))

const runForHook = (turn: Turn, call: ToolCall, hook: string): Effect.Effect<ToolResult, AgentError> => {
  const { name } = call
  if (turn.agent.delegates.has(name)) {
    return Effect.succeed(failure(`${name} delegates to another agent, which a hook cannot do`))
  }
  return hookCall(turn, { hook, method: "callTool" }, (side) =>
    Effect.gen(function*() {
      const result = yield* runToolForHook(side, call)
      return result === "waits" ? failure(`${name} needs a person's approval, which a hook cannot ask for`) : result
    }))
}
