/**
 * The default core. It calls the model and runs the tools that the model asks for, until the model asks for none.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { TurnEnded } from "../guard/TurnEnded.ts"
import type { AgentContext } from "./AgentContext.ts"
import type { AgentCore, CoreOutput } from "./AgentCore.ts"

const runTurn = Effect.fnUntraced(
  function*(_input: unknown, ctx: AgentContext): Effect.fn.Return<CoreOutput, AgentError | TurnEnded> {
    if (ctx.phase === "tools") {
      const taken = yield* ctx.runTools
      if (taken !== undefined) return taken
    }
    while (true) {
      const { finishReason, text, toolCalls } = yield* ctx.callModel
      if (toolCalls.length > 0) {
        const taken = yield* ctx.runTools
        if (taken !== undefined) return taken
      } else if (!(yield* ctx.keepGoing(text))) return { text, finishReason }
    }
  }
)

/** Makes the tool loop. @category constructors @since 0.1.0 */
export const make = (): AgentCore => ({ coreType: "tool-loop", runTurn })
