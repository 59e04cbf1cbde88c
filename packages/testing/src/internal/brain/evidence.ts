import type { Json } from "@belay/core/Json"

/** The evidence for the arguments of a tool. */
export interface Evidence {
  /** The part of the task that requests the tool. */
  readonly clause: string
  readonly task: string
  /** Tool results so far, as text. */
  readonly results: ReadonlyArray<string>
  /** Arguments of the calls so far. */
  readonly used: ReadonlyArray<Json>
  /** Numbers of the clause that no property uses yet. */
  readonly numbers: Array<number>
}
