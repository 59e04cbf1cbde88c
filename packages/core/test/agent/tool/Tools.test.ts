/** Tools: their arguments, and everything a tool or a model can do wrong. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { JsonObject } from "../../../src/data/Json.ts"
import type { ToolCall } from "../../../src/data/Message.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"
import { step } from "../../support/step.ts"

/** What looks like a promise and is none. */
const thenable = (then: (resolve: (value: string) => void) => void): object => {
  const key = ["th", "en"].join("")
  return { [key]: then }
}

describe("what a model writes", () => {
  it("arguments that are not JSON are fed back; a repaired reading runs only when the schema accepts it", async () => {
    const act = recording("act", () => "ran", {
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as never
    })
    const { text } = await step([act.tool], [
      { args: null, malformed: `{"n": ` },
      { args: { n: 1 }, malformed: `{"n": 1` },
      { args: { m: 1 }, malformed: `{"m": 1` }
    ])
    assert.deepStrictEqual(act.ran, [{ n: 1 }])
    assert.include(
      text,
      `tool act!: the arguments are not valid JSON: {"n":  | tool act: ran | tool act!: the arguments are not valid JSON: {"m": 1`
    )
  })

  it("names that no tool has, however hostile, get an error that lists the tools", async () => {
    const names = [
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "act\u0000",
      "ACT",
      "\u0430ct",
      "",
      "x".repeat(10_000)
    ]
    const act = recording("act")
    const { text } = await step([act.tool], names.map((name) => ({ name })))
    assert.lengthOf(act.ran, 0)
    assert.lengthOf(text.match(/unknown tool ".*?": the tools are act/gs) ?? [], names.length)
  })

  it("a tool may have such a name, and such keys in its arguments", async () => {
    const tools = ["__proto__", "constructor", "toString"].map((name) => recording(name))
    const args = JSON.parse(
      `{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}`
    ) as JsonObject
    const { text } = await step(tools.map(({ tool }) => tool), tools.map(({ tool: { name } }) => ({ name, args })))
    assert.strictEqual((Object.prototype as { readonly polluted?: number }).polluted, undefined)
    for (const { ran } of tools) assert.lengthOf(ran, 1)
    assert.notInclude(text, "!")
  })

  it("ids that are empty or used twice, in a step or over steps, are made unique", async () => {
    const call = (id: string): ToolCall => ({ id, name: "act", args: {} })
    const model = scripted([
      { toolCalls: [call(""), call("a"), call("a"), call("constructor")] },
      { toolCalls: [call("a"), call(""), call("call_1_1_0")] },
      "done",
      { toolCalls: [call("a"), call("__proto__")] },
      "done"
    ])
    const act = recording("act")
    await using agent = createAgent({ provider: model.provider, tools: [act.tool] })
    const session = await agent.session()
    await session.run("go")
    await session.run("again")
    assertValid(session.messages)
    const ids = session.messages.flatMap((message) => message.role === "tool" ? [message.toolCallId] : [])
    assert.lengthOf(ids, 9)
    assert.lengthOf(new Set(ids), 9)
    assert.isFalse(ids.includes(""))
    assert.lengthOf(act.ran, 9)
  })

  it("two hundred calls of one step get two hundred results in their order, each once", async () => {
    const act = recording("act", async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, (Number(n) * 7) % 20))
      return n
    })
    const { messages } = await step([act.tool], Array.from({ length: 200 }, (_, n) => ({ args: { n } })))
    const outputs = messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
    assert.deepStrictEqual(outputs, Array.from({ length: 200 }, (_, n) => n))
    assert.lengthOf(act.ran, 200)
  })

  it("arguments nested thousands of levels deep are an error result, and the session can still be written down", async () => {
    let deep: unknown = 1
    for (let i = 0; i < 20_000; i++) deep = [deep]
    const act = recording("act")
    const { messages, text } = await step([act.tool], [{ args: { deep } as never }, { args: { n: 1 } }])
    assert.deepStrictEqual(act.ran, [{ n: 1 }])
    assert.match(text, /tool act!: the arguments are not valid JSON: \$\.deep\[0\]/)
    assert.isBelow(JSON.stringify(messages).length, 5_000)
  })
})

describe("what a tool does", () => {
  it("throws, rejects, fails, dies or interrupts itself: the model reads the message, the other calls continue", async () => {
    const tools = [
      recording("throws", () => {
        throw new Error("thrown")
      }),
      recording("rejects", () => Promise.reject(new Error("rejected"))),
      recording("fails", () => Effect.fail("failed")),
      recording("dies", () => Effect.die(new Error("died"))),
      recording("interrupts", () => Effect.interrupt),
      recording("quits", () => {
        throw undefined as unknown as Error
      }),
      recording("act", async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return "fine"
      })
    ]
    const { text } = await step(tools.map(({ tool }) => tool), tools.map(({ tool: { name } }) => ({ name })))
    for (
      const [name, why] of [["throws", "thrown"], ["rejects", "rejected"], ["fails", "failed"], [
        "dies",
        "died"
      ]] as const
    ) {
      assert.include(text, `tool ${name}!: ${why}`)
    }
    assert.match(text, /tool interrupts!: .+ \| tool quits!: undefined \| tool act: fine/)
  })

  it("returns nothing, something like a promise, or a promise of an Effect", async () => {
    const returns: ReadonlyArray<readonly [unknown, RegExp]> = [
      [undefined, /tool act: null/],
      [
        thenable(() => {
          throw new Error("no promise")
        }),
        /tool act!: no promise/
      ],
      [thenable((resolve) => resolve("like a promise")), /tool act: like a promise/],
      [Effect.fail("failed"), /tool act!: failed/],
      [Effect.promise(async () => "an Effect"), /tool act: an Effect/]
    ]
    for (const [value, expected] of returns) {
      const isThenable = typeof value === "object" && value !== null && "then" in value
      const ways: ReadonlyArray<() => unknown> = [() => value, async () => value]
      for (const given of isThenable ? ways : [...ways, () => Effect.succeed(value)]) {
        const { text } = await step([recording("act", given).tool], [{}])
        assert.match(text, expected)
      }
    }
  })

  it("cannot change the conversation later through its arguments or its output", async () => {
    const todos: Array<string> = []
    const model = scripted([asks(["add", { item: "one", more: [] }]), asks(["add", { item: "two", more: [] }])])
    const add = defineTool({
      name: "add",
      description: "Adds",
      input: Schema.Struct({ item: Schema.String, more: Schema.Json }),
      execute: (args) => {
        todos.push(args.item)
        ;(args.more as Array<string>).push("scribble")
        return todos
      }
    })
    await using agent = createAgent({
      provider: model.provider,
      tools: [add],
      hooks: [{ name: "h", postToolCall: () => undefined, preToolCall: () => undefined }]
    })
    const { messages } = await agent.run("go")
    assert.include(line(messages), `tool add: ["one"] | assistant[add]:  | tool add: ["one","two"]`)
    assert.notInclude(JSON.stringify(messages), "scribble")
  })

  it("runs alone when it is exclusive, beside others when it is not", async () => {
    let running = 0
    let most = 0
    const busy = (name: string, exclusive: boolean) =>
      recording(name, async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        return name
      }, { exclusive }).tool
    await step([busy("act", false), busy("alone", true)], [{}, {}, {}])
    assert.strictEqual(most, 3)
    most = 0
    await step([busy("act", false), busy("alone", true)], [{}, { name: "alone" }, {}])
    assert.strictEqual(most, 1)
  })

  it("cannot exceed its time limit, even if it ignores the signal or cannot be interrupted", async () => {
    const aborted: Array<string> = []
    const deaf = recording("deaf", (_, { signal }) => {
      signal.addEventListener("abort", () => aborted.push("deaf"))
      return new Promise(() => {})
    })
    const stubborn = recording("stubborn", (_, { signal }) => {
      signal.addEventListener("abort", () => aborted.push("stubborn"))
      return Effect.uninterruptible(Effect.sleep(4_000))
    })
    const model = scripted([asks(["deaf"], ["stubborn"], ["deaf"])])
    await using agent = createAgent({
      provider: model.provider,
      tools: [deaf.tool, stubborn.tool],
      limits: { toolMs: 30 }
    })
    const began = performance.now()
    const { messages } = await agent.run("go")
    assert.isBelow(performance.now() - began, 4_000)
    assert.lengthOf(line(messages).match(/!: the tool did not answer within 30 ms/g) ?? [], 3)
    assert.deepStrictEqual(aborted.toSorted(), ["deaf", "deaf", "stubborn"])
  })

  it("gets an idempotency key that is the same for the same call only", async () => {
    const keys: Array<string> = []
    const act = recording("act", (_, { callId, cwd, idempotencyKey, sessionId }) => {
      keys.push(idempotencyKey)
      return `${callId} ${cwd} ${sessionId.length > 0}`
    })
    const { text } = await step([act.tool], [{}, {}])
    assert.match(text, /tool act: id-0 \S+ true \| tool act: id-1 \S+ true/)
    assert.lengthOf(new Set(keys), 2)
  })
})
