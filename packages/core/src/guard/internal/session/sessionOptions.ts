/** What all sessions of a guard share. */
import * as Context from "effect/Context"

/** What all sessions of a guard share. */
export interface SessionOptions {
  /** Where log lines go. */
  readonly logging: Context.Context<never>
  readonly followUps: number
  readonly forget: (id: string) => void
}
