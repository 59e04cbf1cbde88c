/** Making room: when, who decides, and what must survive. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { CompactionResult, PostCompactionEvent } from "../../../src/data/Compaction.ts"
import { type Message, text, whyInvalid } from "../../../src/data/Message.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, line } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

const talk = (count: number): ReadonlyArray<Message> =>
  Array.from({ length: count }, (_, n): Message =>
    n % 2 === 0
      ? { role: "user", content: `question ${n} ${"q".repeat(100)}` }
      : { role: "assistant", content: `answer ${n} ${"a".repeat(100)}` })

const pinned: Message = { role: "user", content: "the issue is #4711", source: "h", pinned: true }

/** Runs one turn over a long conversation and says what became of it. */
const compacted = async (
  hook: Partial<AgentHook>,
  more: Partial<AgentConfig> = {},
  messages: ReadonlyArray<Message> = talk(40)
) => {
  const ends: Array<PostCompactionEvent> = []
  const warnings: Array<string> = []
  const model = scripted([])
  await using agent = createAgent({
    provider: model.provider,
    window: { tokens: 1_000_000, maxMessages: 30 },
    hooks: [{ name: "h", ...hook }, { name: "watch", postCompaction: (end) => void ends.push(end) }],
    ...more
  })
  agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
  const session = await agent.session({ messages })
  await session.run("now")
  assertValid(session.messages)
  return { ends, warnings, sent: model.requests[0]!.messages, messages: session.messages }
}

const respond = (result: CompactionResult): Partial<AgentHook> => ({ preCompaction: () => HookAction.respond(result) })

describe("compaction", () => {
  it("happens at a number of messages, at a fraction of the window, and not before", async () => {
    const many = await compacted({})
    assert.lengthOf(many.ends, 1)
    assert.lengthOf(many.sent, 21)
    assert.match(text(many.sent[0]!), /^\[21 earlier messages were removed to fit the window\]/)
    const tokens = talk(40).reduce((sum, message) => sum + Math.ceil(text(message).length / 4), 0)
    for (const [factor, count] of [[1.5, 0], [1.1, 1]] as const) {
      const { ends } = await compacted({}, { window: { tokens: Math.round(tokens * factor), compactAt: 0.8 } })
      assert.lengthOf(ends, count)
    }
  })

  it("happens on request, and returns whether anything was removed", async () => {
    await using agent = createAgent({ provider: scripted([]).provider })
    const long = await agent.session({ messages: talk(50) })
    assert.isTrue(await long.compact())
    assert.lengthOf(long.messages, 21)
    assertValid(long.messages)
    const short = await agent.session({ messages: [{ role: "user", content: "hi" }] })
    assert.isFalse(await short.compact())
    assert.strictEqual(line(short.messages), "user: hi")
  })

  it("follows a hint: how many messages to keep, which texts must survive", async () => {
    const { sent } = await compacted({
      preCompaction: ({ hint }) =>
        HookAction.transform({ ...hint, keepRecent: 4, anchors: ["question 2", "not in the conversation"] })
    })
    assert.lengthOf(sent, 5)
    assert.include(text(sent[0]!), "keep in mind: question 2")
    assert.notInclude(text(sent[0]!), "not in the conversation")
  })

  it("is skipped when a hook rejects it", async () => {
    const { ends, sent } = await compacted({ preCompaction: () => HookAction.reject("not now") })
    assert.lengthOf(ends, 0)
    assert.lengthOf(sent, 41)
  })

  it("takes a hook's own result, or a compactor's", async () => {
    const result: CompactionResult = { messages: [{ role: "user", content: "all that was said" }], summary: "short" }
    const byHook = await compacted(respond(result))
    assert.strictEqual(line(byHook.sent), "user: all that was said")
    assert.strictEqual(byHook.ends[0]!.summary, "short")
    assert.strictEqual(byHook.ends[0]!.removedCount, 41)
    const byCompactor = await compacted({}, { compactor: { compact: () => Effect.succeed(result) } })
    assert.strictEqual(line(byCompactor.sent), "user: all that was said")
  })

  it("counts only what is left", async () => {
    let used = Infinity
    const short: CompactionResult = { messages: [{ role: "user", content: "all that was said" }], summary: "short" }
    const { ends } = await compacted({
      ...respond(short),
      preStop: ({ budget }) => {
        used = budget.usedTokens
      }
    })
    assert.lengthOf(ends, 1)
    assert.isBelow(used, 50)
  })

  it("refuses a result that loses required content, and uses the default", async () => {
    const call = { id: "c", name: "look", args: {} }
    const history = [...talk(38), pinned]
    const refused: ReadonlyArray<readonly [CompactionResult, RegExp]> = [
      [
        { messages: [{ role: "assistant", content: "", toolCalls: [call] }, pinned], summary: "" },
        /tool call c has no result/
      ],
      [
        { messages: [{ role: "tool", toolCallId: "c", toolName: "look", content: "" }, pinned], summary: "" },
        /follows no tool call/
      ],
      [
        { messages: [{ role: "user", content: "short" }], summary: "" },
        /a pinned message is gone: "the issue is #4711"/
      ],
      [{ messages: [...history, ...talk(4)], summary: "" }, /it is not shorter than before/]
    ]
    for (const [result, why] of refused) {
      for (const way of ["hook", "compactor"]) {
        const { sent, warnings } = await compacted(
          way === "hook" ? respond(result) : {},
          way === "hook" ? {} : { compactor: { compact: () => Effect.succeed(result) } },
          history
        )
        assert.match(warnings.join(), why)
        assert.match(text(sent[0]!), /earlier messages were removed/)
        assert.isTrue(sent.some((message) => text(message) === text(pinned)))
      }
    }
    const anchored = await compacted({
      preCompaction: ({ hint }) => HookAction.transform({ ...hint, anchors: ["question 2"] })
    }, {
      compactor: { compact: () => Effect.succeed({ messages: [{ role: "user", content: "forgot" }], summary: "" }) }
    })
    assert.match(anchored.warnings.join(), /the anchor "question 2" is gone/)
    assert.include(text(anchored.sent[0]!), "keep in mind: question 2")
  })

  it("uses the default when the compactor fails in any way", async () => {
    const broken = [
      () => Effect.fail("no"),
      () => Effect.die("no"),
      () => Effect.void,
      () => Effect.succeed({ messages: "x" })
    ]
    for (const compact of broken) {
      const { sent } = await compacted({}, { compactor: { compact: compact as never } })
      assert.match(text(sent[0]!), /earlier messages were removed/)
    }
    const thrown = await compacted({}, {
      compactor: {
        compact: () => {
          throw new Error("no")
        }
      }
    })
    assert.match(text(thrown.sent[0]!), /earlier messages were removed/)
  })

  it("never splits a pair and never loses a pin, for 2,000 random conversations and hints", async () => {
    let shortened = 0
    let hint = {}
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preCompaction: () => HookAction.transform(hint) }]
    })
    const weight = (all: ReadonlyArray<Message>) =>
      all.reduce(
        (sum, message) =>
          sum + text(message).length + ("toolCalls" in message ? JSON.stringify(message.toolCalls).length : 0),
        0
      )
    for (let seed = 0; seed < 2_000; seed++) {
      const r = random(seed)
      const messages: Array<Message> = []
      const length = 1 + r.below(40)
      for (let n = 0; n < length; n++) {
        const kind = r.below(4)
        if (kind < 2) {
          messages.push({
            role: "user",
            content: `u${n} ${"x".repeat(r.below(300))}`,
            ...(r.chance(0.1) ? { pinned: true } : {})
          })
        } else if (kind === 2) messages.push({ role: "assistant", content: `a${n}` })
        else {
          const ids = Array.from({ length: 1 + r.below(3) }, (_, index) => `c${n}-${index}`)
          messages.push({
            role: "assistant",
            content: "",
            toolCalls: ids.map((id) => ({ id, name: "look", args: {} }))
          })
          for (const id of ids) {
            messages.push({ role: "tool", toolCallId: id, toolName: "look", content: "y".repeat(r.below(300)) })
          }
        }
      }
      hint = { keepRecent: r.pick([0, 1, 2, 5, 20, 1_000, -3]), anchors: r.chance(0.3) ? ["u2"] : [] }
      const session = await agent.session({ messages })
      const done = await session.compact()
      const after = session.messages
      assert.strictEqual(whyInvalid(after), undefined, `seed ${seed}`)
      for (const message of messages) {
        if (message.role === "user" && message.pinned === true) assert.include(after, message, `seed ${seed}`)
      }
      if (!done) assert.deepStrictEqual(after, messages)
      else {
        shortened++
        assert.isBelow(weight(after), weight(messages), `seed ${seed}`)
      }
    }
    assert.isAbove(shortened, 500)
  })
})
