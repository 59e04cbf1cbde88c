/** The state of a session in the runtime: its messages, the state of its hooks, and the running turn. */
import type * as Effect from "effect/Effect"
import type { PortFailed } from "../../../data/AgentError.ts"
import type { Message } from "../../../data/Message.ts"
import { defined } from "../../../data/option/Fields.ts"
import type { Injection, PendingAsk, RunState } from "../../../data/RunState.ts"
import type { OnSessionStartEvent } from "../../../data/SessionEvent.ts"
import type { SteerOutcome, TurnInput } from "../../../data/Turn.ts"
import type { Waiting } from "../../../data/Waiting.ts"
import * as HookState from "../../../hook/HookState.ts"

import type { EventHub } from "../event/eventHub.ts"
import { DurableState } from "./durableState.ts"
import { SessionStorage } from "./sessionStorage.ts"

/** Options of a new session. */
export interface Origin {
  readonly messages: ReadonlyArray<Message>
  /** The state of hooks for the whole tree of agents. Only the root session has it. */
  readonly state?: RunState["hookState"]
  /** The state of hooks for this agent alone. */
  readonly local?: RunState["hookState"]
  readonly turnNumber: number
  readonly injections?: ReadonlyArray<Injection>
  readonly durable?: RunState["durable"]
  /** The number of the last event. */
  readonly lastEvent?: number
  /** The number of commits of the session in the store. */
  readonly revision?: number
  /** Why the session starts. Default `startup`. */
  readonly source?: OnSessionStartEvent["source"]
  /** Whether these messages are already in the store. */
  readonly stored?: boolean
  /** The root session, if this is the session of a sub-agent. It belongs to the agent that the host started. */
  readonly root?: SessionState
}

/** A turn that was suspended or reached a limit, and can be resumed. */
export interface WaitingTurn {
  readonly turnNumber: number
  /** Its open questions to people. */
  readonly pending: () => ReadonlyArray<PendingAsk>
  /** What it waits for. */
  readonly waiting: () => Waiting
  /** Its state, signed if the agent has keys. */
  readonly snapshot: Effect.Effect<RunState>
  /** Abandons the turn and adds its open step to the conversation. */
  readonly abandon: (why: string) => void
  /** Does the same, and saves that. */
  readonly end: (why: string) => Effect.Effect<void, PortFailed>
}

/** A running turn, for those who want to stop it without ending it. */
export interface RunningTurn {
  /** Asks it to stop at its next commit point. */
  readonly requestPark: () => void
  /** Interrupts it between two commits, so that it can be resumed. */
  readonly interruptToPark: Effect.Effect<void>
}

/** A message to the running turn, which waits for the next step boundary. */
export interface Steer {
  readonly input: TurnInput
  /** Set when the message is in the conversation, which is not saved yet. */
  delivered: SteerOutcome | undefined
  readonly settle: (outcome: SteerOutcome) => void
}

/** The handle of a session. */
export interface SessionOwner {
  /** The conversation continues in another session. */
  readonly follow: (next: SessionState) => void
  /** The listeners of the session. */
  readonly hub: EventHub | undefined
  /** Whether the session is being parked, so that no turn may begin. */
  readonly isParking: boolean
  /** A turn has ended, and the session is free again. */
  readonly turnEnded: (status?: string) => void
  /** Messages to the running turn that are not delivered yet. */
  readonly steers: ReadonlyArray<Steer>
  /** Says what became of one of them. */
  readonly settleSteer: (steer: Steer, outcome: SteerOutcome) => void
}

const firstStateOf = (
  { durable, local, state }: Partial<Origin> = {}
): Pick<Origin, "state" | "local" | "durable"> | undefined =>
  durable === undefined && local === undefined && state === undefined ? undefined : defined({ durable, local, state })

/**
 * The mutable state of a session, private to the runtime. A class, because there may be thousands of sessions, and each
 * part is built only when it is used.
 */
export class SessionState {
  readonly id: string
  /** Messages are only appended, or the whole list is replaced, because requests keep views of the list. */
  messages: Array<Message>
  turnNumber: number
  /** Injected texts that the model reads before its next answer, in this turn or a later one. */
  injections: ReadonlyArray<Injection>
  /** Stops the running turn. Returns when the turn has ended, or when it does not end in time. */
  stop: Effect.Effect<void> | undefined = undefined
  /** The running turn, if this is the session of the agent that the host started. */
  running: RunningTurn | undefined = undefined
  status: "new" | "idle" | "busy" | "closed" = "new"
  waiting: WaitingTurn | undefined = undefined
  /** Whether the session was opened for one turn and closes when that turn ends. */
  closesWithTurn = false
  /** The number of commits of the session in the store. */
  revision: number
  readonly source: OnSessionStartEvent["source"]
  /** The hook that requested a fresh session. */
  rotation: { readonly by: string } | undefined = undefined
  /** The session in which the conversation continues after a rotation, and where its turn was. */
  movedTo: Omit<NonNullable<RunState["movedTo"]>, "from"> | undefined = undefined
  /** The handle of the session. After a rotation it refers to the new session. */
  owner: SessionOwner | undefined = undefined
  /**
   * The root session, which belongs to the agent that the host started. It is this session, unless this is the session
   * of a sub-agent.
   */
  readonly root: SessionState
  /** The number of the last event. Only the number of the root session counts. */
  lastEvent: number
  /** The tokens of the first `countedMessages` messages, reported by the vendor or estimated. */
  tokens = 0
  countedMessages = 0
  /** What the state of hooks begins with. Without it, the list of messages would stay in memory. */
  private readonly origin: Pick<Origin, "state" | "local" | "durable"> | undefined
  private treeState: HookState.Store | undefined = undefined
  private localState: HookState.Store | undefined = undefined
  private callIds: Set<string> | undefined = undefined
  private durableState: DurableState | undefined = undefined
  private storageParts: SessionStorage | undefined

  constructor(id: string, origin?: Origin) {
    this.id = id
    this.origin = firstStateOf(origin)
    this.messages = origin === undefined ? [] : [...origin.messages]
    this.turnNumber = origin?.turnNumber ?? 0
    this.injections = origin?.injections ?? []
    this.revision = origin?.revision ?? 0
    this.lastEvent = origin?.lastEvent ?? 0
    this.storageParts = origin?.stored === true ? new SessionStorage(this.messages) : undefined
    this.source = origin?.source ?? "startup"
    this.root = origin?.root ?? this
  }

  /** The state that the hooks of all agents of this conversation share. The root session has it. */
  get state(): HookState.Store {
    return this.root.treeState ??= HookState.make(this.root.origin?.state)
  }

  /** The state of hooks for the agent of this session alone. */
  get local(): HookState.Store {
    return this.localState ??= HookState.make(this.origin?.local)
  }

  /** Whether any hook has written local state. */
  get hasLocal(): boolean {
    return this.localState !== undefined || this.origin?.local !== undefined
  }

  /** The durable state of hooks, for all agents of this conversation. The root session has it. */
  get durable(): DurableState {
    return this.root.durableState ??= new DurableState(this.root.origin?.durable)
  }

  /** Whether any hook has written durable state. */
  get hasDurable(): boolean {
    return this.durableState !== undefined || this.origin?.durable !== undefined
  }

  /** Returns a number that grows with each change of the state of hooks. */
  get stateChanges(): number {
    const { durableState, treeState } = this.root
    return (treeState?.writes() ?? 0) + (this.localState?.writes() ?? 0) + (durableState?.changes() ?? 0)
  }

  /**
   * Returns the key of a call's durable state. The key of a sub-agent's call contains the session id, because ids of
   * tool calls are unique only within a session.
   */
  durableKey(callId: string): string {
    return this.root === this ? callId : `${this.id}/${callId}`
  }

  /** Returns the next session of the conversation. It has no messages yet, and shares the state of hooks. */
  successor(id: string): SessionState {
    const { injections, turnNumber } = this
    const next = new SessionState(id, { messages: [], turnNumber, injections, source: "rotate" })
    next.treeState = this.state
    if (this.hasLocal) next.localState = this.local
    if (this.hasDurable) next.durableState = this.durable
    return next
  }

  /** What is known about the session in the store. */
  get storage(): SessionStorage {
    return this.storageParts ??= new SessionStorage(undefined)
  }

  /** The ids of all tool calls, which must be unique in a transcript. */
  get ids(): Set<string> {
    return this.callIds ??= new Set(this.messages.flatMap(idsOf))
  }

  /** Describes which tool call of these messages has an id that is already used in the session. */
  findIdClash(messages: ReadonlyArray<Message>): string | undefined {
    const id = messages.flatMap(idsOf).find((one) => this.ids.has(one))
    return id === undefined ? undefined : `tool call id ${id} is used twice`
  }

  /** Records the ids of the tool calls in these messages. */
  addIds(messages: ReadonlyArray<Message>): void {
    for (const id of messages.flatMap(idsOf)) this.ids.add(id)
  }

  /** Replaces the whole history. */
  replaceMessages(messages: ReadonlyArray<Message>): void {
    this.messages = [...messages]
    this.addIds(messages)
    this.tokens = 0
    this.countedMessages = 0
  }
}

const idsOf = (message: Message): ReadonlyArray<string> =>
  message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
