/**
 * Ten tool turns in process with a fake model: the work that the agents of the benchmarks share, and the same by hand.
 */
import { createAgent, defineTool } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Tool turns of one run. */
export const turns = 10

const Numbers = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })
export const decode = Schema.decodeUnknownSync(Numbers)

export const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: Numbers,
  execute: async ({ a, b }) => a + b
})

/** Answers with one call of `add`, ten times, then with text. */
export const script = () => {
  let step = 0
  return (): LlmResponse =>
    step++ < turns
      ? {
        model: "fake",
        text: "",
        toolCalls: [{ id: `call_${step}`, name: "add", args: { a: step, b: 1 } }],
        finishReason: "tool-calls",
        usage: { inputTokens: 10, outputTokens: 5 }
      }
      : {
        model: "fake",
        text: "done",
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 5 }
      }
}

/**
 * The loop of the `openai` client's documentation, with care: wire-shaped answers, arguments checked by the same
 * schema, tokens added up.
 */
export const byHand = async (): Promise<string> => {
  let step = 0
  const create = async (
    _body: { readonly model: string; readonly messages: ReadonlyArray<object>; readonly tools: ReadonlyArray<object> }
  ) => ({
    choices: [
      step++ < turns
        ? {
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{
              id: `call_${step}`,
              type: "function",
              function: { name: "add", arguments: `{"a":${step},"b":1}` }
            }]
          }
        }
        : { finish_reason: "stop", message: { role: "assistant", content: "done", tool_calls: undefined } }
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5 }
  })
  const tools = { add: async ({ a, b }: { a: number; b: number }) => a + b }
  const messages: Array<object> = [{ role: "user", content: "add" }]
  const usage = { input: 0, output: 0 }
  while (true) {
    const { choices: [choice], usage: spent } = await create({ model: "fake", messages, tools: [] })
    usage.input += spent.prompt_tokens
    usage.output += spent.completion_tokens
    const { message } = choice!
    messages.push(message)
    if (message.tool_calls === undefined) return message.content ?? ""
    for (const call of message.tool_calls) {
      const content = JSON.stringify(
        await tools[call.function.name as "add"](decode(JSON.parse(call.function.arguments)))
      )
      messages.push({ role: "tool", tool_call_id: call.id, content })
    }
  }
}

/** An agent that does the same work, with these hooks. */
export const agentWith = (hooks: ReadonlyArray<AgentHook>) => {
  let answer = script()
  const provider: LlmProvider = {
    name: "fake",
    model: "fake",
    complete: () => Effect.promise(async () => answer())
  }
  const agent = createAgent({ provider, tools: [add], hooks, freeze: false })
  return {
    run: async () => {
      answer = script()
      const { text } = await agent.run("add")
      if (text !== "done") throw new Error(text)
    }
  }
}

/** Questions and answers, in turns. */
export const earlierMessages = (length: number): Array<Message> =>
  Array.from(
    { length },
    (_, index) =>
      index % 2 === 0
        ? { role: "user", content: `question ${index}` }
        : { role: "assistant", content: `answer ${index}` }
  )

/** Runs `run` so often as the benchmark asks. */
export const repeat = (run: () => Promise<unknown>) => async (times: number) => {
  for (let i = 0; i < times; i++) await run()
}

/** As `agentWith` with default options, in a new session for each run, or in one that is replaced after 50 runs. */
export const agentInSessions = (hooks: ReadonlyArray<AgentHook>, isLong: boolean) => {
  let answer = script()
  const agent = createAgent({
    provider: { name: "fake", model: "fake", complete: () => Effect.promise(async () => answer()) },
    tools: [add],
    hooks
  })
  let session: Awaited<ReturnType<typeof agent.session>> | undefined
  let runs = 0
  return {
    run: async () => {
      answer = script()
      if (isLong && runs++ % 50 === 0) {
        await session?.close()
        session = await agent.session()
      }
      const { text } = await (isLong ? session! : agent).run("add")
      if (text !== "done") throw new Error(text)
    }
  }
}
