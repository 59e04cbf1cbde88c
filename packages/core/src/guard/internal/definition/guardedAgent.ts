/** An agent as its guard sees it: the hooks, the policy and the tools, without models and without a loop. */
import type * as Effect from "effect/Effect"
import type { Decision, PendingAsk } from "../../../data/RunState.ts"
import type { ArgumentChange, ToolMeta } from "../../../data/tool/Tool.ts"
import type { AskOptions } from "../../../hook/HookAction.ts"
import type { AgentInfo } from "../../../hook/HookContext.ts"
import type { ArtifactStore } from "../../../port/ArtifactStore.ts"
import type { HttpClient } from "../../../port/HttpClient.ts"
import type { McpAccessor } from "../../../port/McpAccessor.ts"
import type { RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { ApprovalConfig } from "../../Approvals.ts"
import type { EventHub } from "../event/eventHub.ts"
import type { HookRoles } from "./hookRoles.ts"

/** The options of an agent that concern its guard. */
interface GuardConfig {
  readonly onAsk?: (
    ask: PendingAsk,
    options: AskOptions
  ) => Decision | PromiseLike<Decision> | Effect.Effect<Decision, unknown>
  readonly changeNote?: (change: ArgumentChange) => string | undefined
  readonly approvals?: ApprovalConfig
  readonly records?: boolean
  readonly store?: SessionStore
}

/** The parts of an agent that concern its guard. */
export interface GuardedAgent extends HookRoles {
  readonly config: GuardConfig
  readonly info: AgentInfo
  readonly core: { readonly coreType: string }
  readonly dispatcher: Pick<ToolDispatcher, "decode">
  readonly tools: ReadonlyMap<string, ToolMeta>
  /** The names of the tools that the sender of the message runs. Absent if there are none. */
  readonly clientTools?: ReadonlySet<string>
  readonly policy: RuntimePolicy | undefined
  readonly hub: EventHub
  /** Whether to deep-freeze the values that hooks receive. */
  readonly freeze: boolean
  readonly cwd: string
  /** The names that hooks have in the agents in which they stand, by the names that they have in this tree. */
  readonly hookNames: ReadonlyMap<string, string>
  readonly artifacts: ArtifactStore
  readonly http: HttpClient | undefined
  readonly mcp: McpAccessor | undefined
}
