/**
 * Records the answers of an endpoint byte by byte and replays them. It is a `fetch` function for
 * `OpenAiCompatible.make`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Player from "./internal/player.ts"

/** Whether to replay or to record. @category models @since 0.1.0 */
export type Mode = Player.Mode

/** Options of `open`. @category models @since 0.1.0 */
export type Options = Player.Options

/** An open cassette. @category models @since 0.1.0 */
export type Cassette = Player.Cassette

/**
 * Opens a cassette. Rejects if the file is not a cassette, or is missing in the mode `replay`.
 *
 * @category running
 * @since 0.1.0
 */
export const open: (options: Options) => Promise<Cassette> = Player.open

/**
 * Opens a cassette that is saved when the scope closes. A file that cannot be read is a defect.
 *
 * @category running
 * @since 0.1.0
 */
export const scoped = (options: Options): Effect.Effect<Cassette, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(() => open(options)), (cassette) => Effect.promise(cassette.save))
