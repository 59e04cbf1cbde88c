/**
 * Delegating work to another agent, and signals of the host.
 *
 * @since 0.1.0
 */
import type { Json } from "./Json.ts"
import type { Message } from "./Message.ts"

/** What a sub-agent will receive: the value of `preDelegation`. @category models @since 0.1.0 */
export interface Delegation {
  readonly agent: string
  readonly type: "delegate" | "transfer"
  readonly message: string
  readonly instructions?: string
  readonly context?: ReadonlyArray<Message>
  readonly metadata?: { readonly [key: string]: Json }
}

/** The result of a sub-agent. @category models @since 0.1.0 */
export interface DelegationResult {
  readonly text: string
}

/** A finished delegation: what `postDelegation` hooks receive. @category models @since 0.1.0 */
export interface PostDelegationEvent {
  readonly delegation: Delegation
  readonly result: DelegationResult
  /** False when a hook answered for the sub-agent (`Respond`). */
  readonly executed: boolean
}

/**
 * Something that happened in the host (a file changed, the directory changed, a task was created): what `onSignal`
 * hooks receive.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostSignal {
  readonly name: string
  readonly payload: Json
  /** Whether a `Reject` refuses the host's action. */
  readonly blockable: boolean
}

/** How the hooks answered a signal. @category models @since 0.1.0 */
export interface SignalAnswer {
  readonly allowed: boolean
  /** Why the host's action is refused. */
  readonly reason?: string
  /** The output of a hook that answered with `Respond`, such as the path of a new worktree. */
  readonly answer?: Json
}
