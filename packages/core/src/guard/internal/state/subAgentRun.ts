/** A running sub-agent, for the call that started it. */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Message } from "../../../data/Message.ts"
import type { Decision, PendingAsk, RunState } from "../../../data/RunState.ts"
import type { RunResult } from "../../RunResult.ts"
import type { Spent } from "./costMeter.ts"

/** The turn of a sub-agent. */
export interface SubAgentRun {
  /** Starts its turn, or resumes it. */
  readonly run: (resumed: boolean) => Effect.Effect<RunResult, AgentError>
  /** Its open questions to people. */
  readonly pending: () => ReadonlyArray<PendingAsk>
  /** Passes decisions of people to it, by the ids of its own calls. */
  readonly decide: (decisions: { readonly [callId: string]: Decision }) => Effect.Effect<void, AgentError>
  /** Its state as JSON. */
  readonly snapshot: () => RunState
  /** Its conversation so far. */
  readonly messages: () => ReadonlyArray<Message>
  /** What it and its own sub-agents have spent so far. */
  readonly spent: () => Spent
  /** Shuts its core down after its work is done. */
  readonly shutDown: Effect.Effect<void>
}
