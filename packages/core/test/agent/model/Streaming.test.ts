/** A guardrail over a stream: what it refuses or redacts reaches nobody, however the text is cut. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { failureOf, screen } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

const secret = "sk-12345"
const redact = (text: string) => text.replaceAll(secret, "[key]")

/** A text with secrets in it, and a way to cut it. */
const planted = (seed: number) => {
  const { below, chance } = random(seed)
  const words = Array.from(
    { length: 2 + below(8) },
    () => chance(0.3) ? secret : chance(0.2) ? secret.slice(0, below(8)) : "word".slice(0, 1 + below(4))
  )
  const text = words.join(chance(0.5) ? " " : "")
  const cut = (whole: string) => {
    const parts: Array<string> = []
    for (let i = 0; i < whole.length;) {
      const size = 1 + below(chance(0.3) ? 20 : 4)
      parts.push(whole.slice(i, i + size))
      i += size
    }
    return parts
  }
  return { text, cut, streams: !chance(0.1), async: chance(0.3) }
}

const consume = async (hooks: ReadonlyArray<AgentHook>, given: ReturnType<typeof planted>) => {
  const events: Array<AgentEvent> = []
  const model = scripted([given.text], { cut: given.cut, streams: given.streams })
  await using agent = createAgent({ provider: model.provider, hooks })
  agent.on((event) => void events.push(event))
  const outcome = await agent.run("go").then((result) => result.text, (error: { readonly _tag: string }) => error._tag)
  const seen = events.filter(({ type }) => type !== "hook").map((event) => JSON.stringify(event)).join("\n")
  return { events, outcome, seen, shown: screen(events) }
}

describe("a guardrail that redacts", () => {
  it("with hold { chars } shows no part of a secret and all other text, for 500 texts that are split at random", async () => {
    for (let seed = 0; seed < 500; seed++) {
      const given = planted(seed)
      const onLlmDelta: NonNullable<AgentHook["onLlmDelta"]> = (delta) =>
        delta.type === "text" && delta.text.includes(secret)
          ? HookAction.transform({ ...delta, text: redact(delta.text) })
          : undefined
      const { outcome, seen, shown } = await consume([{
        name: "guard",
        hold: { chars: secret.length },
        onLlmDelta: given.async ? async (delta, ctx) => onLlmDelta(delta, ctx) as never : onLlmDelta
      }], given)
      assert.notInclude(seen, secret, `seed ${seed}`)
      assert.strictEqual(outcome, redact(given.text), `seed ${seed}`)
      assert.strictEqual(shown, outcome, `seed ${seed}`)
    }
  })

  it("with hold { chars, from } keeps only the end that may become a secret, and all of it if from fails", async () => {
    const beginning = new RegExp(`(?:${Array.from(secret, (_, end) => secret.slice(0, end + 1)).join("|")})$`)
    for (let seed = 0; seed < 300; seed++) {
      const given = planted(seed)
      const { events, outcome, seen, shown } = await consume([{
        name: "guard",
        hold: {
          chars: secret.length,
          from: (text) => {
            if (seed % 3 === 0) throw new Error("no idea")
            return text.search(beginning)
          }
        },
        onLlmDelta: (delta) =>
          delta.type === "text" && delta.text.includes(secret)
            ? HookAction.transform({ ...delta, text: redact(delta.text) })
            : undefined
      }], given)
      assert.notInclude(seen, secret, `seed ${seed}`)
      assert.strictEqual(outcome, redact(given.text), `seed ${seed}`)
      assert.strictEqual(shown, outcome, `seed ${seed}`)
      assert.lengthOf(events.filter(({ type }) => type === "retract"), 0)
    }
  })

  it("with hold { chars, from } shows a text at once that cannot be a secret", async () => {
    let shown: ReadonlyArray<string> = []
    const texts: Array<string> = []
    const { provider } = scripted(["Hello there"], { piece: 5 })
    await using agent = createAgent({
      provider,
      hooks: [{
        name: "guard",
        hold: { chars: 100, from: (text) => text.lastIndexOf("#") },
        onLlmDelta: () => undefined,
        postLlmCall: () => {
          shown = [...texts]
        }
      }]
    })
    agent.on((event) => event.type === "text-delta" ? texts.push(event.text) : undefined)
    await agent.run("go")
    assert.deepEqual(shown, ["Hello", " ther", "e"])
  })

  it("with hold untilPass shows nothing until postLlmCall has passed it, with or without a look at the deltas", async () => {
    for (let seed = 0; seed < 200; seed++) {
      const given = planted(seed)
      const { events, outcome, seen, shown } = await consume([{
        name: "guard",
        hold: "untilPass",
        ...(seed % 2 === 0 ? { onLlmDelta: () => undefined } : {}),
        postLlmCall: ({ response }) => HookAction.transform({ ...response, text: redact(response.text) })
      }], given)
      assert.notInclude(seen, secret, `seed ${seed}`)
      assert.strictEqual(outcome, redact(given.text))
      assert.strictEqual(shown, outcome)
      assert.lengthOf(events.filter(({ type }) => type === "retract"), 0)
    }
  })

  it("with hold none shows deltas as they come, changed one by one", async () => {
    const given = { text: "abc def", cut: (text: string) => text.match(/.{1,2}/g) ?? [], streams: true, async: false }
    const { events, outcome, shown } = await consume([{
      name: "loud",
      onLlmDelta: (delta) =>
        delta.type === "text" ? HookAction.transform({ ...delta, text: delta.text.toUpperCase() }) : undefined
    }], given)
    assert.strictEqual(outcome, "ABC DEF")
    assert.strictEqual(shown, "ABC DEF")
    assert.deepStrictEqual(events.flatMap((event) => event.type === "text-delta" ? [event.text] : []), [
      "AB",
      "C ",
      "DE",
      "F"
    ])
  })

  it("after the fact, with hold none, takes back what was shown", async () => {
    const { outcome, shown } = await consume([{
      name: "late",
      postLlmCall: ({ response }) => HookAction.transform({ ...response, text: redact(response.text) })
    }], {
      text: `the key is ${secret}.`,
      cut: (text) => [text.slice(0, 5), text.slice(5)],
      streams: true,
      async: false
    })
    assert.strictEqual(outcome, "the key is [key].")
    assert.strictEqual(shown, outcome)
  })
})

describe("a guardrail that rejects", () => {
  it("cuts the stream: nothing of the secret and nothing after it is seen, and the turn fails", async () => {
    for (let seed = 0; seed < 200; seed++) {
      const given = planted(seed)
      if (!given.text.includes(secret)) continue
      const verdict: NonNullable<AgentHook["onLlmDelta"]> = (delta) =>
        delta.type === "text" && delta.text.includes(secret) ? HookAction.reject("a key") : undefined
      const { outcome, seen } = await consume([{
        name: "guard",
        hold: { chars: secret.length },
        onLlmDelta: given.async ? async (delta, ctx) => verdict(delta, ctx) as never : verdict
      }], given)
      assert.strictEqual(outcome, "HookRejected")
      assert.notInclude(seen, secret)
    }
  })

  it("stops reading: a provider that streams forever is interrupted", async () => {
    let read = 0
    const model = scripted(["x".repeat(50), "never"], { piece: 1 })
    const endless = {
      ...model.provider,
      stream: (_: unknown, sink: (delta: { readonly type: "text"; readonly text: string }) => unknown) =>
        Effect.forever(Effect.andThen(
          Effect.sync(() => {
            read++
            sink({ type: "text", text: "x" })
          }),
          Effect.yieldNow
        ))
    }
    await using agent = createAgent({
      provider: endless as never,
      hooks: [{
        name: "guard",
        hold: { chars: 10 },
        onLlmDelta: (delta) =>
          delta.type === "text" && delta.text.length > 9 ? HookAction.reject("too much") : undefined
      }]
    })
    assert.strictEqual((await failureOf(agent.run("go")))["_tag"], "HookRejected")
    const then = read
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.strictEqual(read, then)
  })

  it("a provider that does not wait for a hook does not end the process when the turn is cancelled", async () => {
    const unhandled: Array<unknown> = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on("unhandledRejection", note)
    const controller = new AbortController()
    const hasty = {
      ...scripted([]).provider,
      stream: (_: unknown, sink: (delta: { readonly type: "text"; readonly text: string }) => unknown) =>
        Effect.andThen(Effect.sync(() => void sink({ type: "text", text: "x" })), Effect.never)
    }
    await using agent = createAgent({
      provider: hasty as never,
      hooks: [{
        name: "slow",
        onLlmDelta: () => {
          queueMicrotask(() => controller.abort())
          return new Promise<undefined>(() => {})
        }
      }]
    })
    assert.strictEqual((await failureOf(agent.run("go", { signal: controller.signal })))["name"], "AbortError")
    await new Promise((resolve) => setTimeout(resolve, 1))
    process.off("unhandledRejection", note)
    assert.deepStrictEqual(unhandled, [])
  })

  it("at postLlmCall with hold untilPass: neither deltas nor the end of the call contain the text", async () => {
    const { events, outcome, seen } = await consume([{
      name: "guard",
      hold: "untilPass",
      postLlmCall: () => HookAction.reject("a key")
    }], {
      text: `the key is ${secret}`,
      cut: (text) => [text],
      streams: true,
      async: false
    })
    assert.strictEqual(outcome, "HookRejected")
    assert.notInclude(seen, "the key is")
    assert.isTrue(events.some(({ type }) => type === "llm-end"))
  })
})

describe("an agent whose events nobody reads", () => {
  it("asks the provider for whole answers, unless a hook checks or holds deltas", async () => {
    const hooks: ReadonlyArray<readonly [AgentHook, string]> = [
      [{ name: "h" }, "complete"],
      [{ name: "h", hold: "none" }, "complete"],
      [{ name: "h", hold: "untilPass" }, "stream"],
      [{ name: "h", hold: { chars: 1 } }, "stream"],
      [{ name: "h", onLlmDelta: () => undefined }, "stream"]
    ]
    for (const [hook, expected] of hooks) {
      const called: Array<string> = []
      const { provider } = scripted(["hello"])
      await using agent = createAgent({
        provider: {
          ...provider,
          complete: (request) => {
            called.push("complete")
            return provider.complete(request)
          },
          stream: (request, sink) => {
            called.push("stream")
            return provider.stream!(request, sink)
          }
        },
        hooks: [hook]
      })
      assert.strictEqual((await agent.run("go")).text, "hello")
      assert.deepStrictEqual(called, [expected], JSON.stringify(hook))
    }
  })
})
