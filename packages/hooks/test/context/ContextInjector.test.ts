import { createAgent } from "@belay/core/createAgent"
import * as HookChain from "@belay/core/HookChain"
import type { HookScope } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Message } from "@belay/core/Message"
import * as ContextInjector from "@belay/hooks/ContextInjector"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { request, standing } from "../../../../test/support/events.ts"

/** A session whose turn and step the test sets. */
const session = (options: ContextInjector.Options) => {
  const injected: Array<string> = []
  const chain = HookChain.makeUnsafe([ContextInjector.make(options)])
  const state = HookState.make()
  const scope = (turnNumber: number): HookScope =>
    TestScope.make({ turnNumber, local: state, inject: (text) => void injected.push(text) })
  return {
    injected,
    turn: (n: number) => chain.run("preTurn", { message: "hi" } as never, scope(n)),
    step: (n: number) => chain.run("postStep", standing, scope(n)),
    compacted: (n: number) =>
      chain.run(
        "postCompaction",
        { removedCount: 1, summary: "", budget: { usedTokens: 0, windowTokens: 1 }, trigger: "threshold" },
        scope(n)
      ),
    ask: (n: number, asked: LlmRequest = request()) =>
      Effect.map(chain.run("preLlmCall", asked, scope(n)), ({ event }) => event)
  }
}

describe("ContextInjector at the tail", () => {
  it.effect("adds a new text once", () =>
    Effect.gen(function*() {
      let text: string | undefined = "main"
      const { injected, step, turn } = session({ render: () => text })
      yield* turn(1)
      yield* step(1)
      yield* turn(2)
      text = undefined
      yield* step(2)
      text = "other"
      yield* step(2)
      yield* step(2)
      assert.deepEqual(injected, ["main", "other"])
    }))

  it.effect("adds the same text again if dedupe is false", () =>
    Effect.gen(function*() {
      const { injected, step, turn } = session({ render: () => "main", dedupe: false })
      yield* turn(1)
      yield* step(1)
      assert.deepEqual(injected, ["main", "main"])
    }))

  it.effect("does not render or add a text while it is valid, and adds it again afterwards", () =>
    Effect.gen(function*() {
      let renders = 0
      const { ask, injected, step, turn } = session({
        render: () => {
          renders++
          return "text"
        },
        ttl: { turns: 2, steps: 3 }
      })
      yield* turn(1)
      for (let n = 0; n < 2; n++) {
        yield* ask(1)
        yield* step(1)
      }
      assert.deepEqual([renders, injected.length], [1, 1])
      yield* ask(1)
      yield* step(1)
      assert.deepEqual([renders, injected.length], [2, 2])
      yield* turn(2)
      assert.strictEqual(renders, 2)
      yield* turn(3)
      assert.deepEqual(injected, ["text", "text", "text"])
    }))

  it.effect("adds the text again after a compaction", () =>
    Effect.gen(function*() {
      const { compacted, injected, turn } = session({ render: () => "main" })
      yield* compacted(1)
      yield* turn(1)
      yield* compacted(1)
      assert.deepEqual(injected, ["main", "main"])
    }))

  it.effect("waits for promises and Effects, and ignores failures and values that are not texts", () =>
    Effect.gen(function*() {
      for (const render of [async () => "main", () => Effect.succeed("main")]) {
        const { injected, turn } = session({ render })
        yield* turn(1)
        assert.deepEqual(injected, ["main"])
      }
      for (
        const render of [
          () => assert.fail("broken"),
          async () => assert.fail("broken"),
          () => Effect.fail("broken"),
          () => 7 as never,
          () => " \n"
        ]
      ) {
        const { injected, turn } = session({ render })
        assert.strictEqual((yield* turn(1)).action._tag, "Continue")
        assert.deepEqual(injected, [])
      }
    }))

  it.effect("cuts long texts between characters", () =>
    Effect.gen(function*() {
      const { injected, turn } = session({ render: () => "\u{1F600}".repeat(5_000), maxTokens: 20 })
      yield* turn(1)
      assert.isAtMost(injected[0]!.length, 80)
      assert.match(injected[0]!, /^(?:\u{1F600})+… \[cut\]$/u)
    }))
})

describe("ContextInjector in the request", () => {
  it.effect("ends the request with an ephemeral text", () =>
    Effect.gen(function*() {
      const { ask } = session({ name: "clock", render: (ctx) => `turn ${ctx.turnNumber}`, placement: "ephemeral" })
      assert.deepEqual((yield* ask(3)).messages, [...request().messages, {
        role: "user",
        content: "turn 3",
        source: "clock"
      }])
    }))

  it.effect("ends the instructions with a text of the prefix", () =>
    Effect.gen(function*() {
      const { ask } = session({ render: () => "Be brief.", placement: "prefix" })
      assert.strictEqual((yield* ask(1)).instructions, "Be brief.")
      assert.strictEqual((yield* ask(1, { ...request(), instructions: "Help." })).instructions, "Help.\n\nBe brief.")
    }))

  it.effect("does not change a request if there is no text", () =>
    Effect.gen(function*() {
      const asked = request()
      for (const placement of ["prefix", "ephemeral"] as const) {
        assert.strictEqual(yield* session({ render: () => undefined, placement }).ask(1, asked), asked)
      }
    }))

  it.effect("keeps the text while it is valid", () =>
    Effect.gen(function*() {
      let renders = 0
      const { ask } = session({ render: () => String(++renders), placement: "prefix", ttl: { steps: 2 } })
      const seen = yield* Effect.forEach([1, 1, 1, 2, 2], (turn) =>
        Effect.map(ask(turn), ({ instructions }) => instructions))
      assert.deepEqual(seen, ["1", "1", "2", "2", "3"])
    }))

  it("rejects invalid options", () => {
    const render = () => ""
    for (
      const options of [{ placement: "top" }, { maxTokens: 1 }, { ttl: {} }, { ttl: { turns: 0 } }, {
        ttl: { steps: -1 }
      }]
    ) {
      assert.throws(
        () => ContextInjector.make({ render, ...options } as never),
        new RegExp(`context-injector.${Object.keys(options)[0]}`)
      )
    }
  })
})

const texts = Schema.Array(Schema.Literals(["", "one", "two", "three"]))
const placements = Schema.Literals(["tail", "ephemeral"])

describe("an agent with injected texts", () => {
  /** Four turns of three steps each, with another text rendered every time. */
  const requestsOf = async (placement: ContextInjector.Placement, rendered: ReadonlyArray<string>) => {
    const { tools } = recording()
    const requests: Array<LlmRequest> = []
    const provider: LlmProvider = {
      name: "one",
      complete: (asked) =>
        Effect.sync((): LlmResponse => {
          const n = requests.push(asked)
          const answer = n % 3 === 0 ? { text: `answer ${n}` } : calls(["bash", { command: `ls ${n}` }])
          return {
            model: "m",
            text: "",
            toolCalls: [],
            finishReason: "stop",
            ...answer,
            ...(answer.toolCalls === undefined
              ? {}
              : { toolCalls: answer.toolCalls.map((call) => ({ ...call, id: `call-${n}` })) })
          }
        })
    }
    let at = 0
    await using agent = createAgent({
      provider,
      tools,
      instructions: "Help.",
      hooks: [ContextInjector.make({ placement, render: () => rendered[at++ % Math.max(1, rendered.length)] })]
    })
    await using conversation = await agent.session()
    for (let turn = 0; turn < 4; turn++) await conversation.run(`question ${turn}`)
    return { requests, messages: conversation.messages }
  }

  /** The part of a request that a vendor can cache: everything except ephemeral texts. */
  const stable = ({ messages }: LlmRequest, placement: ContextInjector.Placement): ReadonlyArray<Message> =>
    placement === "ephemeral" && messages.at(-1)?.role === "user" &&
      (messages.at(-1) as { source?: string }).source !== undefined
      ? messages.slice(0, -1)
      : messages

  it.effect.prop(
    "starts every request like the one before it, unless the text is in the prefix",
    [placements, texts],
    ([placement, rendered]) =>
      Effect.promise(async () => {
        const { requests } = await requestsOf(placement, rendered)
        return requests.length === 12 && requests.every((asked, index) => {
          if (index === 0) return true
          const before = stable(requests[index - 1]!, placement)
          return asked.instructions === "Help." && JSON.stringify(asked.tools) === JSON.stringify(requests[0]!.tools) &&
            JSON.stringify(asked.messages.slice(0, before.length)) === JSON.stringify(before)
        })
      }),
    { arbitrary: { runs: 25 } }
  )

  it("keeps texts at the tail in the conversation, and no ephemeral texts", async () => {
    const sources = (messages: ReadonlyArray<Message>) =>
      messages.filter((message) => message.role === "user" && message.source === "context-injector").length
    const tail = await requestsOf("tail", ["same"])
    assert.strictEqual(sources(tail.requests.at(-1)!.messages), 1)
    const ephemeral = await requestsOf("ephemeral", ["same"])
    assert.isTrue(ephemeral.requests.every(({ messages }) => sources(messages) === 1))
    const first = scripted([])
    await using agent = createAgent({
      provider: first.provider,
      hooks: [ContextInjector.make({ render: () => "same" })]
    })
    await agent.run("hi")
    assert.deepEqual(first.requests[0]?.messages.map(({ content }) => content), ["hi", "same"])
  })

  it("changes the prefix only if the text changes", async () => {
    const { requests } = await requestsOf("prefix", ["one"])
    assert.deepEqual([...new Set(requests.map(({ instructions }) => instructions))], ["Help.\n\none"])
  })

  it("adds no text twice in a run that is suspended and resumed", async () => {
    const { ran, tools } = recording()
    const { provider, requests } = scripted([calls(["bash", { command: "ls" }]), calls(["bash", { command: "pwd" }])])
    const hooks = [
      ContextInjector.make({ render: () => "same" }),
      PermissionRules.make({ ask: ["Bash(ls *)"], otherwise: "allow" })
    ]
    await using first = createAgent({ provider, tools, hooks })
    const asked = await first.run("go")
    assert(asked.status === "suspended")
    await using second = createAgent({ provider, tools, hooks })
    const { messages } = await second.resume(JSON.stringify(asked.snapshot), { "call-0": { type: "approve" } })
    assert.deepEqual(ran, ["ls", "pwd"])
    assert.lengthOf(messages.filter(({ content }) => content === "same"), 1)
    assert.lengthOf(requests, 3)
  })
})
