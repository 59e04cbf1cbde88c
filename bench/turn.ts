/** One tool turn in process, with a fake model, against the loop a user would write by hand. */
import { createAgent, defineTool } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { measure, table } from "./measure.ts"

const turns = 10

const Numbers = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })
const decode = Schema.decodeUnknownSync(Numbers)

/** Answers with one call of `add`, ten times, then with text. */
const script = () => {
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
const byHand = async (): Promise<string> => {
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

/** What an Effect runtime cannot go below: a fiber that waits for the model and for the tool. */
const byFiber = () =>
  Effect.runPromise(Effect.gen(function*() {
    const answer = script()
    const messages: Array<object> = []
    while (true) {
      const { text, toolCalls: [call] } = yield* Effect.promise(async () => answer())
      messages.push({ role: "assistant", content: text })
      if (call === undefined) return text
      const { a, b } = decode(call.args)
      messages.push({ role: "tool", content: yield* Effect.promise(async () => a + b) })
    }
  }))

/** Hooks that do nothing, at the two tool points or also around the model call. */
const hooksOf = (count: number, everywhere: boolean): ReadonlyArray<AgentHook> =>
  Array.from({ length: count }, (_, index) => ({
    name: `noop-${index}`,
    preToolCall: () => {},
    postToolCall: () => {},
    ...(everywhere ? { preLlmCall: () => {}, postLlmCall: () => {} } : {})
  }))

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: Numbers,
  execute: async ({ a, b }) => a + b
})

const agentWith = (hooks: number, everywhere = false) => {
  let answer = script()
  const provider: LlmProvider = { name: "fake", complete: () => Effect.promise(async () => answer()) }
  const agent = createAgent({ provider, tools: [add], hooks: hooksOf(hooks, everywhere), freeze: false })
  return {
    run: async () => {
      answer = script()
      const { text } = await agent.run("add")
      if (text !== "done") throw new Error(text)
    }
  }
}

const history = (length: number): Array<Message> =>
  Array.from(
    { length },
    (_, index) =>
      index % 2 === 0
        ? { role: "user", content: `question ${index}` }
        : { role: "assistant", content: `answer ${index}` }
  )

export const turn = async (): Promise<string> => {
  const none = agentWith(0)
  const five = agentWith(5)
  const hundred = agentWith(100)
  const everywhere = agentWith(100, true)
  const repeat = (run: () => Promise<unknown>) => async (times: number) => {
    for (let i = 0; i < times; i++) await run()
  }
  const perTurn = (figures: Awaited<ReturnType<typeof measure>>) =>
    figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / turns, wall: wall / turns }))
  const hooks = await measure([
    { name: "hand-written loop", run: repeat(byHand) },
    { name: "belay, no hooks", run: repeat(() => none.run()) },
    { name: "belay, 5 hooks at the tool points", run: repeat(() => five.run()) },
    { name: "belay, 100 hooks at the tool points", run: repeat(() => hundred.run()) },
    { name: "belay, 100 hooks at the tool points and around the model call", run: repeat(() => everywhere.run()) }
  ], 3_000)
  const floor = await measure([
    { name: "hand-written loop", run: repeat(byHand) },
    { name: "the bare fiber: one Effect.promise a model call and a tool call, nothing else", run: repeat(byFiber) }
  ], 3_000)
  const parts = [
    table("One tool turn in process", perTurn(hooks)),
    table("What two suspensions of a fiber cost", perTurn(floor))
  ]
  const flat = []
  for (const length of [10, 1_000, 100_000]) {
    const earlier = history(length)
    const { agent, session } = await longSession(earlier)
    flat.push({ name: `belay, ${length} earlier messages`, run: repeat(() => session.run()) })
    void agent
  }
  parts.push(table("One tool turn after earlier messages", perTurn(await measure(flat, 1_500))))
  return parts.join("\n")
}

/** A session that keeps its history, so that only the turn is measured. */
const longSession = async (earlier: ReadonlyArray<Message>) => {
  let answer = script()
  let ids = 0
  const unique = (response: LlmResponse): LlmResponse => ({
    ...response,
    toolCalls: response.toolCalls.map((call) => ({ ...call, id: `id_${ids++}` }))
  })
  const provider: LlmProvider = { name: "fake", complete: () => Effect.promise(async () => unique(answer())) }
  const agent = createAgent({ provider, tools: [add], freeze: false })
  const session = await agent.session({ messages: earlier })
  return {
    agent,
    session: {
      run: async () => {
        answer = script()
        await session.run("add")
      }
    }
  }
}
