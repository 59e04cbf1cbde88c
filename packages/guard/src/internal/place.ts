/** What the model, the tools and the approvals of one guarded conversation share. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import { canonical, type Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import type { Guard } from "../Guard.ts"
import { sameJson } from "./json.ts"

/** What is known about a tool. */
export type Described = NonNullable<GivenCall["tool"]>

/** What a conversation is made of. */
export interface PlaceOptions {
  readonly guard: Guard
  readonly session: GuardSession
  readonly hints: { readonly [tool: string]: Described }
  readonly approvedBy: string | undefined
  /** Returns how the SDK describes a tool to the model. */
  readonly describe: (name: string) => Promise<Described>
}

/** Where hooks change what is shown. */
type Shaping =
  | "preStop"
  | "postLlmCall"
  | "postTurn"
  | "revealText"
  | "onLlmDelta"
  | "hold"
  | "postToolCall"
  | "wrapToolCall"

/** A class, because its fields are the state of the conversation. */
export class Place {
  readonly guard: Guard
  readonly session: GuardSession
  /** The person whose answers the SDK passes on, for a decision. */
  readonly by: { readonly by?: string }
  /** The ids of calls whose tools have run here. Their results have been checked. */
  readonly ran = new Set<string>()
  /** The ids of calls that the guard has denied. Their results say so. */
  readonly denied = new Set<string>()
  /** Whether a person has answered the guard about a call whose tool waits for a person itself, by id. */
  readonly answered = new Map<string, boolean>()
  private readonly hints: PlaceOptions["hints"]
  private readonly describe: PlaceOptions["describe"]
  /** What the results of tools that have run here were when hooks had checked them. */
  private readonly checked = new Map<string, Json>()
  /** What hooks have made of messages, by the text of what the SDK has. */
  private readonly changed = new Map<string, Message>()

  constructor({ approvedBy, describe, guard, hints, session }: PlaceOptions) {
    this.describe = describe
    this.guard = guard
    this.session = session
    this.hints = hints
    this.by = approvedBy === undefined ? {} : { by: approvedBy }
  }

  /** Whether any hook acts at one of these places. */
  acts(...places: ReadonlyArray<Shaping>): boolean {
    return this.guard.chain.hooks.some((hook) =>
      hook.mode !== "shadow" && places.some((one) => hook[one] !== undefined && hook[one] !== "none")
    )
  }

  /** Returns what is known about a tool. */
  async toolOf(name: string): Promise<Described> {
    return { ...await this.describe(name), ...this.hints[name] }
  }

  /** Notes the result that hooks have checked. The model may read another one, for example that of `toModelOutput`. */
  noteResult(id: string, result: Json): void {
    this.checked.set(id, result)
  }

  /** Whether hooks have checked the result of a call as the model reads it. */
  isChecked(id: string, content: Json): boolean {
    const known = this.checked.get(id)
    return this.ran.has(id) && (known === undefined || sameJson(known, content))
  }

  /** Notes what hooks have made of a message. The SDK sends its own version again with each later request. */
  noteChange(before: Message, now: Message): void {
    const key = keyOf(before)
    if (key !== keyOf(now)) this.changed.set(key, now)
  }

  /** Returns what hooks have made of a message before, if they have changed it. */
  changeOf(message: Message): Message | undefined {
    return this.changed.size === 0 ? undefined : this.changed.get(keyOf(message))
  }
}

/** A message is JSON. The compiler cannot check that, because the interface has no index signature. */
const keyOf = (message: Message): string => canonical(message as unknown as Json)
