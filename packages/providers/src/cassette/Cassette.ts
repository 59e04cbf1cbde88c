/**
 * Records what an endpoint answers, byte for byte, and plays it back: a `fetch` for `OpenAiCompatible.make`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Player from "./internal/player.ts"

/** Whether to play back or to record. @category models @since 0.1.0 */
export type Mode = Player.Mode

/** How to open a cassette. @category models @since 0.1.0 */
export type Options = Player.Options

/** An open cassette. @category models @since 0.1.0 */
export type Cassette = Player.Cassette

/** Opens a cassette. Rejects when the file is missing in mode `replay`, or is none. @category running @since 0.1.0 */
export const open: (options: Options) => Promise<Cassette> = Player.open

/**
 * Opens a cassette that is saved when the scope closes; a file that cannot be read is a defect.
 *
 * @category running
 * @since 0.1.0
 */
export const scoped = (options: Options): Effect.Effect<Cassette, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(() => open(options)), (cassette) => Effect.promise(cassette.save))
