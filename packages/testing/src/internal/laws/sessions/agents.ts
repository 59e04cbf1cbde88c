/** Laws about agents that share the sessions of a store, each as a process of its own. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { type Message, text, whyInvalid } from "@belay/core/Message"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import { holds, same } from "../law.ts"
import { law, type SessionLaw, type StoreFace, type Subject } from "./face.ts"

const id = "shared"

/** Calls the tool `pay` if the last message asks for it, and otherwise answers. */
const provider: LlmProvider = {
  name: "laws",
  complete: ({ messages }) =>
    Effect.sync(() => {
      const last = messages.at(-1)
      return last?.role === "user" && text(last).startsWith("pay")
        ? { ...textResponse(""), toolCalls: [{ id: `pay-${messages.length}`, name: "pay", args: {} }] }
        : textResponse(`answer ${messages.length}`)
    })
}

interface Options {
  /** Called while the tool runs. */
  readonly during?: () => unknown
  /** Whether a person has to approve the tool. */
  readonly asks?: boolean
  /** Receives the numbers of the events. */
  readonly numbers?: Array<number>
}

/** An agent, as it runs in one process. */
const agentOf = (store: SessionStore, { asks = false, during = () => undefined, numbers = [] }: Options = {}) => {
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    execute: async () => {
      await during()
      return "paid"
    }
  })
  const hooks = asks ? [{ name: "gate", preToolCall: () => HookAction.ask("sure?") }] : []
  const agent = createAgent({ name: "laws", provider, tools: [pay], hooks, store, log: false })
  agent.on(({ seq }) => void numbers.push(seq))
  return agent
}

/** The store, opened by two processes. */
const twice = async ({ store }: StoreFace, { reopen }: Subject): Promise<readonly [SessionStore, SessionStore]> => [
  store,
  await reopen?.() ?? store
]

const saidBy = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.flatMap((message) => message.role === "user" ? [text(message)] : [])

export const agentLaws: ReadonlyArray<SessionLaw> = [
  law("agents take turns in one session, and each sees what the other did", async (face, subject) => {
    const [left, right] = await twice(face, subject)
    const [one, two] = [await agentOf(left).session({ id }), await agentOf(right).session({ id })]
    for (const [index, session] of [one, two, two, one, two].entries()) await session.run(`message ${index}`)
    await one.reload()
    const expected = Array.from({ length: 5 }, (_, index) => `message ${index}`)
    same(saidBy(one.messages), expected, "messages of the first")
    same(saidBy(two.messages), expected, "messages of the second")
    same((await face.load(id))?.turnNumber, 5, "turns in the store")
  }),
  law("turns that begin at once are kept whole", async (face, subject) => {
    const stores = await twice(face, subject)
    const sessions = await Promise.all(
      [...stores, ...stores].map((store) => agentOf(store).session({ id }))
    )
    const done: Array<string> = []
    for (let round = 0; round < 5; round++) {
      await Promise.all(sessions.map((session, index) => {
        const words = `${index} in round ${round}`
        return session.run(words).then(() => void done.push(words), () => undefined)
      }))
    }
    const messages = (await face.load(id))?.messages ?? []
    same(whyInvalid(messages), undefined, "what is wrong with the conversation")
    const said = saidBy(messages)
    same(new Set(said).size, said.length, "different messages")
    same([...said].sort(), [...done].sort(), "messages of turns that succeeded")
    holds(done.length >= 5, `only ${done.length} of 20 turns succeeded`)
  }),
  law("a question that one agent asks can be decided by another, once", async (face, subject) => {
    const [left, right] = await twice(face, subject)
    let paid = 0
    const options = { asks: true, during: () => paid++ }
    const [one, two] = [await agentOf(left, options).session({ id }), await agentOf(right, options).session({ id })]
    same((await one.run("pay")).status, "suspended", "status of the run")
    await two.reload()
    same(two.waiting, one.waiting, "what waits elsewhere")
    const decisions = Object.fromEntries(one.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
    const ends = await Promise.all(
      [one, two].map((session) => session.resume(decisions).then(({ status }) => status, () => "failed"))
    )
    same([...ends].sort(), ["completed", "failed"], "ends of two that decide")
    same(paid, 1, "payments")
  }),
  law("a parked turn is continued by another agent", async (face, subject) => {
    const [left, right] = await twice(face, subject)
    const parked: Array<Promise<unknown>> = []
    const one = await agentOf(left, { during: () => void parked.push(one.park()) }).session({ id })
    same((await one.run("pay")).status, "parked", "status of the run")
    await Promise.all(parked)
    const two = await agentOf(right).session({ id })
    same(two.waiting.type, "process", "what waits elsewhere")
    same((await two.resume()).status, "completed", "status of the resumed run")
    await one.reload()
    same(one.waiting.type, "nothing", "what waits in the end")
  }),
  law("a released session continues, and no event has the number of another", async (face, subject) => {
    const [left, right] = await twice(face, subject)
    const numbers: Array<number> = []
    for (const [index, store] of [left, right, left, right].entries()) {
      const agent = agentOf(store, { numbers })
      const session = await agent.session({ id })
      await session.run(`message ${index}`)
      await session.release()
      await agent.close()
    }
    same(numbers, numbers.map((_, index) => index + 1), "numbers of the events")
    same((await face.load(id))?.messages.length, 8, "messages")
  })
]
