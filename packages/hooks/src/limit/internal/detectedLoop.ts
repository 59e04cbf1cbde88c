/** The vocabulary of the loop detector: loops, and the measures against them. */
import type { Json } from "@belay/core/Json"

/** What is repeated. @category models @since 0.1.0 */
export type Kind = "calls" | "invalid-arguments" | "errors" | "text" | "compaction"

/**
 * A loop that was detected. It is the argument of `advice` and the payload of the event `loop`.
 *
 * @category models
 * @since 0.1.0
 */
export interface DetectedLoop {
  readonly kind: Kind
  /** The number of repetitions in a row, the last one included. */
  readonly count: number
  /** What is repeated: the name of the tool, or words such as `the same answer`. */
  readonly what: string
}

/**
 * The measures against a loop, each with the repetition at which it begins. `false` switches a measure off.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ladder {
  /** Warns the developer and emits the event `loop`. Default 2. */
  readonly observe?: number | false
  /** Gives the model advice. Default 3. */
  readonly steer?: number | false
  /** Asks or notifies a person. Default 4. */
  readonly escalate?: number | false
  /** Blocks the call. Default 5. */
  readonly block?: number | false
  /** Ends the turn. Default 8. */
  readonly stop?: number | false
}

/** Which calls of a tool are the same, by the name of the tool. @category models @since 0.1.0 */
export type LoopKeys = {
  readonly [tool: string]: false | ReadonlyArray<string> | ((args: Json) => Json)
}
