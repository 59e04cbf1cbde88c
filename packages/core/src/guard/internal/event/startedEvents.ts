/**
 * Pairs the events of a turn: each start has exactly one end before the turn ends. A model call or a tool call that has
 * no end of its own, because the turn stops while it runs, gets one here.
 */
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import { failure } from "../../../data/tool/Tool.ts"

type Body<Type extends AgentEventBody["type"]> = Extract<AgentEventBody, { readonly type: Type }>

/** A class, because a listened turn has one, and its fields are what has started and not ended. */
export class StartedEvents {
  private turnHasStarted = false
  private turnHasEnded = false
  private model: Body<"llm-start"> | undefined = undefined
  private readonly tools = new Map<string, Body<"tool-start">>()

  /** Notes an event. Returns the events that must be sent before it, or nothing if it must not be sent. */
  before(body: AgentEventBody): ReadonlyArray<AgentEventBody> | undefined {
    switch (body.type) {
      case "turn-start":
        this.turnHasStarted = true
        this.turnHasEnded = false
        return none
      case "llm-start": {
        const ends = this.endModel()
        this.model = body
        return ends
      }
      case "llm-end":
      case "llm-error":
        this.model = undefined
        return none
      case "tool-start":
        this.tools.set(body.call.id, body)
        return none
      case "tool-end":
        this.tools.delete(body.call.id)
        return none
      case "turn-end":
        return this.endTurn()
      default:
        return none
    }
  }

  private endTurn(): ReadonlyArray<AgentEventBody> | undefined {
    if (this.turnHasEnded) return undefined
    this.turnHasEnded = true
    return this.missing()
  }

  /** Returns the events that are missing before the turn can end. */
  missing(): ReadonlyArray<AgentEventBody> {
    const starts: ReadonlyArray<AgentEventBody> = this.turnHasStarted
      ? none
      : [{ type: "turn-start", message: "", resumed: false }]
    this.turnHasStarted = true
    const tools = [...this.tools.values()].map(endOfTool)
    this.tools.clear()
    return [...starts, ...this.endModel(), ...tools]
  }

  private endModel(): ReadonlyArray<AgentEventBody> {
    const { model } = this
    if (model === undefined) return none
    this.model = undefined
    const { attempt, provider } = model
    const message = "the model call was stopped before it had an answer"
    return [{ type: "llm-error", provider, attempt, error: "Stopped", message, decision: { type: "fail" } }]
  }
}

const none: ReadonlyArray<AgentEventBody> = []

const endOfTool = ({ call }: Body<"tool-start">): AgentEventBody => ({
  type: "tool-end",
  call,
  result: failure("the turn stopped before this call had a result"),
  elapsedMs: 0,
  executed: true,
  unfinished: true
})
