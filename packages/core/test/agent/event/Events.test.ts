/** Events: what listeners get to know of a run, and that they cannot change it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { Plugin } from "../../../src/agent/Plugin.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { names } from "../../../src/hook/HookPoint.ts"
import type { LlmProvider } from "../../../src/port/LlmProvider.ts"
import { line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("events", () => {
  const everyPoint = (log: Array<string>): AgentHook => ({
    name: "every",
    ...Object.fromEntries(names.map((point) => [point, () => void log.push(point)]))
  })

  // rows: A-45
  it("are separate from hooks: hooks run when nobody listens, and no event is built", async () => {
    const log: Array<string> = []
    const model = scripted([{ ...asks(["look"]), text: "looking" }, "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [everyPoint(log)]
    })
    const frozen = Object.freeze
    let events = 0
    Object.freeze = ((value: object) => {
      if ("seq" in value) events++
      return frozen(value)
    }) as typeof Object.freeze
    try {
      await agent.run("quiet")
      assert.strictEqual(events, 0)
      agent.on(() => {})
      await agent.run("loud")
      assert.isAbove(events, 5)
    } finally {
      Object.freeze = frozen
    }
    assert.isAbove(log.length, 10)
  })

  it("go to plugins, those of sub-agents too, and a plugin that wants no deltas causes no stream", async () => {
    const seen: Array<string> = []
    const isStreamed: Array<boolean> = []
    const provider = (...script: Parameters<typeof scripted>[0]): LlmProvider => {
      const { complete, stream, ...rest } = scripted(script).provider
      return {
        ...rest,
        complete: (request) => Effect.andThen(Effect.sync(() => isStreamed.push(false)), complete(request)),
        stream: (request, sink) => Effect.andThen(Effect.sync(() => isStreamed.push(true)), stream!(request, sink))
      }
    }
    const plugin: Plugin = {
      name: "watch",
      onEvent: (event) => seen.push(`${event.agent} ${event.type}`),
      eventTypes: ["turn-start", "turn-end"]
    }
    const child = createAgent({ name: "child", provider: provider("found") })
    await using agent = createAgent({
      name: "lead",
      provider: provider(asks(["child", { message: "look" }]), "done", "again"),
      tools: [agentTool({ agent: child, name: "child", description: "Looks" })],
      plugins: [plugin]
    })
    await agent.run("hi")
    assert.deepStrictEqual(seen, ["lead turn-start", "child turn-start", "child turn-end", "lead turn-end"])
    assert.deepStrictEqual(isStreamed, [false, false, false])
    const numbers: Array<number> = []
    agent.on(({ seq }) => numbers.push(seq))
    await agent.run("again")
    assert.strictEqual(isStreamed.at(-1), true)
    assert.deepStrictEqual(numbers, numbers.map((_, index) => index + 1))
  })

  // rows: A-45
  it("cannot be used to change the run: whatever a listener does to an event has no effect", async () => {
    const spoil = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      for (const key of Object.keys(value)) {
        const inner = (value as Record<string, unknown>)[key]
        spoil(inner)
        try {
          ;(value as Record<string, unknown>)[key] = typeof inner === "string" ? "spoilt" : inner
          ;(value as Record<string, unknown>)["extra"] = "spoilt"
        } catch {
          // frozen, as it may be
        }
      }
    }
    for (const freeze of [true, false]) {
      const model = scripted([
        { ...asks(["write", { path: "/tmp/a", deep: { list: ["x"] } }]), usage: { inputTokens: 1, outputTokens: 2 } },
        "done"
      ])
      const write = recording("write", () => ({ wrote: { to: "/tmp/a" } }))
      await using agent = createAgent({ provider: model.provider, tools: [write.tool], freeze })
      agent.on(spoil)
      const result = await agent.run("go")
      assert.deepStrictEqual(write.ran, [{ path: "/tmp/a", deep: { list: ["x"] } }])
      assert.notInclude(JSON.stringify(result), "spoilt")
      assert.strictEqual(
        line(result.messages),
        `user: go | assistant[write]:  | tool write: {"wrote":{"to":"/tmp/a"}} | assistant: done`
      )
    }
  })

  // rows: A-45
  it("continue when a listener throws: the run and the other listeners are not affected", async () => {
    const heard: Array<AgentEvent> = []
    const lines: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      log: ({ message }) => void lines.push(message)
    })
    agent.on(() => {
      throw new Error("a broken listener")
    })
    agent.on((event) => void heard.push(event))
    const result = await agent.run("go")
    assert.strictEqual(result.text, "the end")
    assert.deepStrictEqual(lines, ["a listener failed at the event session-start and was removed: a broken listener"])
    assert.deepStrictEqual(heard.map(({ seq }) => seq), heard.map((_, index) => index + 1))
    assert.isAbove(heard.length, 4)
  })

  it("go no more to an async listener that rejects, and the log says so once", async () => {
    const lines: Array<string> = []
    let calls = 0
    const rejects = async (): Promise<void> => {
      calls++
      throw new Error("a broken listener")
    }
    await using agent = createAgent({
      provider: scripted([]).provider,
      log: ({ message }) => void lines.push(message)
    })
    // oxlint-disable-next-line typescript/no-misused-promises -- programs in JavaScript do this
    agent.on(rejects)
    assert.strictEqual((await agent.run("go")).text, "the end")
    const before = calls
    await agent.run("go")
    // A rejection that nobody handles fails this file.
    await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(calls, before)
    assert.deepStrictEqual(lines.filter((one) => one.includes("listener")), [
      "a listener failed at the event session-start and was removed: a broken listener"
    ])
  })

  it("describe a whole turn, in order, numbered without gaps", async () => {
    const model = scripted([asks(["look"], ["nothing"]), "done"])
    const heard: Array<AgentEvent> = []
    await using agent = createAgent({ provider: model.provider, tools: [recording("look").tool] })
    agent.on((event) => void heard.push(event))
    await agent.run("go")
    assert.deepStrictEqual(heard.map(({ type }) => type), [
      "session-start",
      "turn-start",
      "llm-start",
      "tool-call-delta",
      "tool-call-delta",
      "llm-end",
      "tool-start",
      "tool-end",
      "llm-start",
      "text-delta",
      "text-delta",
      "llm-end",
      "turn-end",
      "session-end"
    ])
    assert.deepStrictEqual(heard.map(({ seq }) => seq), heard.map((_, index) => index + 1))
    assert.lengthOf(new Set(heard.map(({ sessionId }) => sessionId)), 1)
  })

  // rows: A-50
  it("report warnings and notices of hooks, and a hook that fails open", async () => {
    const heard: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "talks",
        preTurn: (_, { notifyUser, warn }) => {
          warn("careful")
          notifyUser("hello")
        },
        preLlmCall: () => {
          throw new Error("broken")
        }
      }]
    })
    agent.on((event) => {
      if (event.type === "warning" || event.type === "notice") {
        heard.push(`${event.type} ${event.hook}: ${event.message}`)
      }
      if (event.type === "hook-failed") {
        heard.push(`${event.hook} ${event.point} ${event.kind} ${event.policy}: ${event.message}`)
      }
    })
    const result = await agent.run("go")
    assert.strictEqual(result.status, "completed")
    assert.deepStrictEqual(heard, [
      "warning talks: careful",
      "notice talks: hello",
      "talks preLlmCall threw open: broken"
    ])
  })

  it("have the decision record of each point for a listener, without records: true", async () => {
    const seen: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "polite", preTurn: () => HookAction.transform({ message: "please" }) }]
    })
    agent.on((event) => {
      if (event.type === "hook") seen.push(`${event.record.point} ${event.record.action} ${event.record.decidedBy}`)
    })
    const { records } = await agent.run("go")
    assert.deepStrictEqual(seen, ["preTurn Transform polite"])
    assert.deepStrictEqual(records, [])
  })

  it("keep decision records in the result when the agent has records: true", async () => {
    const model = scripted([asks(["look"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      records: true,
      tools: [recording("look").tool],
      hooks: [{ name: "no", preToolCall: () => HookAction.reject("no") }, {
        name: "later",
        preToolCall: () => undefined
      }]
    })
    const { records } = await agent.run("go")
    const [record] = records.filter(({ point }) => point === "preToolCall")
    assert.strictEqual(record?.action, "Reject")
    assert.strictEqual(record?.decidedBy, "no")
    assert.deepStrictEqual(record?.hooks.map(({ answer, hook }) => `${hook} ${answer}`), ["no Reject", "later skipped"])
  })
})
