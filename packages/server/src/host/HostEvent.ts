/**
 * The events of hosted sessions, numbered so that a reader can continue where it stopped.
 *
 * @since 0.1.0
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type * as Stream from "effect/Stream"
import type { HostError } from "./HostError.ts"

/** An event of a turn, or of a sub-agent that works for it. @category models @since 0.1.0 */
export interface HostEvent {
  /**
   * Its place in the session: pass it as `after` to get what follows, in any process. Later events have ids that are
   * greater as texts.
   */
  readonly id: string
  /**
   * What happened. Deltas of one text that were written by another process may arrive as one longer delta. In a
   * `turn-start` with `resumed: true`, a process continues a turn that another one has left.
   */
  readonly event: AgentEvent
  /** The key of the message whose turn it is. Absent if the message did not come through the host. */
  readonly key?: string
  /**
   * Set if events before this one are missing: they belong to an earlier turn, they could not be stored, or the reader
   * was too slow for a host without an event log. Discard what was shown of unfinished turns.
   */
  readonly missed?: true
}

/** Events as they happen, for `for await`, and as a Stream of Effect. @category models @since 0.1.0 */
export interface HostEvents extends Stream.Stream<HostEvent, HostError>, AsyncIterable<HostEvent> {}

/** Options of `events`. @category models @since 0.1.0 */
export interface EventOptions {
  /**
   * The id of the last event that is known. Default: the events begin with the turn that runs, or else the last one.
   */
  readonly after?: string
  /** Ends the events. They have no other end. */
  readonly signal?: AbortSignal
}
