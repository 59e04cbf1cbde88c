/** What a driver of the proof does: it runs one agent of its SDK, with a guard, along a path. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { SessionStore } from "@belay/core/SessionStore"

/** One call of a tool by the model. `text` are its arguments as the model wrote them, if they are not plain JSON. */
interface Call {
  readonly name: "leak" | "mail" | "read" | "helper"
  readonly args?: { readonly [name: string]: string }
  readonly id?: string
}

/** What the model does next: it calls tools, says something, or its call fails once. */
export type Step = { readonly calls: ReadonlyArray<Call> } | { readonly says: string } | { readonly fails: true }

/** The agent of a path. */
export interface Setup {
  readonly script: ReadonlyArray<Step>
  /** The guard: hooks of Belay, or the mechanism of the SDK that denies `leak` and asks about `mail`. */
  readonly guard: ReadonlyArray<AgentHook> | "own"
  readonly stream?: boolean
  /** The script of the agent behind the tool `helper`, and of the agent behind that one's tool `helper`. */
  readonly helpers?: ReadonlyArray<ReadonlyArray<Step>>
  /** The agent to which `helper` hands the conversation over, in place of a tool. */
  readonly handsOver?: boolean
  /** Where sessions are kept, so that another process can continue. */
  readonly store?: SessionStore
  /** What has happened: `leak`, or `mail` with its receiver. */
  readonly ran: Array<string>
  /** Ends the turn after so many milliseconds. */
  readonly cancelAfterMs?: number
}

/** A conversation along a path. */
interface Conversation {
  /** Sends the message. Returns the ids of calls about which a person is asked. */
  readonly send: (text: string) => Promise<ReadonlyArray<string>>
  /** Approves the questions, and goes on. `elsewhere` is another process; without a store it knows nothing. */
  readonly approve: (options?: { readonly elsewhere?: boolean; readonly to?: string }) => Promise<void>
}

/** A path does not exist in an SDK. */
export class Absent extends Error {}

/** An SDK. */
export interface Driver {
  readonly name: string
  /** Whether the SDK has a mechanism of its own, to compare with. */
  readonly hasOwn: boolean
  readonly start: (setup: Setup) => Conversation
}
