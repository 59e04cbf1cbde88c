/** Models of the OpenAI Agents SDK that answer from a script, and agents with tools that note what they did. */
import type { AgentHook } from "@belay/core/AgentHook"
import {
  Agent,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  tool,
  Usage
} from "@openai/agents"
import * as z from "zod"
import * as Guard from "../../src/Guard.ts"
import * as OpenAiAgents from "../../src/OpenAiAgents.ts"

type Output = ReadonlyArray<AgentOutputItem>

let ids = 0

/** The model asks for tools. Without an id, each call gets a new one. */
export const calls = (...given: ReadonlyArray<readonly [name: string, args: unknown, id?: string]>): Output =>
  given.map(([name, args, callId = `call-${++ids}`]) => ({
    type: "function_call",
    callId,
    name,
    status: "completed",
    arguments: JSON.stringify(args)
  }))

/** The model says something. */
export const says = (text: string): Output => [{
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }]
}]

const usage = () => new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 })

/** A model that gives these answers, one after the other, and keeps what it was asked. */
export class ScriptedModel implements Model {
  readonly requests: Array<ModelRequest> = []
  private readonly script: ReadonlyArray<Output>

  constructor(...script: ReadonlyArray<Output>) {
    this.script = script
  }
  private next(request: ModelRequest): ModelResponse {
    this.requests.push(request)
    return { usage: usage(), output: [...this.script[this.requests.length - 1] ?? says("done")] }
  }
  getResponse(request: ModelRequest): Promise<ModelResponse> {
    return Promise.resolve(this.next(request))
  }
  async *getStreamedResponse(request: ModelRequest): ReturnType<Model["getStreamedResponse"]> {
    const { output } = this.next(request)
    yield { type: "response_started" }
    for (const item of output) {
      if (!("role" in item) || item.role !== "assistant") continue
      for (const part of item.content) {
        if (part.type !== "output_text") continue
        for (const delta of part.text.split(/(?<= )/)) yield { type: "output_text_delta", delta }
      }
    }
    await Promise.resolve()
    // The items of an answer and those of its stream are the same; their types are made from two schemas.
    yield {
      type: "response_done",
      response: { id: "r", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 }, output: output as never }
    }
  }
  /** What the model has read in its last call. */
  get lastInput(): string {
    return JSON.stringify(this.requests.at(-1)?.input)
  }
}

/** A guarded agent with two tools, and what they have done. */
export const kit = (
  hooks: ReadonlyArray<AgentHook>,
  options: OpenAiAgents.OpenAiAgentsOptions = {},
  more: Guard.GuardOptions = {}
) => {
  const ran: Array<string> = []
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = OpenAiAgents.make(guard, options)
  const sendMail = tool({
    name: "send_mail",
    description: "Sends a mail",
    parameters: z.object({ to: z.string() }),
    execute: ({ to }) => {
      ran.push(to)
      return { sent: to }
    }
  })
  const readPage = tool({
    name: "read_page",
    description: "Reads a page",
    parameters: z.object({ url: z.string() }),
    execute: ({ url }) => {
      ran.push(url)
      return `the secret of ${url} is 4711`
    }
  })
  const tools = [sendMail, readPage]
  const agent = (model: Model, name = "lead") => guarded.agent(new Agent({ name, model, tools }))
  return { agent, guard, guarded, ran, tools }
}
