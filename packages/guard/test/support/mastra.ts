/** Calls models and tools as Mastra does. The long tests run the real package. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { AgentHook } from "@belay/core/AgentHook"
import type { MockLanguageModelV4 } from "ai/test"
import * as z from "zod"
import * as Guard from "../../src/Guard.ts"
import * as Mastra from "../../src/Mastra.ts"

export interface Calling {
  readonly toolCallId: string
  readonly suspend: (payload: unknown) => unknown
  readonly resumeData?: unknown
  readonly suspendPayload?: unknown
}

/** A conversation with one tool. `ask` is a step of the model, and `call` a call of the tool. */
export const kit = (
  hooks: ReadonlyArray<AgentHook>,
  model: MockLanguageModelV4,
  options: Mastra.MastraOptions = {},
  more: Guard.GuardOptions = {}
) => {
  const ran: Array<unknown> = []
  const suspended: Array<unknown> = []
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = Mastra.make(guard, { approvedBy: "ada", ...options })
  const tools = {
    send_mail: {
      id: "send_mail",
      description: "Sends a mail",
      inputSchema: z.object({ to: z.string() }),
      execute: (input: { readonly to: string }, _context?: { readonly agent?: Partial<Calling> }): unknown => {
        ran.push(input.to)
        return { sent: input.to }
      }
    }
  }
  const config = guarded.config({ model, tools })
  const functions = (names: ReadonlyArray<string>): LanguageModelV4CallOptions["tools"] =>
    names.map((name) => {
      const { providerOptions = {} } = Object(Object(config.tools)[name]) as { readonly providerOptions?: object }
      return { type: "function", name, inputSchema: { type: "object" }, providerOptions: { ...providerOptions } }
    })
  const ask = (text: string, names = ["send_mail"], messages: LanguageModelV4CallOptions["prompt"] = []) =>
    config.model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text }] }, ...messages],
      tools: functions(names)!
    })
  const call = async (to: string, id = "1", more: Partial<Calling> = {}) => {
    const suspend = (payload: unknown) => void suspended.push(payload)
    return await config.tools.send_mail.execute({ to }, { agent: { toolCallId: id, suspend, ...more } })
  }
  return { ask, call, config, guard, guarded, ran, suspended, tools }
}
