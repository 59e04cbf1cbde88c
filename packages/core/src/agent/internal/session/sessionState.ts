/** A session as the runtime keeps it: its messages, the state of its hooks, and whether a turn is running in it. */
import type * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Message } from "../../../data/Message.ts"
import type { Injection, PendingAsk, RunState } from "../../../data/RunState.ts"
import type { OnSessionStartEvent } from "../../../data/SessionEvent.ts"
import * as HookState from "../../../hook/HookState.ts"
import { DurableState } from "./durableState.ts"

/** What a session begins with. */
export interface Origin {
  readonly messages: ReadonlyArray<Message>
  readonly state: Parameters<typeof HookState.make>[0]
  readonly turnNumber: number
  readonly injections?: ReadonlyArray<Injection>
  readonly durable?: RunState["durable"]
  /** How many commits of it the store has. */
  readonly revision?: number
  /** Why the session begins. Default `startup`. */
  readonly source?: OnSessionStartEvent["source"]
  /** Whether the store has these messages. */
  readonly stored?: boolean
  /** The session of the agent that the host started, where this one is a sub-agent's. */
  readonly root?: SessionState
}

/** A turn that was suspended or reached a limit, and can be resumed. */
export interface WaitingTurn {
  readonly turnNumber: number
  /** Its open questions to people. */
  readonly pending: () => ReadonlyArray<PendingAsk>
  /** Its state, signed where the agent has keys. */
  readonly snapshot: Effect.Effect<RunState>
  /** Gives up on the turn: its open step joins the conversation. */
  readonly abandon: (why: string) => void
}

/**
 * Mutable, and private to the runtime. A class because there may be ten thousand sessions: what a session does not use
 * is not built.
 */
export class SessionState {
  readonly id: string
  /** Messages are only appended, or the whole list is replaced: requests keep views of it. */
  messages: Array<Message>
  turnNumber: number
  /** Texts of hooks that the model reads before its next answer, in this turn or a later one. */
  injections: ReadonlyArray<Injection>
  /** Stops the running turn; returns when it has ended, or does not end in time. */
  stop: Effect.Effect<void> | undefined = undefined
  status: "new" | "idle" | "busy" | "closed" = "new"
  waiting: WaitingTurn | undefined = undefined
  /** Whether the session was opened for one turn only, and closes with it. */
  closesWithTurn = false
  /** How many commits of it the store has. */
  revision: number
  /** The messages that the store has: the first `length` of the list `log`. */
  saved: { readonly log: ReadonlyArray<Message> | undefined; readonly length: number }
  /** Whether a commit was interrupted, so that nobody knows if the store has it. */
  commitUnknown = false
  readonly source: OnSessionStartEvent["source"]
  /** The hook that asked to continue in a fresh session. */
  rotation: { readonly by: string } | undefined = undefined
  /** The handle that users have; it moves along when the conversation continues in another session. */
  owner: { readonly follow: (next: SessionState) => void } | undefined = undefined
  /** The session of the agent that the host started: itself, unless it is a sub-agent's. */
  readonly root: SessionState
  /** Number of the last event. */
  lastEvent = 0
  /** Tokens of the first `countedMessages` messages, as the vendor reported or as estimated. */
  tokens = 0
  countedMessages = 0
  private readonly origin: Origin | undefined
  private hookState: HookState.Store | undefined = undefined
  private callIds: Set<string> | undefined = undefined
  private durableState: DurableState | undefined = undefined
  private commits: Semaphore.Semaphore | undefined = undefined

  constructor(id: string, origin?: Origin) {
    this.id = id
    this.origin = origin
    this.messages = origin === undefined ? [] : [...origin.messages]
    this.turnNumber = origin?.turnNumber ?? 0
    this.injections = origin?.injections ?? []
    this.revision = origin?.revision ?? 0
    this.saved = origin?.stored === true
      ? { log: this.messages, length: this.messages.length }
      : { log: undefined, length: 0 }
    this.source = origin?.source ?? "startup"
    this.root = origin?.root ?? this
  }

  /** What the hooks of this session share. */
  get state(): HookState.Store {
    return this.hookState ??= HookState.make(this.origin?.state)
  }

  /** What hooks keep beyond the process, for all agents that work in this conversation. The root session keeps it. */
  get durable(): DurableState {
    return this.root.durableState ??= new DurableState(this.root.origin?.durable)
  }

  /** Whether any hook has written durable state. */
  get hasDurable(): boolean {
    return this.durableState !== undefined || this.origin?.durable !== undefined
  }

  /** The key of a call's durable state: ids of tool calls are unique within one session only. */
  durableKey(callId: string): string {
    return this.root === this ? callId : `${this.id}/${callId}`
  }

  /** Lets one commit at a time through. */
  get commitLock(): Semaphore.Semaphore {
    return this.commits ??= Semaphore.makeUnsafe(1)
  }

  /** Ids of all tool calls: they must be unique in a transcript. */
  get ids(): Set<string> {
    return this.callIds ??= new Set(this.messages.flatMap(idsOf))
  }

  /** Says which tool call of these messages has an id that the session has already. */
  findIdClash(messages: ReadonlyArray<Message>): string | undefined {
    const id = messages.flatMap(idsOf).find((one) => this.ids.has(one))
    return id === undefined ? undefined : `tool call id ${id} is used twice`
  }

  /** Remembers the ids of the tool calls in these messages. */
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
