/** What the streams of LangChain and LangGraph show of tools that the guard runs. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch"
import { MemorySaver } from "@langchain/langgraph"
import { tool, type ToolRuntime } from "langchain"
import * as z from "zod"
import { calls, kit, loopOf, says, scripted, thread, user } from "./support/langChain.ts"

const secretless = defineHook({
  name: "secretless",
  preToolCall: ({ name }) => name === "send_mail" ? HookAction.reject("no mails") : undefined,
  postToolCall: ({ result }) => result.ok ? HookAction.transform({ ok: true, output: "[withheld]" }) : undefined
})

const failing = defineHook({
  name: "failing",
  postToolCall: ({ result }) => result.ok ? HookAction.transform({ ok: false, error: "[refused]" }) : undefined
})

/** Collects what a stream shows. */
const piecesOf = async (stream: AsyncIterable<unknown>): Promise<ReadonlyArray<unknown>> => {
  const pieces: Array<unknown> = []
  for await (const piece of stream) pieces.push(piece)
  return pieces
}

/** The steps of calls in the mode `tools`. */
const stepsOf = (pieces: ReadonlyArray<unknown>) =>
  (pieces as ReadonlyArray<{ readonly event: string; readonly output?: { readonly text: string } }>).map(
    ({ event, output }) => output === undefined ? event : `${event} ${output.text}`
  )

const reads = () => scripted(calls(["read_page", { url: "a" }]), says("bye"))

describe("a stream of an agent", () => {
  it("shows results in the mode tools as the hooks left them", async () => {
    const { agent, ran } = kit([secretless])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("bye"))
    const pieces = await piecesOf(await agent(model).stream(user("go"), { ...thread, streamMode: "tools" }))
    assert.deepStrictEqual(stepsOf(pieces), ["on_tool_start", "on_tool_end [withheld]"])
    assert.deepStrictEqual(ran, ["a"])
  })

  it("shows what no hook has changed as the tool gave it", async () => {
    const pieces = await piecesOf(await kit([]).agent(reads()).stream(user("go"), { ...thread, streamMode: "tools" }))
    assert.deepStrictEqual(stepsOf(pieces), ["on_tool_start", "on_tool_end the secret of a is 4711"])
  })

  it("shows a result that a hook has made an error as one", async () => {
    const { agent } = kit([failing])
    const pieces = await piecesOf(await agent(reads()).stream(user("go"), { ...thread, streamMode: "tools" }))
    const [, end] = pieces as ReadonlyArray<{ readonly event: string; readonly error?: Error }>
    assert.deepStrictEqual([end?.event, end?.error?.message], ["on_tool_error", "[refused]"])
  })

  it("shows results in streamEvents as the hooks left them", async () => {
    const { agent } = kit([secretless])
    const events = await piecesOf(agent(reads()).streamEvents(user("go"), { ...thread, version: "v2" }))
    const shown = JSON.stringify(events)
    assert.include(shown, "on_tool_end")
    assert.include(shown, "[withheld]")
    assert.notInclude(shown, "4711")
  })

  it("shows pieces of a result only if no hook reads the whole", async () => {
    const slow = tool(async function*() {
      yield await Promise.resolve("piece 4711")
      return "all of 4711"
    }, { name: "slow", description: "Tells a secret", schema: z.object({}) })
    const eventsWith = async (...hooks: Parameters<typeof kit>[0]) => {
      const { guarded } = kit(hooks)
      const agent = guarded.createAgent({ model: scripted(calls(["slow", {}]), says("bye")), tools: [slow] })
      return stepsOf(await piecesOf(await agent.stream(user("go"), { streamMode: "tools" })))
    }
    assert.deepStrictEqual(await eventsWith(secretless), ["on_tool_start", "on_tool_end [withheld]"])
    assert.deepStrictEqual(await eventsWith(), ["on_tool_start", "on_tool_event", "on_tool_end all of 4711"])
  })

  it("shows what a tool writes only if no hook reads its result", async () => {
    const writes = tool(async (_input, config: ToolRuntime) => {
      config.writer?.("written 4711")
      await dispatchCustomEvent("said", "event 4711", config)
      return "all of 4711"
    }, { name: "writes", description: "Tells a secret", schema: z.object({}) })
    const shownWith = async (...hooks: Parameters<typeof kit>[0]) => {
      const agent = () => {
        const { guarded } = kit(hooks)
        return guarded.createAgent({ model: scripted(calls(["writes", {}]), says("bye")), tools: [writes] })
      }
      const events = await piecesOf(agent().streamEvents(user("go"), { version: "v2" }))
      const said = (events as ReadonlyArray<{ readonly event: string; readonly data: unknown }>)
        .flatMap(({ data, event }) => event === "on_custom_event" ? [data] : [])
      return [...await piecesOf(await agent().stream(user("go"), { streamMode: "custom" })), ...said]
    }
    assert.deepStrictEqual(await shownWith(secretless), [])
    assert.deepStrictEqual(await shownWith(), ["written 4711", "event 4711"])
  })

  it("shows what tools inside of a tool say at once", async () => {
    const inner = tool(() => "inner 1", { name: "inner", description: "Is inside", schema: z.object({}) })
    const outer = tool(async (_input, config) => `outer of ${String(await inner.invoke({}, config))}`, {
      name: "outer",
      description: "Is outside",
      schema: z.object({})
    })
    const { guarded } = kit([secretless])
    const agent = guarded.createAgent({ model: scripted(calls(["outer", {}]), says("bye")), tools: [outer] })
    const pieces = await piecesOf(await agent.stream(user("go"), { streamMode: "tools" }))
    const named = pieces as ReadonlyArray<{ readonly event: string; readonly name: string; readonly output?: unknown }>
    assert.deepStrictEqual(
      named.map(({ event, name }) => `${event} ${name}`),
      ["on_tool_start outer", "on_tool_start inner", "on_tool_end inner", "on_tool_end outer"]
    )
    assert.include(JSON.stringify(named[3]?.output), "[withheld]")
  })
})

describe("a stream of a graph", () => {
  it("shows what a tool writes only if no hook reads its result", async () => {
    const writes = tool(async (_input, config: ToolRuntime) => {
      config.writer?.("written 4711")
      const { writer } = config.config as { readonly writer?: (chunk: unknown) => void }
      writer?.("also 4711")
      return await Promise.resolve("all of 4711")
    }, { name: "writes", description: "Tells a secret", schema: z.object({}) })
    const shownWith = async (...hooks: Parameters<typeof kit>[0]) => {
      const { guarded } = kit(hooks)
      const graph = loopOf(guarded.model(scripted(calls(["writes", {}]), says("bye"))), guarded.tools([writes]))
        .compile()
      return await piecesOf(await graph.stream(user("go"), { streamMode: "custom" }))
    }
    assert.deepStrictEqual(await shownWith(secretless), [])
    assert.deepStrictEqual(await shownWith(), ["written 4711", "also 4711"])
  })

  it("shows results in the mode tools as the hooks left them", async () => {
    const { guarded, tools } = kit([secretless])
    const graph = loopOf(guarded.model(reads()), guarded.tools(tools)).compile({ checkpointer: new MemorySaver() })
    const pieces = await piecesOf(await graph.stream(user("go"), { ...thread, streamMode: "tools" }))
    assert.deepStrictEqual(stepsOf(pieces), ["on_tool_start", "on_tool_end [withheld]"])
  })
})
