import type { Json } from "@belay/core/Json"

/** What arguments are filled from. */
export interface Evidence {
  /** The part of the task that asks for this. */
  readonly clause: string
  readonly task: string
  /** Tool results so far, as text. */
  readonly results: ReadonlyArray<string>
  /** Arguments of the calls so far. */
  readonly used: ReadonlyArray<Json>
  /** Numbers of the clause that no property has taken yet. */
  readonly numbers: Array<number>
}
