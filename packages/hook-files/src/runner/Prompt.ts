/**
 * Asks a model one question about an event. The result has the form of a command's result.
 *
 * @since 0.1.0
 */
import type { HookContext, SideRequest } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Finished } from "../process/Command.ts"
import { asking, duty, verdictOf } from "./internal/judge.ts"
import { broke, type Ended, said, within } from "./internal/within.ts"

/** The question. @category models @since 0.1.0 */
export interface Request {
  /** `$ARGUMENTS` is replaced by the event. Without it, the event follows the prompt. */
  readonly prompt: string
  readonly event: JsonObject
  /** Default: the model of the agent. */
  readonly model?: string
  /** Timeout for the answer, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * Asks the model once. Its answer, `{ "ok": boolean, "reason"?, "impossible"? }`, becomes standard output with exit
 * code 0. Another answer, or none, becomes exit code 1. The event is marked as data in the prompt. Only hooks that
 * watch all calls run around this call. It never fails.
 *
 * @example
 * ```ts
 * import type { HookContext } from "@belay/core/HookContext"
 * import * as Prompt from "@belay/hook-files/Prompt"
 *
 * const judge = (ctx: HookContext) =>
 *   Prompt.run({ prompt: "Is this command harmless? $ARGUMENTS", event: { command: "ls" }, timeoutMs: 30_000 }, ctx)
 * ```
 * @category running
 * @since 0.1.0
 */
export const run = (
  { event, model, prompt, timeoutMs }: Request,
  ctx: { readonly llm: (request: SideRequest) => ReturnType<HookContext["llm"]> }
): Effect.Effect<Finished> =>
  within(
    timeoutMs,
    Effect.suspend(() =>
      Effect.map(
        ctx.llm({ prompt: asking(prompt, event), instructions, ...(model === undefined ? {} : { model }) }),
        ({ text }): Ended =>
          Result.match(Result.flatMap(parse(text), verdictOf), {
            onSuccess: (verdict) => said(JSON.stringify(verdict)),
            onFailure: (why) => broke(`the model's answer cannot be read: ${why}`)
          })
      )
    )
  )

const instructions = `${duty}\n\nAnswer with one JSON object and nothing else: {"ok": true} ` +
  `when what is asked for holds, {"ok": false, "reason": "..."} when it does not. ` +
  `Add "impossible": true when it can never hold, whatever the agent does.`

/** Models put a code fence around JSON even if the instructions forbid it. */
const parse = (text: string): Result.Result<unknown, string> => {
  const bare = text.trim()
  const inside = /^```(?:json)?\s*\n([^]*?)\n?\s*```$/i.exec(bare)?.[1] ?? bare
  return inside.length > 100_000
    ? Result.fail("it is too long")
    : Result.mapError(Result.try((): unknown => JSON.parse(inside)), () => "it is not JSON")
}
