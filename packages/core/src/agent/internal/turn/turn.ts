/** A turn while it runs: its agent, its session, its state, its I/O, and what hooks see of it. */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { type Message, whyInvalid } from "../../../data/Message.ts"
import type { Capabilities } from "../../../hook/HookContext.ts"
import type { RunResult } from "../../RunResult.ts"
import type { ResolvedAgent } from "../config/resolvedAgent.ts"
import type { SessionState } from "../session/sessionState.ts"
import { TurnIo } from "./turnIo.ts"
import { TurnScope } from "./turnScope.ts"
import * as TurnState from "./turnState.ts"

/** Functions of files that work with turns, given to every turn so that lower files can use them without a cycle. */
export interface TurnOperations {
  /** What hooks can do through `ctx` in this turn. */
  readonly capabilitiesOf: (turn: Turn) => Capabilities
  /** Runs a turn to one of its ends. */
  readonly runTurn: (turn: Turn, resumed: boolean) => Effect.Effect<RunResult, AgentError>
}

/** What a turn is made of. */
export interface TurnOptions {
  readonly agent: ResolvedAgent
  readonly session: SessionState
  readonly state: TurnState.TurnState
  readonly operations: TurnOperations
  /** The turn that delegated to this one. */
  readonly parent?: Turn | undefined
  /** Where this is a call that a hook makes: the turn in which the hook runs. */
  readonly hookTurn?: Turn
}

/** A class because one is made for every turn, and its operations are shared. */
export class Turn {
  readonly agent: ResolvedAgent
  /** A rotation continues the turn in another session. */
  session: SessionState
  readonly state: TurnState.TurnState
  readonly operations: TurnOperations
  readonly parent: Turn | undefined
  readonly hookTurn: Turn | undefined
  /** 0 for a turn of an agent, 1 for a call that a hook makes. */
  readonly depth: number
  readonly io: TurnIo
  readonly scope: TurnScope
  /** What this run of the turn, since it was started or resumed, has used of its limits. */
  readonly used = { steps: 0, toolCalls: 0, followUps: 0 }
  /** How full the model's window was when the hooks were last told, and whether an overflow was answered already. */
  readonly window = { level: "none" as "none" | "warn" | "exceeded", compactedForOverflow: false }
  /** Whether the wall clock has interrupted this run. */
  timedOut = false
  /** Whether the start of the session failed: the next turn starts it again. */
  sessionStartFailed = false
  private capabilitySet: Capabilities | undefined = undefined

  constructor(options: TurnOptions) {
    this.agent = options.agent
    this.session = options.session
    this.state = options.state
    this.operations = options.operations
    this.parent = options.parent
    this.hookTurn = options.hookTurn
    this.depth = options.hookTurn === undefined ? 0 : options.hookTurn.depth + 1
    this.io = new TurnIo(this)
    this.scope = new TurnScope(this)
  }

  /** The turn of the agent that the host started. */
  get root(): Turn {
    return this.parent === undefined ? this : this.parent.root
  }

  /** What hooks can do through `ctx`; built for the first hook that asks. */
  get capabilities(): Capabilities {
    return this.capabilitySet ??= this.operations.capabilitiesOf(this)
  }

  /** The conversation so far. */
  get messages(): Array<Message> {
    return this.session.messages
  }

  /** Whether hooks can answer at this point: building an event is worth it only then. */
  hasHooks(point: Parameters<ResolvedAgent["chain"]["has"]>[0]): boolean {
    return this.agent.chain.has(point)
  }

  /** Replaces the history, when a provider would take the new one. */
  rewrite(messages: ReadonlyArray<Message>, by: string): void {
    const why = whyInvalid(messages)
    if (why !== undefined) return this.io.warn(`the new history was refused: ${why}`, by)
    this.session.replaceMessages(messages)
  }

  /** Moves the open step into the conversation; calls without a result get an error that says why. */
  closeStep(why: string): void {
    TurnState.closeStep(this.state, this.messages, why)
  }

  /** Continues in another session. */
  moveTo(next: SessionState): void {
    const { session } = this
    next.status = session.status
    next.stop = session.stop
    session.status = "closed"
    session.stop = undefined
    session.owner?.follow(next)
    this.session = next
  }
}
