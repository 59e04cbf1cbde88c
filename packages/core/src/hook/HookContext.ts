/**
 * What a hook knows and may do besides answering. One scope is built per turn; a hook's context is a thin view of it.
 *
 * @since 0.1.0
 */
import type { Json } from "../data/Json.ts"
import type { HookFailure, HookRecord } from "./HookRecord.ts"
import type * as HookState from "./HookState.ts"

/** The agent a hook runs for. @category models @since 0.1.0 */
export interface AgentInfo {
  readonly name: string
  /** 0 for the agent the host started, 1 for its sub-agents, and so on. */
  readonly depth: number
  readonly invokedBy: "main" | "subagent"
}

/** How injected text reaches the model. @category models @since 0.1.0 */
export interface InjectOptions {
  /** Injections with the same key replace each other (`mode: "overwrite"`) or are both kept (`"append"`, the default). */
  readonly key?: string
  readonly mode?: "append" | "overwrite"
  /** Survives compaction. */
  readonly pinned?: boolean
}

/** What the chain decided, for observers. @category models @since 0.1.0 */
export interface ObservedOutcome {
  readonly action: HookRecord["action"]
  readonly reason?: string
  readonly decidedBy?: string
}

/** The second argument of every hook method. @category models @since 0.1.0 */
export interface HookContext {
  readonly sessionId: string
  /** User messages so far in this session, from 1. 0 outside a turn. */
  readonly turnNumber: number
  /** LLM calls so far in this turn, from 1. 0 before the first. */
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal
  readonly events: EventSender
  readonly state: Pick<HookState.HookState, "get" | "set" | "update">
  /** For observers: what the chain decided. */
  readonly outcome: ObservedOutcome | undefined
  /**
   * Has the model read `text` before its next answer, once, as a message of its own that names this hook.
   * At most 10,000 characters; longer text is cut and says so.
   */
  readonly inject: (text: string, options?: InjectOptions) => void
  /** Tells the developer: an event and a log line. */
  readonly warn: (message: string) => void
  /** Tells the user: an event. */
  readonly notifyUser: (message: string) => void
  /** At `preStop`: keeps the agent going with this message. */
  readonly followUp: (message: string) => void
}

/** Sends events of one's own to whoever listens. @category models @since 0.1.0 */
export interface EventSender {
  /** Whether anybody listens: build a costly payload only then. */
  readonly active: boolean
  readonly emit: (name: string, payload: Json) => void
}

/** What the runtime lends to the chain for one turn. @category models @since 0.1.0 */
export interface HookScope {
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  readonly signal: AbortSignal
  readonly state: HookState.Store
  /** One context a hook, filled by the chain; start with an empty array. */
  readonly contexts: Array<HookContext | undefined>
  /** Deep-freeze what hooks receive. */
  readonly freeze: boolean
  readonly active: () => boolean
  readonly emit: (name: string, payload: Json, hook: string) => void
  readonly inject: (text: string, options: InjectOptions | undefined, hook: string) => void
  readonly warn: (message: string, hook: string) => void
  readonly notifyUser: (message: string, hook: string) => void
  readonly followUp: (message: string, hook: string) => void
  /** Receives every record; absent when nobody wants them. */
  readonly onRecord?: ((record: HookRecord) => void) | undefined
  readonly onFailure: (failure: HookFailure) => void
  /** A hook settled, or wrote, after its timeout. */
  readonly onLate: (hook: string, what: string) => void
}
