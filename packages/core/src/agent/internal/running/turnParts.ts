/** What the parts of the loop use of a turn. Each takes the smallest of these, and only few files the whole `Turn`. */
import type { AgentError } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { LlmResponse } from "../../../data/LlmCall.ts"
import type { Message } from "../../../data/Message.ts"
import type { SideRequest } from "../../../data/SideRequest.ts"
import type { GuardTurn } from "../../../guard/internal/point/guardTurn.ts"
import type { Spent } from "../../../guard/internal/state/costMeter.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import type { TurnState } from "../../../guard/internal/state/turnState.ts"
import type { Aborted } from "../../../guard/RunResult.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import type { BackgroundAgents } from "./backgroundAgents.ts"

/** A turn of an agent that calls a model. */
export interface AgentTurn extends GuardTurn {
  agent: ResolvedAgent
  readonly root: AgentTurn
  /** The conversation so far. */
  readonly messages: Array<Message>
  /** What the turn and its sub-agents have spent so far. */
  readonly spent: Spent
}

/** A limit that was reached. */
export interface ReachedLimit {
  readonly limit: string
  readonly used: number
  readonly max: number
}

/** A turn whose limits count what it and its sub-agents do. */
export interface LimitedTurn extends AgentTurn {
  readonly parent: LimitedTurn | undefined
  /** The limit of this agent that it or one of its sub-agents has reached. The turn ends as soon as it can. */
  reached: ReachedLimit | undefined
  /** What the turn and its sub-agents have used of the limits. */
  readonly used: TurnState["used"]
}

/** The fraction of the window at which the `onBudget` hooks last ran, and whether an overflow was already handled. */
export interface WindowUse {
  level: "none" | "warn" | "exceeded"
  compactedForOverflow: boolean
}

/** A turn whose conversation is started, compacted and moved to another session. */
export interface WindowTurn extends AgentTurn {
  readonly window: WindowUse
  /** Whether the start of the session failed. The next turn then starts it again. */
  sessionStartFailed: boolean
  /** Replaces the history if the new one is valid for a provider. */
  rewrite(messages: ReadonlyArray<Message>, by: string): void
  /** Continues in another session. */
  moveTo(next: SessionState): void
}

/** A turn with agents that work in the background. */
export interface BackgroundTurn extends GuardTurn {
  background: BackgroundAgents | undefined
  /** Ends the turn now, because a hook aborted an agent in the background. */
  abort(end: Pick<Aborted, "by" | "reason">): void
}

/** A turn whose tools may ask a model. */
export interface ToolTurn extends AgentTurn {
  askModelForTool(request: SideRequest, tool: string): Awaitable<LlmResponse, AgentError>
}

/** A turn that calls a model. */
export interface ModelTurn extends LimitedTurn, WindowTurn {
  readonly parent: LimitedTurn | undefined
  /** Whether the turn of the host's agent has to stop at its next commit point. */
  readonly isParking: boolean
}
