/** Writes offloaded results as artifacts of the conversation, and removes old ones. */
import type { Artifact } from "@belay/core/Artifact"
import { until } from "@belay/core/Deadline"
import type { HookContext } from "@belay/core/HookContext"
import { digest } from "@belay/core/Json"
import * as Effect from "effect/Effect"

/** A part of a result that is stored. */
interface OffloadedPart {
  readonly text: string
  readonly mimeType: string
  readonly toolCallId: string
  /** Distinguishes the parts of one result. */
  readonly part: string
}

/** Milliseconds. This is less than the timeout of a hook, which would leave the result as it is. */
const writeTimeout = 10_000

/**
 * Writes a part. The key contains the turn, by which old artifacts are removed, and a digest of the call's id. The id
 * itself is not used, because the model chooses it.
 */
export const writeArtifact = (
  { mimeType, part, text, toolCallId }: OffloadedPart,
  ctx: HookContext
): Effect.Effect<Artifact, unknown> =>
  Effect.suspend(() => {
    const id = digest([ctx.hook, ctx.sessionId, ctx.turnNumber, toolCallId, part])
    const written = ctx.artifacts.write(`offload/t${ctx.root.turnNumber}-${id}`, text, { mimeType, toolCallId })
    let deadline: number | undefined
    return until(
      written,
      (now) => deadline ??= now + writeTimeout,
      () => Effect.fail("the store did not answer within 10 seconds")
    )
  })

/** Removes the artifacts that the hook wrote more than this number of turns ago. */
export const removeOldArtifacts = (turns: number, ctx: HookContext): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (const { by, key } of yield* ctx.artifacts.list()) {
      const turn = /^hook:offload\/t(\d+)-/.exec(key)?.[1]
      if (turn === undefined || by !== ctx.hook || ctx.root.turnNumber - Number(turn) <= turns) continue
      yield* ctx.artifacts.remove(key)
    }
  }).pipe(Effect.catch(({ message }) => Effect.sync(() => ctx.warn(`old results could not be removed: ${message}`))))
