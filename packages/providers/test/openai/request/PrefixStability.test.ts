/**
 * The beginning of a request stays byte-equal from one request of an agent to the next, so that the vendor's cache
 * holds: in trees of agents, after hooks add texts, and after a compaction. It is measured on the wire.
 */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as ContextInjector from "@belay/hooks/ContextInjector"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"

interface Body {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly tools?: unknown
  readonly prompt_cache_key?: string
}

const bodies: Array<Body> = []
/** How many steps with tools each agent makes before it answers. */
let steps = 2
let url = ""
const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  let text = ""
  for await (const bytes of incoming) text += String(bytes)
  const body: Body = JSON.parse(text)
  bodies.push(body)
  const lastUser = body.messages.findLastIndex(({ role }) => role === "user")
  const done = body.messages.slice(lastUser).filter(({ role }) => role === "tool").length
  const isLead = JSON.stringify(body.tools ?? []).includes("\"research\"")
  const [name, args] = isLead ? ["research", { message: "look" }] : ["read", { path: `f${bodies.length}` }]
  const call = { id: `c${bodies.length}`, type: "function", function: { name, arguments: JSON.stringify(args) } }
  const isAsking = done < steps && body.tools !== undefined
  const message = isAsking
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: "ok" }
  // What the cache of a vendor would report: the characters that the request shares with an earlier one.
  const cached = Math.max(0, ...bodies.slice(0, -1).map((earlier) => shared(earlier, body)))
  outgoing.writeHead(200, { "content-type": "application/json" })
  outgoing.end(JSON.stringify({
    id: "r",
    model: "m",
    choices: [{ index: 0, message, finish_reason: isAsking ? "tool_calls" : "stop" }],
    usage: {
      prompt_tokens: prefixOf(body).length,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: cached }
    }
  }))
}
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/v1`
})
afterAll(() => void server.close())
beforeEach(() => {
  bodies.length = 0
  steps = 2
})

/** A request in the order in which vendors read it: tools, instructions, messages. */
const prefixOf = ({ messages, tools }: Body): string =>
  [JSON.stringify(tools ?? []), ...messages.map((message) => JSON.stringify(message))].join("\n")

const shared = (one: Body, other: Body): number => {
  const [a, b] = [prefixOf(one), prefixOf(other)]
  let length = 0
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++
  return length
}

/** Whether a request begins with all of an earlier one. */
const assertGrows = (requests: ReadonlyArray<Body>): void => {
  assert.isAbove(requests.length, 2)
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1]
    if (before !== undefined) assert.strictEqual(shared(before, request), prefixOf(before).length, `request ${index}`)
  }
}

const read = defineTool({
  name: "read",
  description: "Reads a file",
  input: { type: "object", properties: { path: { type: "string" } } },
  readOnly: true,
  execute: ({ path }) => `contents of ${JSON.stringify(path)}`
})

const agentOf = (more: Partial<AgentConfig> = {}) =>
  createAgent({
    provider: OpenAiCompatible.make({ baseUrl: url, model: "m", apiKey: "fake-0000" }),
    instructions: "You read files.",
    tools: [read],
    log: false,
    ...more
  })

describe("the beginning of a request", () => {
  it("stays from step to step and from turn to turn, and what was cached is in the usage", async () => {
    await using agent = agentOf()
    const session = await agent.session()
    await session.run("one")
    const { usage } = await session.run("two")
    assertGrows(bodies)
    assert.strictEqual(
      usage.cachedTokens,
      bodies.slice(3).reduce((sum, _, at) => sum + prefixOf(bodies[at + 2]!).length, 0)
    )
  })

  it("stays in a tree: sub-agents share theirs with each other, and the lead agent keeps its own", async () => {
    const worker = agentOf({ name: "worker", instructions: "You look things up." })
    await using lead = agentOf({
      instructions: "You lead.",
      tools: [agentTool({ name: "research", description: "Looks things up", agent: worker })]
    })
    await lead.run("go")
    const isLead = ({ messages }: Body) => messages[0]?.content === "You lead."
    assertGrows(bodies.filter(isLead))
    const ofWorkers = bodies.filter((body) => !isLead(body))
    // Both delegations have the same task, so the second begins with all of the first request of the first.
    assert.strictEqual(shared(ofWorkers[0]!, ofWorkers[3]!), prefixOf(ofWorkers[0]!).length)
  })

  it("stays when hooks add texts at the end, and when they project nothing", async () => {
    let minute = 0
    await using agent = agentOf({ hooks: [ContextInjector.make({ render: () => `minute ${minute++}` })] })
    const session = await agent.session()
    await session.run("one")
    await session.run("two")
    assertGrows(bodies)
    assert.include(JSON.stringify(bodies.at(-1)), "minute 0")
  })

  it("is lost only behind the instructions when a compaction shortens the conversation, and then grows again", async () => {
    await using agent = agentOf()
    const session = await agent.session()
    for (const message of ["one", "two", "three"]) await session.run(message)
    await session.compact()
    const before = bodies.length
    await session.run("four")
    await session.run("five")
    const [last, ...after] = [bodies[before - 1]!, ...bodies.slice(before)]
    const fixed = JSON.stringify(last.tools).length + 1 + JSON.stringify(last.messages[0]).length
    assert.isAtLeast(shared(last, after[0]!), fixed)
    assertGrows(after)
  })

  it("stays when a conversation was handed over: the agent that took over reads what it has read before", async () => {
    steps = 1
    const worker = agentOf({ name: "worker", instructions: "You look things up." })
    await using lead = agentOf({
      instructions: "You lead.",
      tools: [agentTool({ name: "research", description: "Looks", agent: worker, type: "transfer", stays: true })]
    })
    const session = await lead.session()
    for (const message of ["one", "two", "three"]) await session.run(message)
    const ofWorker = bodies.filter(({ messages }) => messages[0]?.content === "You look things up.")
    const perTurn = ofWorker.length / 3
    const firsts = [0, 1, 2].map((turn) => ofWorker[turn * perTurn]!)
    // From the second turn on, the conversation before the new message is the same and longer.
    const conversation = JSON.stringify(firsts[1]!.messages.slice(0, -1))
    assert.strictEqual(JSON.stringify(firsts[2]!.messages.slice(0, firsts[1]!.messages.length - 1)), conversation)
  })

  it("costs what the vendor charges for cached tokens", async () => {
    await using agent = agentOf({
      provider: {
        ...OpenAiCompatible.make({ baseUrl: url, model: "m", apiKey: "fake-0000" }),
        costOf: ({ cachedTokens = 0, inputTokens }) => (inputTokens - cachedTokens) * 0.01 + cachedTokens * 0.001
      }
    })
    const { cost, usage } = await agent.run("one")
    const { cachedTokens = 0, inputTokens } = usage
    assert.isAbove(cachedTokens, 0)
    assert.closeTo(cost.usd, (inputTokens - cachedTokens) * 0.01 + cachedTokens * 0.001, 1e-6)
  })
})
