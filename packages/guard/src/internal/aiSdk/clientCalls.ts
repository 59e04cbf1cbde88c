/**
 * Calls of tools that the client runs, for example in the browser. A stream shows such a call to the client before the
 * SDK asks whether it is approved, so the guard decides about it while the answer of the model is still held back.
 */
import type { JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { ToolSet } from "ai"
import { type Checked, refusal } from "../answer.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Place } from "../place.ts"
import { refuseUnguarded } from "../unguarded.ts"
import type { DescribedTools } from "./described.ts"
import type { CheckCalls } from "./model.ts"
import { decode } from "./tools.ts"

/** A class, because it knows which calls were allowed. */
export class ClientCalls {
  private readonly place: Place
  private readonly described: DescribedTools
  private readonly allowed = new Map<string, string>()

  constructor(place: Place, described: DescribedTools) {
    this.place = place
    this.described = described
  }

  /** Whether the guard has allowed the call before it was shown. */
  isAllowed(id: string, name: string): boolean {
    return this.allowed.get(id) === name
  }

  /** Decides about the calls in an answer that the client would run. */
  readonly check: CheckCalls = async (response, tools = []): Promise<Checked> => {
    const refused = new Map<string, string>()
    const calls: Array<ToolCall> = []
    for (const call of response.toolCalls) {
      this.allowed.delete(call.id)
      this.place.denied.delete(call.id)
      const tool = this.described.find(call.name)
      if (tool === undefined && tools.some(({ name, type }) => type === "function" && name === call.name)) {
        refuseUnguarded(this.place, call.name, "give it to guarded.settings() or guarded.tools()")
      }
      const decided = tool === undefined || !isOfClient(tool) ? call : await this.decide(tool, call)
      if (typeof decided === "string") refused.set(call.id, decided)
      else calls.push(decided)
    }
    return refused.size === 0 ? { ...response, toolCalls: calls } : refusal(response, refused)
  }

  /** Returns a call as the client may see it, or why it must not. */
  private async decide(tool: ToolSet[string], call: ToolCall): Promise<ToolCall | string> {
    const { id, name } = call
    const input = await decode(tool, call.args).then((value) => ({ value }), () => undefined)
    // The SDK does not run a call whose arguments it cannot read.
    if (input === undefined) return call
    const args = jsonOf(input.value)
    const verdict = await this.place.session.toolCall({ id, name, args, tool: await this.place.toolOf(name) })
    switch (verdict.type) {
      case "allow":
        this.allowed.set(id, name)
        return sameJson(verdict.args, args) ? call : { ...call, args: verdict.args as JsonObject }
      // The SDK asks the person.
      case "ask":
        return call
      case "respond":
        return `not run, and this is its result: ${
          typeof verdict.result === "string" ? verdict.result : JSON.stringify(verdict.result)
        }`
      default:
        return verdict.reason
    }
  }
}

/** Whether the SDK has no function for a tool, and the vendor does not run it. */
const isOfClient = ({ execute, type }: ToolSet[string]): boolean => execute === undefined && type !== "provider"
