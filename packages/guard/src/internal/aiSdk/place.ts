/** What the model, the tools and the approvals of one guarded conversation share. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import { canonical, type Json, type JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { asSchema, type ToolSet } from "ai"
import type { Guard } from "../../Guard.ts"
import { jsonOf } from "./prompt.ts"

type AnyTool = ToolSet[string]
type Described = NonNullable<GivenCall["tool"]>

interface PlaceOptions {
  readonly guard: Guard
  readonly session: GuardSession
  readonly hints: { readonly [tool: string]: Described }
  readonly approvedBy: string | undefined
}

/** A class, because its fields are the state of the conversation. */
export class Place {
  readonly guard: Guard
  readonly session: GuardSession
  readonly approvedBy: string | undefined
  /** The ids of calls whose tools have run here. Their results have been checked. */
  readonly ran = new Set<string>()
  /** The ids of calls that the guard has denied. Their results say so. */
  readonly denied = new Set<string>()
  private readonly hints: PlaceOptions["hints"]
  private readonly tools = new Map<string, AnyTool>()
  private readonly described = new Map<string, Promise<Described>>()
  /** What hooks have made of messages, by the text of what the SDK has. */
  private readonly changed = new Map<string, Message>()

  constructor({ approvedBy, guard, hints, session }: PlaceOptions) {
    this.guard = guard
    this.session = session
    this.hints = hints
    this.approvedBy = approvedBy
  }

  /** Whether any hook acts at one of these places. */
  acts(...places: ReadonlyArray<"postLlmCall" | "postTurn" | "revealText" | "onLlmDelta" | "hold">): boolean {
    return this.guard.chain.hooks.some((hook) =>
      hook.mode !== "shadow" && places.some((one) => hook[one] !== undefined && hook[one] !== "none")
    )
  }

  /** Makes a tool known, so that hooks see its description and its schema. */
  addTool(name: string, tool: AnyTool): void {
    if (this.tools.get(name) === tool) return
    this.tools.set(name, tool)
    this.described.delete(name)
  }

  /** Returns what is known about a tool. */
  async toolOf(name: string): Promise<Described> {
    const known = this.described.get(name) ?? this.describe(name)
    this.described.set(name, known)
    return { ...await known, ...this.hints[name] }
  }

  private async describe(name: string): Promise<Described> {
    const tool = this.tools.get(name)
    if (tool === undefined) return {}
    const { description, inputSchema } = tool
    // It is the JSON Schema that the model reads.
    const schema = jsonOf(await asSchema(inputSchema).jsonSchema) as JsonObject
    return { inputSchema: schema, ...(typeof description === "string" ? { description } : {}) }
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
