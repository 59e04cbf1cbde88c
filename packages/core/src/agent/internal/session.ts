/** A conversation: its messages, its hook state, and whether a turn is going on in it. */
import type { Message } from "../../data/Message.ts"
import * as HookState from "../../hook/HookState.ts"

/** Mutable, and private to the runtime. */
export interface Session {
  readonly id: string
  /** Only ever appended to, or replaced as a whole: requests keep views of it. */
  messages: Array<Message>
  /** Made when somebody asks for it. */
  readonly state: HookState.Store
  readonly sequence: { last: number }
  turnNumber: number
  status: "new" | "idle" | "busy" | "closed"
  /** The turn that was suspended or limited and can be resumed. */
  resumable: number | undefined
  /** That turn itself, whose open step a new turn has to close. */
  parked: { readonly closeStep: (why: string) => void } | undefined
  /** Ids of all tool calls, which must be unique in a transcript. */
  readonly ids: Set<string>
  /** Tokens of the conversation, as last reported or estimated. */
  tokens: { known: number; messages: number }
}

/** Where a session begins. */
export interface Origin {
  readonly messages: ReadonlyArray<Message>
  readonly state: Parameters<typeof HookState.make>[0]
  readonly turnNumber: number
}

export const make = (id: string, from?: Origin): Session => {
  let state: HookState.Store | undefined
  let ids: Set<string> | undefined
  return {
    id,
    messages: from === undefined ? [] : [...from.messages],
    sequence: { last: 0 },
    turnNumber: from?.turnNumber ?? 0,
    status: "new",
    resumable: undefined,
    parked: undefined,
    tokens: { known: 0, messages: 0 },
    get state() {
      return state ??= HookState.make(from?.state)
    },
    get ids() {
      return ids ??= new Set(from?.messages.flatMap(callIds))
    }
  }
}

const callIds = (message: Message): ReadonlyArray<string> => message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
