/** The two APIs: promises, and services and layers for Effect programs. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as AgentRuntime from "../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../src/data/AgentEvent.ts"
import { textResponse } from "../../src/data/LlmCall.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import { fromPromise, LlmProvider } from "../../src/port/LlmProvider.ts"
import { failureOf, line, recording, screen, within } from "../support/agent.ts"
import { asks, pieces, scripted } from "../support/model.ts"

class Db extends Context.Service<Db, { readonly ban: string }>()("test/Db") {}

const banned = defineHook({
  name: "banned",
  *preTurn({ message }) {
    const db = yield* Db
    return message.includes(db.ban) ? HookAction.reject("banned") : undefined
  }
})

/** Events kept for a slow reader. */
const capacity = 65_536

describe("createAgent", () => {
  it("streams events as they happen, then returns the result", async () => {
    const model = scripted([asks(["look"]), "it is blue"])
    await using agent = createAgent({ provider: model.provider, tools: [recording("look").tool] })
    const run = agent.stream("which colour?")
    const events: Array<AgentEvent> = []
    for await (const event of run) events.push(event)
    assert.strictEqual(screen(events), "it is blue")
    assert.strictEqual(events[0]?.type, "session-start")
    assert.strictEqual(events.at(-1)?.type, "session-end")
    assert.strictEqual((await run.result).text, "it is blue")
  })

  it("leaves standard output to the program: warnings go to standard error", async () => {
    const [out, error] = [vi.spyOn(console, "log").mockReturnValue(), vi.spyOn(console, "error").mockReturnValue()]
    try {
      for (const layer of [{}, { layer: Layer.succeed(Db, { ban: "x" }) }]) {
        const warns = defineHook({ name: "warns", preTurn: (_input, ctx) => ctx.warn("mind the gap") })
        const hookSources = [{ name: "files", load: () => ({ hooks: [], warnings: ["one line is wrong"] }) }]
        await using agent = createAgent({
          provider: scripted(["hello"]).provider,
          hooks: [warns],
          hookSources,
          ...layer
        })
        await agent.run("go")
      }
      const lines = error.mock.calls.map((parts) => parts.join(" "))
      for (const words of [/mind the gap/, /one line is wrong/]) {
        assert.lengthOf(lines.filter((one) => words.test(one)), 2, lines.join("\n"))
      }
      assert.deepEqual(out.mock.calls, [])
    } finally {
      out.mockRestore()
      error.mockRestore()
    }
  })

  it("closes its hooks after its sessions when it is closed, and waits for them", async () => {
    const did: Array<string> = []
    const closes = (name: string, close: NonNullable<AgentHook["close"]>): AgentHook => ({
      name,
      onSessionEnd: () => void did.push(`${name} ends`),
      close
    })
    const error = vi.spyOn(console, "error").mockReturnValue()
    const agent = createAgent({
      provider: scripted(["hello"]).provider,
      hooks: [
        closes("sync", () => void did.push("sync closed")),
        closes("promise", async () => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          did.push("promise closed")
        }),
        closes("effect", () => Effect.sync(() => void did.push("effect closed"))),
        closes("broken", () => {
          throw new Error("stuck")
        })
      ]
    })
    await (await agent.session()).run("go")
    await agent.close()
    await agent.close()
    const lines = error.mock.calls.join("\n")
    error.mockRestore()
    assert.deepStrictEqual(did.slice(0, 4).toSorted(), ["broken ends", "effect ends", "promise ends", "sync ends"])
    assert.deepStrictEqual(did.slice(4), ["sync closed", "effect closed", "promise closed"])
    assert.match(lines, /hook broken could not be closed: .*stuck/)
    const wrong = { name: "wrong", close: "now" } as unknown as AgentHook
    assert.throws(
      () => createAgent({ provider: scripted([]).provider, hooks: [wrong] }),
      /close must be a function, found now/
    )
  })

  it("keeps the streams of two sessions apart", async () => {
    const model = scripted([], { after: ({ messages }) => `to ${line(messages.slice(-1))}`, pause: Effect.yieldNow })
    await using agent = createAgent({ provider: model.provider })
    const sessions = await Promise.all([agent.session(), agent.session()])
    const screens = await Promise.all(sessions.map(async (session, n) => {
      const events: Array<AgentEvent> = []
      for await (const event of session.stream(`user ${n}`)) events.push(event)
      return screen(events)
    }))
    assert.deepStrictEqual(screens, ["to user: user 0", "to user: user 1"])
  })

  it("throws the error of the run in the loop, after its events", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preLlmCall: () => HookAction.reject("no") }]
    })
    const types: Array<string> = []
    const run = agent.stream("go")
    const error = await failureOf((async () => {
      for await (const { type } of run) types.push(type)
    })())
    assert.strictEqual(error["_tag"], "HookRejected")
    assert.include(types, "turn-end")
    assert.strictEqual(await failureOf(run.result), error)
  })

  it("continues when the reader of events stops early, without an unhandled rejection", async () => {
    await using agent = createAgent({ provider: scripted([]).provider })
    const run = agent.stream("go")
    for await (const _ of run) break
    assert.strictEqual((await run.result).status, "completed")
    agent.stream("nobody reads this").result.catch(() => assert.fail("it does not fail"))
    await using broken = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preTurn: () => HookAction.reject("no") }]
    })
    broken.stream("nobody hears this")
    await new Promise((resolve) => setTimeout(resolve, 5))
  })

  it("makes providers of async functions; their rejections are connection errors, and cancellation aborts their signal", async () => {
    let aborted = false
    const provider = fromPromise({
      name: "own",
      complete: async ({ messages }, signal) => {
        if (messages.length === 1) return textResponse("hello")
        signal.addEventListener("abort", () => aborted = true)
        return new Promise(() => {})
      }
    })
    await using agent = createAgent({ provider })
    const session = await agent.session()
    assert.strictEqual((await session.run("go")).text, "hello")
    const controller = new AbortController()
    const running = failureOf(session.run("go", { signal: controller.signal }))
    controller.abort()
    await running
    assert.isTrue(aborted)
    await using down = createAgent({
      provider: fromPromise({ name: "down", complete: () => Promise.reject(new Error("ECONNREFUSED")) }),
      hooks: [{ name: "h", onLlmError: () => HookAction.transform({ type: "fail" as const }) }]
    })
    const error = await failureOf(down.run("go"))
    assert.deepStrictEqual([error["_tag"], error["message"]], ["Connection", "ECONNREFUSED"])
  })

  it("provides the services that hooks need, and releases them when it is closed", async () => {
    let open = 0
    const layer = Layer.effect(
      Db,
      Effect.acquireRelease(
        Effect.sync(() => {
          open++
          return { ban: "spam" }
        }),
        () => Effect.sync(() => void open--)
      )
    )
    {
      await using agent = createAgent({ provider: scripted([]).provider, hooks: [banned], layer })
      assert.strictEqual((await agent.run("hello")).status, "completed")
      assert.strictEqual((await failureOf(agent.run("buy spam")))["message"], "banned rejected preTurn: banned")
      const controller = new AbortController()
      controller.abort(new Error("early"))
      assert.strictEqual((await failureOf(agent.run("hello", { signal: controller.signal })))["message"], "early")
      assert.strictEqual(open, 1)
    }
    assert.strictEqual(open, 0)
  })

  it("can be closed at any time, more than once, before and after its sessions, and when its services cannot be made", async () => {
    const ends: Array<string> = []
    const agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", onSessionEnd: ({ sessionId }) => void ends.push(sessionId) }]
    })
    const session = await agent.session({ id: "s" })
    await session.run("go")
    await Promise.all([agent.close(), agent.close(), session.close()])
    await session.close()
    await agent.close()
    assert.deepStrictEqual(ends, ["s"])
    assert.strictEqual((await failureOf(agent.session()))["name"], "AbortError")

    const broken = createAgent({
      provider: scripted([]).provider,
      hooks: [banned],
      layer: Layer.effect(Db, Effect.die(new Error("no database")))
    })
    assert.strictEqual((await failureOf(broken.run("go")))["message"], "no database")
    await within(broken.close())
    // Nobody waits for the services of this one, so their failure must not end the process.
    const unused = createAgent({
      provider: scripted([]).provider,
      hooks: [banned],
      layer: Layer.effect(Db, Effect.die(new Error("no database")))
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    await within(unused.close())
    await within(
      createAgent({ provider: scripted([]).provider, hooks: [banned], layer: Layer.succeed(Db, { ban: "x" }) }).close()
    )
  })

  it("takes attachments and metadata of a message; the model sees the first, hooks both", async () => {
    const seen: Array<unknown> = []
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", preTurn: ({ metadata }) => void seen.push(metadata) }]
    })
    await agent.run({
      message: "look",
      attachments: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" }],
      metadata: { user: 7 }
    })
    assert.deepStrictEqual(seen, [{ user: 7 }])
    assert.deepStrictEqual(model.requests[0]!.messages[0]!.content, [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" }
    ])
  })

  it("never waits for a slow reader of events, and reports how many events were dropped", async () => {
    const many = capacity + 10_000
    const model = scripted(["x".repeat(many)], { cut: (text) => pieces(text, 1) })
    await using agent = createAgent({ provider: model.provider })
    const run = agent.stream("go")
    assert.strictEqual((await within(run.result)).text.length, many)
    let seen = 0
    let dropped = 0
    let last = 0
    for await (const event of run) {
      if (event.type === "dropped") {
        dropped += event.count
        assert.notProperty(event, "text")
      } else seen++
      assert.isAtLeast(event.seq, last)
      last = event.seq
    }
    assert.isAbove(dropped, 0)
    assert.strictEqual(seen + dropped, last)
  })
})

describe("AgentRuntime.layer", () => {
  it.effect("is a service with typed requirements; the provider may come from the context", () =>
    Effect.gen(function*() {
      const runtime = yield* AgentRuntime.AgentRuntime
      const result = yield* runtime.run("hello")
      assert.strictEqual(result.text, "from the context")
      const exit = yield* Effect.exit(runtime.run("buy spam"))
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(Effect.provide(
      AgentRuntime.layer({ hooks: [banned] }).pipe(
        Layer.provide(Layer.succeed(LlmProvider, scripted([], { after: "from the context" }).provider)),
        Layer.provide(Layer.succeed(Db, { ban: "spam" }))
      )
    )))

  it.effect("closes its open sessions once, when it is released", () =>
    Effect.gen(function*() {
      const ends: Array<string> = []
      const scope = yield* Scope.make()
      const runtime = yield* Scope.provide(
        AgentRuntime.make({
          provider: scripted([]).provider,
          hooks: [{ name: "h", onSessionEnd: ({ reason, sessionId }) => void ends.push(`${sessionId} ${reason}`) }]
        }),
        scope
      )
      const kept = yield* runtime.session({ id: "kept" })
      const closed = yield* runtime.session({ id: "closed" })
      yield* kept.run("go")
      yield* closed.run("go")
      yield* closed.close("rotate")
      assert.deepStrictEqual(ends, ["closed rotate"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(ends, ["closed rotate", "kept done"])
      assert.strictEqual((yield* Effect.flip(kept.run("go")))._tag, "SessionError")
    }))

  it.effect("fails with what is wrong in the configuration", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Effect.scoped(AgentRuntime.make({ provider: scripted([]).provider, limits: { steps: 0 } }))
      )
      assert.strictEqual(error._tag, "ConfigError")
      const clash = yield* Effect.flip(
        Effect.scoped(AgentRuntime.make({ provider: scripted([]).provider, hooks: [{ name: "a" }, { name: "a" }] }))
      )
      assert.strictEqual(clash._tag, "ChainError")
    }))
})

describe("robustness", () => {
  it("drops none of four streamed parallel tool calls", async () => {
    const look = recording("look", ({ n }) => n)
    const model = scripted([
      asks(["look", { n: 1 }], ["look", { n: 2 }], ["look", { n: 3 }], ["look", { n: 4 }]),
      "done"
    ])
    await using agent = createAgent({ provider: model.provider, tools: [look.tool] })
    const run = agent.stream("go")
    for await (const _ of run) { /* read to the end */ }
    assert.lengthOf(look.ran, 4)
    assert.include(line((await run.result).messages), "tool look: 1 | tool look: 2 | tool look: 3 | tool look: 4")
  })

  it("runs 100 hooks that do nothing over 40 steps without reaching any limit of recursion, plain, async or Effect", async () => {
    for (const nothing of [() => undefined, async () => undefined, () => Effect.void]) {
      const hooks = Array.from(
        { length: 100 },
        (_, n) => ({
          name: `h${n}`,
          preLlmCall: nothing,
          preToolCall: nothing,
          postToolCall: nothing,
          postLlmCall: nothing
        })
      )
      const model = scripted([...Array.from({ length: 39 }, () => asks(["look"]))])
      await using agent = createAgent({ provider: model.provider, tools: [recording("look").tool], hooks })
      const result = await within(agent.run("go"))
      assert.strictEqual(result.status, "completed")
      assert.strictEqual(result.steps, 40)
    }
  })

  it("runs a thousand steps in one turn, and a turn after a thousand turns, without growing the stack", async () => {
    const long = scripted([], { after: (_, call) => call < 1_000 ? asks(["look"]) : "done" })
    await using agent = createAgent({
      provider: long.provider,
      tools: [recording("look").tool],
      limits: { steps: 2_000, toolCalls: 2_000 }
    })
    assert.strictEqual((await within(agent.run("go"))).steps, 1_000)
    const short = scripted([])
    await using other = createAgent({ provider: short.provider })
    const session = await other.session()
    for (let turn = 0; turn < 1_000; turn++) await session.run("go")
    assert.lengthOf(session.messages, 2_000)
  })
})
