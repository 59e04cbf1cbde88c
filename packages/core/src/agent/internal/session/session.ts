/** A conversation: its messages, its hook state, and whether a turn is going on in it. */
import type * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Message } from "../../../data/Message.ts"
import type { Injection, RunState } from "../../../data/RunState.ts"
import type { OnSessionStartEvent } from "../../../data/Session.ts"
import * as HookState from "../../../hook/HookState.ts"

/** Where a session begins. */
export interface Origin {
  readonly messages: ReadonlyArray<Message>
  readonly state: Parameters<typeof HookState.make>[0]
  readonly turnNumber: number
  readonly injections?: ReadonlyArray<Injection>
  readonly durable?: RunState["durable"]
  /** How many changes the store has taken. */
  readonly revision?: number
  /** How it comes that the session begins. Default `startup`. */
  readonly source?: OnSessionStartEvent["source"]
  /** Whether the store has these messages. */
  readonly stored?: boolean
  /** The session that this one works for. */
  readonly root?: Session
}

/** A turn that waits: a `Turn`, which this room below it cannot name. */
interface Parked {
  readonly closeStep: (why: string) => void
}

/**
 * Mutable, and private to the runtime. A class because there may be ten thousand: what a session does not use is not
 * built.
 */
export class Session {
  readonly id: string
  /** Only ever appended to, or replaced as a whole: requests keep views of it. */
  messages: Array<Message>
  turnNumber: number
  /** What hooks want the model to read before its next answer, in this turn or a later one. */
  injections: ReadonlyArray<Injection>
  /** Ends the turn that is going on; returns when it has let go. */
  stop: Effect.Effect<void> | undefined = undefined
  status: "new" | "idle" | "busy" | "closed" = "new"
  /** The turn that was suspended or limited and can be resumed. */
  resumable: number | undefined = undefined
  /** That turn itself, whose open step a new turn has to close. */
  parked: Parked | undefined = undefined
  /** Changes that the store has taken. */
  revision: number
  /** The messages that the store has: the first so many of this list. */
  saved: { readonly log: ReadonlyArray<Message> | undefined; readonly length: number }
  /** A step was interrupted while the store took it: whether it did is not known. */
  unsure = false
  readonly source: OnSessionStartEvent["source"]
  /** A hook wants the conversation to go on in a fresh session. */
  rotation: { readonly by: string } | undefined = undefined
  /** Who has to know when it goes on in another session. */
  owner: { readonly follow: (next: Session) => void } | undefined = undefined
  /** The session that this one works for; itself, for the host's. */
  readonly root: Session
  /** Number of the last event. */
  last = 0
  /** Tokens of the first `counted` messages, as last reported or estimated. */
  tokens = 0
  counted = 0
  private readonly from: Origin | undefined
  private store: HookState.Store | undefined = undefined
  private known: Set<string> | undefined = undefined
  private outliving: DurableStores | undefined = undefined
  private queue: Semaphore.Semaphore | undefined = undefined

  constructor(id: string, from?: Origin) {
    this.id = id
    this.from = from
    this.messages = from === undefined ? [] : [...from.messages]
    this.turnNumber = from?.turnNumber ?? 0
    this.injections = from?.injections ?? []
    this.revision = from?.revision ?? 0
    this.saved = from?.stored === true
      ? { log: this.messages, length: this.messages.length }
      : { log: undefined, length: 0 }
    this.source = from?.source ?? "startup"
    this.root = from?.root ?? this
  }

  get state(): HookState.Store {
    return this.store ??= HookState.make(this.from?.state)
  }

  /** What outlives the process: of the whole tree, kept with its root. */
  get durable(): DurableStores {
    return this.root.outliving ?? (this.root.outliving = new DurableStores(this.root.from?.durable))
  }

  /** Lets one save at a time through. */
  get saving(): Semaphore.Semaphore {
    return this.queue ??= Semaphore.makeUnsafe(1)
  }

  /** Whether anything was written that outlives the process. */
  get hasDurable(): boolean {
    return this.outliving !== undefined || this.from?.durable !== undefined
  }

  /** Ids of all tool calls, which must be unique in a transcript. */
  get ids(): Set<string> {
    return this.known ??= new Set(this.messages.flatMap(callIds))
  }

  /** Says which tool call of these messages has an id that is taken. */
  clash(messages: ReadonlyArray<Message>): string | undefined {
    const id = messages.flatMap(callIds).find((one) => this.ids.has(one))
    return id === undefined ? undefined : `tool call id ${id} is used twice`
  }

  /** Takes the ids of these messages. */
  admit(messages: ReadonlyArray<Message>): void {
    for (const id of messages.flatMap(callIds)) this.ids.add(id)
  }

  /** Puts another history in place of this one. */
  replace(messages: ReadonlyArray<Message>): void {
    this.messages = [...messages]
    this.admit(messages)
    this.tokens = 0
    this.counted = 0
  }
}

/** The scopes of durable state. A class because there may be ten thousand: a scope nobody uses is not built. */
class DurableStores implements HookState.Durable<HookState.Store> {
  readonly conversation: HookState.Store
  turn: HookState.Store
  private readonly calls: Map<string, HookState.Store>

  constructor(from: RunState["durable"]) {
    this.conversation = HookState.make(from?.conversation)
    this.turn = HookState.make(from?.turn)
    this.calls = new Map(Object.entries(from?.calls ?? {}).map(([id, values]) => [id, HookState.make(values)]))
  }
  get call() {
    return (id: string): HookState.Store => {
      const found = this.calls.get(id) ?? HookState.make()
      this.calls.set(id, found)
      return found
    }
  }
  endCall(id: string): void {
    this.calls.delete(id)
  }
  endTurn(): void {
    this.turn = HookState.make()
    this.calls.clear()
  }
  snapshot(): NonNullable<RunState["durable"]> {
    return {
      conversation: this.conversation.snapshot(),
      turn: this.turn.snapshot(),
      calls: Object.fromEntries([...this.calls].map(([id, values]) => [id, values.snapshot()]))
    }
  }
}

const callIds = (message: Message): ReadonlyArray<string> =>
  message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
