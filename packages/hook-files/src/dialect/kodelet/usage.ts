/** Counts the steps and tokens of an agent for the input of executables. */
import type { HookContext } from "@belay/core/HookContext"
import type { PostStepEvent } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import type { JsonObject } from "@belay/core/Json"
import * as Schema from "effect/Schema"

const Tokens = Schema.Struct({ input: Schema.Finite, output: Schema.Finite })
const Counts = Schema.Struct({ turn: Schema.Finite, steps: Schema.Finite, before: Tokens, now: Tokens })

export interface Usage {
  readonly steps: number
  readonly usage: JsonObject
  /** The share of the context window that is used. 0 if the size of the window is unknown. */
  readonly share: number
}

type Counted = Pick<PostStepEvent, "budget" | "usage">

/** Returns a function that counts a step if `isStep` is true, and returns the current counts. */
export const make = (name: string) => {
  const none = { input: 0, output: 0 }
  const counts = HookState.key(`${name}/counts`, Counts, { turn: 0, steps: 0, before: none, now: none })
  return ({ budget, usage: { inputTokens, outputTokens } }: Counted, ctx: HookContext, isStep: boolean): Usage => {
    const { before, now, steps } = ctx.local.update(counts, (old) => ({
      turn: ctx.turnNumber,
      steps: old.steps + (isStep ? 1 : 0),
      before: old.turn === ctx.turnNumber
        ? old.before
        : { input: old.before.input + old.now.input, output: old.before.output + old.now.output },
      now: { input: inputTokens, output: outputTokens }
    }))
    const { usedTokens, windowTokens } = budget
    return {
      steps,
      usage: {
        input_tokens: before.input + now.input,
        output_tokens: before.output + now.output,
        current_context_window: usedTokens,
        max_context_window: windowTokens
      },
      share: windowTokens > 0 ? usedTokens / windowTokens : 0
    }
  }
}
