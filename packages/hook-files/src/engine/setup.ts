/** The options of an engine, in addition to the rules of its dialect. */
import type { HookContext } from "@belay/core/HookContext"
import type { Runners } from "../runner/Runners.ts"
import type { Refuse } from "./refusal.ts"

/** An entry that failed without blocking, and why. */
export interface Failed<E> {
  readonly entry: E
  readonly outcome: "nonBlockingError" | "cancelled"
  readonly problem: string
}

/** The options of an engine for one hook. */
export interface Setup<E> {
  /** The name of the hook, which is also part of the keys of its state. */
  readonly name: string
  /**
   * Returns the entries, in the order in which their answers are merged. If nothing has changed, it must return the
   * same array as before.
   */
  readonly entries: () => ReadonlyArray<E>
  readonly runners: Runners
  /** Returns the reason why an entry may not run now, or undefined if it may run. */
  readonly refuse?: Refuse<E> | undefined
  /** Whether an entry that broke blocks, if the dialect says that it can block. Default false. */
  readonly blockOnError?: boolean
  /**
   * The most bytes that are read from a command's standard output, and from its standard error. Default: the limit of
   * `runners`.
   */
  readonly maxOutput?: number
  /** How long background work may run after its session has ended, in milliseconds. Default 5,000. */
  readonly drainMs?: number | undefined
  /** Called with the text with which an asynchronous entry wakes the agent. */
  readonly onWake?: ((sessionId: string, text: string) => void) | undefined
  /** Called for every entry that fails or times out without blocking, also if nobody waits for it. */
  readonly onFailed?: ((failed: Failed<E>, ctx: HookContext) => void) | undefined
  /** Returns the event at which an entry runs, if that is not its `event`. */
  readonly eventOf?: (entry: E) => string
}
