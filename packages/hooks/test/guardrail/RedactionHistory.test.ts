import * as HookChain from "@belay/core/HookChain"
import type { Message } from "@belay/core/Message"
import * as Redaction from "@belay/hooks/Redaction"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request } from "../../../../test/support/events.ts"

const card = "4111 1111 1111 1111"

describe("Redaction of a conversation that grows", () => {
  it.effect("scans new messages, and messages that were replaced in place", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "redact" })])
      const scope = TestScope.make({ freeze: false })
      const messages: Array<Message> = [{ role: "user", content: "hello" }, { role: "assistant", content: "yes?" }]
      const send = Effect.map(
        Effect.suspend(() => chain.run("preLlmCall", { ...request(), messages }, scope)),
        ({ event }) => event.messages.map(({ content }) => content)
      )
      assert.deepEqual(yield* send, ["hello", "yes?"])
      messages.push({ role: "user", content: "more" })
      assert.deepEqual(yield* send, ["hello", "yes?", "more"])
      messages.push({ role: "user", content: card })
      assert.deepEqual(yield* send, ["hello", "yes?", "more", "[CARD]"])
      messages[3] = { role: "user", content: "nothing" }
      assert.deepEqual(yield* send, ["hello", "yes?", "more", "nothing"])
      messages[0] = { role: "user", content: card }
      assert.deepEqual(yield* send, ["[CARD]", "yes?", "more", "nothing"])
      messages.splice(0, 2)
      assert.deepEqual(yield* send, ["more", "nothing"])
    }))

  it.effect("looks for a value of a later message in the earlier ones", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ detectors: [{ kind: "name", find: "(?i)name: \\w+" }] })])
      const scope = TestScope.make({ freeze: false })
      const messages: Array<Message> = [{ role: "user", content: "I met name: Ann" }]
      const send = Effect.map(
        Effect.suspend(() => chain.run("preLlmCall", { ...request(), messages: [...messages] }, scope)),
        ({ event }) => event.messages.map(({ content }) => content)
      )
      messages.unshift({ role: "user", content: "hello" })
      assert.deepEqual(yield* send, ["hello", "I met <NAME_1>"])
      messages.push({ role: "user", content: "bye" })
      assert.deepEqual(yield* send, ["hello", "I met <NAME_1>", "bye"])
    }))
})
