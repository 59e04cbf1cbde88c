/** A conversation: its messages, its hook state, and whether a turn is going on in it. */
import type * as Effect from "effect/Effect"
import type { Message } from "../../data/Message.ts"
import type { Injection } from "../../data/RunState.ts"
import * as HookState from "../../hook/HookState.ts"

/** Where a session begins. */
export interface Origin {
  readonly messages: ReadonlyArray<Message>
  readonly state: Parameters<typeof HookState.make>[0]
  readonly turnNumber: number
  readonly injections?: ReadonlyArray<Injection>
}

/** Mutable, and private to the runtime. A class because there may be ten thousand: what a session does not use is not built. */
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
  parked: { readonly closeStep: (why: string) => void } | undefined = undefined
  /** Number of the last event. */
  last = 0
  /** Tokens of the first `counted` messages, as last reported or estimated. */
  tokens = 0
  counted = 0
  private readonly from: Origin | undefined
  private store: HookState.Store | undefined = undefined
  private known: Set<string> | undefined = undefined

  constructor(id: string, from?: Origin) {
    this.id = id
    this.from = from
    this.messages = from === undefined ? [] : [...from.messages]
    this.turnNumber = from?.turnNumber ?? 0
    this.injections = from?.injections ?? []
  }

  get state(): HookState.Store {
    return this.store ??= HookState.make(this.from?.state)
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

const callIds = (message: Message): ReadonlyArray<string> =>
  message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
