/** What is known about a session in the store. */
import type * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { PortFailed } from "../../../data/AgentError.ts"
import type { Message } from "../../../data/Message.ts"
import type { RunState } from "../../../data/RunState.ts"

/** A turn that can be saved again after its end. */
export interface StoredTurn {
  readonly io: {
    readonly commits: number
    readonly commitRest: Effect.Effect<void, PortFailed>
    readonly commitBefore: (send: () => void) => Effect.Effect<void, PortFailed>
  }
}

/** A class, because a session has one only if its agent has a store, and its fields change with each commit. */
export class SessionStorage {
  /** The messages that are in the store: the first `length` messages of the list `log`. */
  saved: { readonly log: ReadonlyArray<Message> | undefined; readonly length: number }
  /** The state of a commit that was interrupted. It is not known whether the store has it. */
  unknownCommit: Omit<RunState, "messages"> | undefined = undefined
  /** Whether the last turn failed because it could not be saved. In the store it can be resumed. */
  isBehind = false
  /** How many commits were requested, and how many of these requests are in the store. */
  requested = 0
  written = 0
  /** The turn that runs, or else the last one. Changes after its end are saved through it. */
  lastTurn: StoredTurn | undefined = undefined
  /** Allows one commit at a time. */
  readonly lock: Semaphore.Semaphore = Semaphore.makeUnsafe(1)

  constructor(log: ReadonlyArray<Message> | undefined) {
    this.saved = { log, length: log?.length ?? 0 }
  }
}
