/** The result of a turn is plain data. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { Message } from "../../../src/data/Message.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const common = [
  "cost",
  "failOpens",
  "messages",
  "records",
  "sessionId",
  "status",
  "steps",
  "text",
  "toolCalls",
  "turnNumber",
  "usage"
]

/** A conversation before the first turn. */
const earlier = (count: number): ReadonlyArray<Message> =>
  Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content: `old ${i}` }))

const isPlainData = (result: RunResult, fields: ReadonlyArray<string>): void => {
  const expected = [...common, ...fields].sort()
  const copies = [JSON.parse(JSON.stringify(result)), structuredClone(result), { ...result }, Object.assign({}, result)]
  for (const copy of copies) {
    assert.deepStrictEqual(Object.keys(copy as object).sort(), expected)
    assert.deepStrictEqual(copy, { ...result })
  }
  const text = inspect(result, { depth: 9, maxArrayLength: null })
  assert.notMatch(text, /Getter|CommonResult/)
  for (const { content } of result.messages) assert.include(text, content as string)
}

describe("the result of a turn", () => {
  for (const count of [0, 10, 2_000]) {
    it(`is plain data after ${count} earlier messages, and does not change later`, async () => {
      await using agent = createAgent({ provider: scripted(["one", "two", "three"]).provider })
      await using session = await agent.session({ messages: earlier(count) })
      const first = await session.run("first")
      const text = JSON.stringify(first)
      const second = await session.run("second")
      await session.run("third")
      assert.lengthOf(first.messages, count + 2)
      assert.lengthOf(second.messages, count + 4)
      assert.strictEqual(second.messages.at(-1)?.content, "two")
      assert.strictEqual(JSON.stringify(first), text)
      isPlainData(first, ["finishReason"])
      isPlainData(second, ["finishReason"])
      assert.strictEqual(second.messages, second.messages)
    })
  }

  it("is plain data when the turn waits, is aborted or reaches a limit", async () => {
    const { tool } = recording("act")
    const run = (hook: () => unknown, limits = {}) =>
      createAgent({
        provider: scripted([asks(["act"]), asks(["act"])]).provider,
        tools: [tool],
        hooks: [{ name: "h", preToolCall: hook as never }],
        limits,
        records: true
      }).run("go")
    isPlainData(await run(() => HookAction.ask("?")), ["pending", "snapshot"])
    isPlainData(await run(() => HookAction.abort("no")), ["by", "reason"])
    isPlainData(await run(() => undefined, { steps: 1 }), ["limit", "max", "snapshot", "used"])
  })

  it("keeps its records when later turns add more", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preTurn: () => undefined }],
      records: true
    })
    await using session = await agent.session()
    const first = await session.run("first")
    const { length } = first.records
    await session.run("second")
    assert.isAbove(length, 0)
    assert.lengthOf(first.records, length)
  })
})
