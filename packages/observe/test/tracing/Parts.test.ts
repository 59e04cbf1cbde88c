/** A turn that waits for people is continued by another process: what the spans of its parts say. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import * as SessionStore from "@belay/core/SessionStore"
import * as Tracing from "@belay/observe/Tracing"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { type Collector, type OtlpSpan, startCollector } from "./support/collector.ts"

/** Calls a tool once, and then answers. Each call of the model costs 10 tokens and 5. */
const calling = (tool: string, args: Json) =>
  fromPromise({
    name: tool,
    complete: async ({ messages }) => {
      const usage = { inputTokens: 10, outputTokens: 5 }
      return messages.at(-1)?.role === "tool"
        ? { ...textResponse("done"), usage }
        : { ...textResponse(""), finishReason: "tool-calls", toolCalls: [{ id: "c", name: tool, args }], usage }
    }
  })

const danger = defineTool({ name: "danger", description: "Asks", input: { type: "object" }, execute: () => "ok" })
const asks = { name: "gate", tools: "danger", preToolCall: () => HookAction.ask("really?") }

/** The agent of one process: its helper asks a person. */
const agentWith = (tracing: Tracing.Tracing, store: SessionStore.SessionStore) => {
  const helper = createAgent({ name: "helper", provider: calling("danger", {}), tools: [danger], log: false })
  return createAgent({
    name: "lead",
    provider: calling("help", { message: "go" }),
    tools: [agentTool({ name: "help", description: "Helps", agent: helper })],
    hooks: [asks],
    plugins: [tracing.plugin],
    store,
    log: false
  })
}

const valueOf = ({ attributes }: Pick<OtlpSpan, "attributes">, key: string) => {
  const value = attributes.find((one) => one.key === key)?.value
  return value === undefined ? undefined : Object.values(value)[0]
}

/** Runs the first part in one process and the second in another. */
const inTwoParts = async (collector: Collector) => {
  const store = SessionStore.inMemory()
  const first = Tracing.make({ url: collector.url })
  const before = await agentWith(first, store).session({ id: "s" })
  assert.strictEqual((await before.run("go")).status, "suspended")
  await first.close()
  const second = Tracing.make({ url: collector.url })
  const after = await agentWith(second, store).session({ id: "s" })
  const decisions = Object.fromEntries(after.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
  assert.strictEqual((await after.resume(decisions)).status, "completed")
  await second.close()
}

describe("the parts of a turn", () => {
  it("are linked, also those of sub-agents and across processes", async () => {
    await using collector = await startCollector()
    await inTwoParts(collector)
    for (const name of ["invoke_agent lead", "invoke_agent helper"]) {
      const [one, two] = collector.spans.filter((span) => span.name === name)
      assert.deepEqual(one!.links ?? [], [])
      assert.deepEqual(two!.links!.map(({ spanId, traceId }) => ({ spanId, traceId })), [
        { spanId: one!.spanId, traceId: one!.traceId }
      ])
    }
  })

  it("count each token once", async () => {
    await using collector = await startCollector()
    await inTwoParts(collector)
    const spans = (name: string) => collector.spans.filter((span) => span.name.startsWith(name))
    const sum = (all: ReadonlyArray<OtlpSpan>) =>
      all.reduce((total, span) => total + Number(valueOf(span, "gen_ai.usage.input_tokens")), 0)
    assert.strictEqual(sum(spans("chat")), 40)
    assert.strictEqual(sum(spans("invoke_agent lead")), 40)
    assert.strictEqual(sum(spans("invoke_agent helper")), 20)
  })

  it("have the status of a success while a sub-agent waits, and the decision is an event of the next one", async () => {
    await using collector = await startCollector()
    await inTwoParts(collector)
    assert.deepEqual(collector.spans.filter(({ status }) => status.code === 2).map(({ name }) => name), [])
    const decided = collector.spans.filter(({ events }) => events.some(({ name }) => name === "belay.approval.decided"))
    assert.deepEqual(decided.map(({ name }) => name), ["invoke_agent helper"])
    const asked = collector.spans.filter(({ events }) => events.some(({ name }) => name === "belay.approval.asked"))
    assert.deepEqual(asked.map(({ name }) => name), ["invoke_agent helper"])
  })
})

describe("tracing that breaks", () => {
  it("loses only the texts when the content cannot be redacted", async () => {
    await using collector = await startCollector()
    for (const content of [() => assert.fail("the redactor broke"), () => undefined as never]) {
      const tracing = Tracing.make({ url: collector.url, content })
      const agent = createAgent({
        provider: calling("danger", {}),
        tools: [danger],
        plugins: [tracing.plugin],
        log: false
      })
      await agent.run("a word that nobody may see")
      await tracing.close()
    }
    assert.lengthOf(collector.spans.filter(({ name }) => name.startsWith("chat")), 4)
    const texts = collector.spans.map((span) => valueOf(span, "gen_ai.input.messages")).filter((text) =>
      text !== undefined
    )
    assert.lengthOf(texts, 4)
    for (const text of texts) assert.include(JSON.stringify(text), "not recorded")
    assert.notInclude(JSON.stringify(collector.spans), "a word that nobody may see")
  })

  it("does not hold up an agent that is closed while the collector hangs", async () => {
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const tracing = Tracing.make({ url: `http://127.0.0.1:${port}` })
    const agent = createAgent({
      provider: calling("danger", {}),
      tools: [danger],
      plugins: [tracing.plugin],
      log: false
    })
    await agent.run("hi")
    const begun = performance.now()
    await agent.close()
    // An agent gives a plugin half a minute.
    assert.isBelow(performance.now() - begun, 20_000)
    server.closeAllConnections()
    server.close()
  })
})
