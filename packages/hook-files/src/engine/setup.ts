/** What the engine needs for one hook of a system, beside the rules of its dialect. */
import type { Runners } from "../Runners.ts"

/** What one hook of a system is made of. */
export interface Setup<E> {
  /** The name of the hook. */
  readonly name: string
  /** The entries, in the order in which they count. The same array as before means that nothing has changed. */
  readonly entries: () => ReadonlyArray<E>
  readonly runners: Runners
  /** Says why an entry may not run now; undefined where it may. */
  readonly refuse?: ((entry: E) => string | undefined) | undefined
  /** Whether an entry that broke blocks where the dialect says that it guards something. */
  readonly blockOnError?: boolean
  /** Most bytes of output of a command. Default: the runner's. */
  readonly maxOutput?: number
  /** Milliseconds that background work may run after the end of its session. Default 5,000. */
  readonly drainMs?: number | undefined
  /** Receives the text with which an asynchronous entry wakes the agent. */
  readonly onWake?: ((sessionId: string, text: string) => void) | undefined
  /** The event under which an entry is looked up. Default: its `event`. */
  readonly eventOf?: (entry: E) => string
}
