/** Results of tools and messages of users that are larger than `limits.textLength`. */
import { assert, describe, it } from "@effect/vitest"
import { cpuMs } from "../../../../../test/support/cpu.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { SessionError } from "../../../src/data/AgentError.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { Json } from "../../../src/data/Json.ts"
import { type ToolMessage } from "../../../src/data/Message.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Runs a tool with a limit. Returns what hooks and the model read, and the warnings for the developer. */
const modelReads = async (returns: () => unknown, textLength = 1_000) => {
  const { tool } = recording("act", returns)
  const hooksRead: Array<unknown> = []
  await using agent = createAgent({
    provider: scripted([asks(["act", {}])]).provider,
    tools: [tool],
    hooks: [{
      name: "reader",
      wrapToolCall: async (call, next) => {
        const result = await next(call)
        hooksRead.push(result.ok ? result.output : result.error)
        return result
      }
    }],
    limits: { textLength }
  })
  const events: Array<AgentEvent> = []
  agent.on((event) => events.push(event))
  const { messages } = await agent.run("go")
  const { content, isError } = messages.find((message): message is ToolMessage => message.role === "tool")!
  assert.deepStrictEqual(hooksRead, [content])
  return { content, isError, warnings: events.flatMap((one) => one.type === "warning" ? [one.message] : []) }
}

const modelReadsText = async (returns: () => unknown) => {
  const { content, ...rest } = await modelReads(returns)
  return { ...rest, content: content as string }
}

const lengthOf = (value: Json): number => JSON.stringify(value).length

describe("a result of a tool that is too long", () => {
  it("is cut in the middle and says so, before any hook reads it", async () => {
    const { content, warnings } = await modelReadsText(() => `begin ${"x".repeat(5_000)} end`)
    assert.match(content, /^begin x+\n\[cut: \d+ characters or more\]\nx+ end$/)
    assert.strictEqual(content.length, 1_000)
    assert.match(warnings.join(), /act returned a text of 5010 characters, which is cut to 1000.*limits\.textLength/)
  })

  it("is cut also if it is an error", async () => {
    const { content, isError } = await modelReadsText(() => Promise.reject(new Error("x".repeat(5_000))))
    assert.isTrue(isError)
    assert.match(content, /\[cut: \d+ characters or more\]/)
    assert.isAtMost(content.length, 1_000)
  })

  it.each<[string, unknown, RegExp]>([
    ["a text of many", ["a", "x".repeat(5_000), "b"], /\[cut: \d+ characters or more\]/],
    ["a key", { a: "kept", ["x".repeat(5_000)]: "lost" }, /^\{"a":"kept"\}$/],
    ["many keys", Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n])), /^\{"k0":0/],
    ["a file", [{ type: "file", url: `data:text/plain,${"x".repeat(5_000)}` }], /\[left out: 5016 characters\]/],
    ["bytes", { data: new Uint8Array(5_000) }, /"\[left out: 6668 characters\]"/],
    ["a buffer", { data: new Uint8Array(5_000).buffer }, /"\[left out: 6668 characters\]"/]
  ])("is cut inside of JSON: %s", async (_what, value, form) => {
    const { content, warnings } = await modelReads(() => value)
    assert.match(JSON.stringify(content), form)
    assert.isBelow(lengthOf(content as Json), 10_000)
    assert.match(warnings.join(), /the texts have more than 1000 characters/)
  })

  it("of 50 MB costs less than a second of CPU", async () => {
    const text = "word ".repeat(10_000_000)
    const before = cpuMs()
    assert.isAtMost(lengthOf((await modelReads(() => text, 5_000_000)).content as Json), 5_000_100)
    assert.isBelow(cpuMs() - before, 1_000)
  })

  it("is kept whole at exactly the limit", async () => {
    const text = "x".repeat(1_000)
    assert.deepInclude(await modelReads(() => text), { content: text, warnings: [] })
    assert.deepInclude(await modelReads(() => [text]), { content: [text], warnings: [] })
  })
})

describe("a message of a user that is too long", () => {
  it("is refused before any hook reads it, also as a steered or queued message", async () => {
    const read: Array<string> = []
    await using agent = createAgent({
      provider: scripted(["hi"]).provider,
      hooks: [{ name: "reader", preTurn: ({ message }) => void read.push(message) }]
    })
    const session = await agent.session()
    const message = "x".repeat(50_000_000)
    for (
      const send of [
        () => session.run(message),
        () => session.run({ message }),
        () => session.run(message, { whenBusy: "queue" }),
        () => session.steer(message)
      ]
    ) {
      const error = await send().then(() => assert.fail("expected an error"), (caught: unknown) => caught)
      assert.instanceOf(error, SessionError)
      assert.match(
        (error as Error).message,
        /^the message has 50000000 characters, and at most 5000000 are allowed: shorten it, or raise `limits\.textLength`$/
      )
    }
    assert.deepStrictEqual(read, [])
    assert.deepStrictEqual(session.messages, [])
  })
})
