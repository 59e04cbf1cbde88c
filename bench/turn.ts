/** One tool turn in process, with a fake model, against the loop a user would write by hand. */
import { createAgent } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Message } from "@belay/core/Message"
import { Hooks } from "@belay/hooks"
import * as Effect from "effect/Effect"
import { measure, table } from "./measure.ts"
import { add, agentInSessions, agentWith, byHand, decode, earlierMessages, repeat, script, turns } from "./toolTurn.ts"

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

/** Collects everything. `npm run bench` exposes it. */
const collect = (): void => globalThis.gc?.()

/** Hooks that do nothing, at the two tool points or also around the model call. */
const hooksOf = (count: number, everywhere: boolean): ReadonlyArray<AgentHook> =>
  Array.from({ length: count }, (_, index) => ({
    name: `noop-${index}`,
    preToolCall: () => {},
    postToolCall: () => {},
    ...(everywhere ? { preLlmCall: () => {}, postLlmCall: () => {} } : {})
  }))

export const turn = async (): Promise<string> => {
  const none = agentWith([])
  const five = agentWith(hooksOf(5, false))
  const hundred = agentWith(hooksOf(100, false))
  const everywhere = agentWith(hooksOf(100, true))
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
  const [ours, safe] = [agentInSessions([], false), agentInSessions(Hooks.safeDefaults(), false)]
  const contenders = [
    { name: "hand-written loop", run: repeat(byHand) },
    { name: "belay, default options", run: repeat(() => ours.run()) },
    { name: "belay, default options, safe defaults", run: repeat(() => safe.run()) }
  ]
  const steady = await measure(contenders, 200)
  const collected = await measure(contenders.map((one) => ({ ...one, before: collect })), 200)
  const parts = [
    table("One tool turn in process", perTurn(hooks)),
    table("One tool turn with default options", perTurn(steady)),
    table("The same in the first 200 runs after a full collection", perTurn(collected)),
    table("What two suspensions of a fiber cost", perTurn(floor))
  ]
  const flat = []
  for (const length of [10, 1_000, 100_000]) {
    const earlier = earlierMessages(length)
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
