/** The context of hooks: where they run, the state they share, injections. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as ArtifactStore from "../../../src/port/ArtifactStore.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("the context", () => {
  // rows: A-30, DEC-41
  it("has the session, the turn, the step, the core, the agent and the directory", async () => {
    const seen: Array<string> = []
    const place = (point: string) => (_: unknown, ctx: HookContext) =>
      void seen.push(
        `${point} ${ctx.turnNumber}.${ctx.stepNumber} ${ctx.coreType} ${ctx.agent.name}/${ctx.agent.depth}/${ctx.agent.invokedBy} ${ctx.cwd}`
      )
    const model = scripted([asks(["look"]), "one", "two"])
    let sessionId = ""
    await using agent = createAgent({
      name: "ada",
      cwd: "/somewhere",
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "h",
        onSessionStart: (event, ctx) => void (sessionId = `${event.sessionId} ${ctx.sessionId}`),
        preTurn: place("preTurn"),
        preLlmCall: place("preLlmCall"),
        preToolCall: place("preToolCall"),
        postTurn: place("postTurn")
      }]
    })
    const session = await agent.session({ id: "s-1" })
    await session.run("first")
    await session.run("second")
    assert.strictEqual(sessionId, "s-1 s-1")
    assert.deepStrictEqual(seen.map((entry) => entry.split(" ").slice(0, 2).join(" ")), [
      "preTurn 1.0",
      "preLlmCall 1.1",
      "preToolCall 1.1",
      "preLlmCall 1.2",
      "postTurn 1.2",
      "preTurn 2.0",
      "preLlmCall 2.1",
      "postTurn 2.1"
    ])
    assert.isTrue(seen.every((entry) => entry.endsWith("tool-loop ada/0/main /somewhere")))
  })

  // rows: A-31
  it("shares state between the hooks of a session, and with no other session", async () => {
    const word = HookState.key("word", "")
    const seen: Array<string> = []
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [
        { name: "a", preLlmCall: (_, ctx) => ctx.state.set(word, `${ctx.state.get(word)}x`) },
        { name: "b", postLlmCall: (_, ctx) => void seen.push(ctx.state.get(word)) }
      ]
    })
    const [one, two] = await Promise.all([agent.session(), agent.session()])
    await one.run("hello")
    await one.run("hello")
    await two.run("hello")
    assert.deepStrictEqual(seen, ["x", "xx", "x"])
    assert.strictEqual(one.state.get(word), "xx")
  })

  // rows: A-32
  it("sums the costs of the calls of a turn, for postTurn", async () => {
    const total = HookState.key("total_cost", Schema.Finite, 0)
    const seen: Array<number> = []
    const model = scripted([
      { ...asks(["look"]), usage: { inputTokens: 100, outputTokens: 50 } },
      { text: "done", usage: { inputTokens: 200, outputTokens: 10 } }
    ])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "cost",
        postLlmCall: ({ response }, ctx) => {
          const { inputTokens, outputTokens } = response.usage!
          seen.push(ctx.state.update(total, (sum) => sum + 0.01 * inputTokens + 0.02 * outputTokens))
        },
        postTurn: (_, ctx) => void seen.push(ctx.state.get(total))
      }]
    })
    const result = await agent.run("go")
    assert.deepStrictEqual(seen.map((sum) => Math.round(sum * 1e6) / 1e6), [2, 4.2, 4.2])
    assert.deepStrictEqual(result.usage, { inputTokens: 300, outputTokens: 60 })
  })

  // rows: U-07
  it("loses no update of the state when tools run in parallel", async () => {
    const count = HookState.key("count", 0)
    const model = scripted([asks(...Array.from({ length: 50 }, () => ["look"] as const)), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look", async () => "seen").tool],
      hooks: [{
        name: "h",
        preToolCall: async (_, ctx) => {
          await Promise.resolve()
          ctx.state.update(count, (n) => n + 1)
        },
        postToolCall: (_, ctx) => void ctx.state.update(count, (n) => n + 1)
      }]
    })
    const session = await agent.session()
    await session.run("go")
    assert.strictEqual(session.state.get(count), 100)
  })

  // rows: A-33
  it("lets hooks send their own events, and shows whether anybody listens", async () => {
    const active: Array<boolean> = []
    const heard: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "metrics",
        preTurn: (_, { events }) => {
          active.push(events.active)
          events.emit("seen", { n: 1 })
        }
      }]
    })
    await agent.run("nobody hears")
    const off = agent.on((event) =>
      void (event.type === "custom" && heard.push(`${event.hook} ${event.name} ${JSON.stringify(event.payload)}`))
    )
    await agent.run("somebody hears")
    off()
    await agent.run("nobody hears")
    assert.deepStrictEqual(active, [false, true, false])
    assert.deepStrictEqual(heard, [`metrics seen {"n":1}`])
  })
})

describe("injections", () => {
  const injected = (requests: ReadonlyArray<{ readonly messages: Parameters<typeof line>[0] }>) =>
    requests.map(({ messages }) => line(messages))

  it("reach the model once, before its next answer, each as a message that names its hook", async () => {
    const model = scripted([asks(["look"]), "one", "two"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [
        {
          name: "calendar",
          preTurn: ({ message }, ctx) => message === "first" ? ctx.inject("it is Monday") : undefined
        },
        { name: "nag", postToolCall: (_, ctx) => ctx.inject("be quick") }
      ]
    })
    const session = await agent.session()
    await session.run("first")
    await session.run("second")
    assert.deepStrictEqual(injected(model.requests), [
      "user: first | user (calendar): it is Monday",
      "user: first | user (calendar): it is Monday | assistant[look]:  | tool look: ok | user (nag): be quick",
      "user: first | user (calendar): it is Monday | assistant[look]:  | tool look: ok | user (nag): be quick | assistant: one | user: second"
    ])
  })

  it("are kept for the next turn if this one makes no further model call", async () => {
    const model = scripted(["one", "two"])
    const inject = (text: string) => (_: unknown, ctx: HookContext) => ctx.turnNumber < 2 ? ctx.inject(text) : undefined
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "h",
        postTurn: inject("from postTurn"),
        onSignal: inject("from onSignal"),
        postCompaction: inject("from postCompaction")
      }]
    })
    const session = await agent.session({
      messages: Array.from({ length: 30 }, (_, n) => ({ role: "user", content: `old ${n} ${"x".repeat(300)}` }))
    })
    await session.run("first")
    await session.signal({ name: "file-changed", payload: null, blockable: false })
    assert.isTrue(await session.compact())
    await session.run("second")
    assert.include(
      line(model.requests[1]!.messages),
      "user: second | user (h): from postTurn | user (h): from onSignal | user (h): from postCompaction"
    )
    assertValid(session.messages)
  })

  // rows: U-14
  it("of the same key replace each other in mode overwrite, and are both kept otherwise", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "h",
        preTurn: (_, { inject }) => {
          inject("branch a", { key: "branch" })
          inject("branch b", { key: "branch" })
          inject("keep", {})
          inject("branch c", { key: "branch", mode: "overwrite" })
          inject("no key", { mode: "overwrite" })
        }
      }]
    })
    await agent.run("go")
    assert.strictEqual(injected(model.requests)[0], "user: go | user (h): keep | user (h): branch c | user (h): no key")
  })

  it("are cut at 10,000 characters, and name the artifact that has all of it", async () => {
    const model = scripted([])
    const artifacts = ArtifactStore.inMemory()
    await using agent = createAgent({
      provider: model.provider,
      artifacts,
      hooks: [{ name: "h", preTurn: (_, ctx) => ctx.inject("x".repeat(10_007)) }]
    })
    const { messages, sessionId } = await agent.run("go")
    const key = `hook:injection/${sessionId}/1.1`
    assert.strictEqual(
      messages[1]?.content,
      `${"x".repeat(10_000)}\n[cut: 7 more characters, all of it is <artifact:${key}>]`
    )
    assert.strictEqual(await Effect.runPromise(artifacts.read(sessionId, key)), "x".repeat(10_007))
  })

  it("survive a suspension", async () => {
    const model = scripted([asks(["deploy"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("deploy").tool],
      hooks: [{
        name: "h",
        preToolCall: (_, ctx) => {
          ctx.inject("mind the gap")
          return HookAction.ask("really?")
        }
      }]
    })
    const suspended = await agent.run("go")
    assert.strictEqual(suspended.status, "suspended")
    if (suspended.status !== "suspended") return
    const model2 = scripted(["done"])
    await using other = createAgent({
      provider: model2.provider,
      tools: [recording("deploy").tool],
      hooks: [{ name: "h", preToolCall: () => HookAction.ask("really?") }]
    })
    await other.resume(JSON.stringify(suspended.snapshot), { [suspended.pending[0]!.callId]: { type: "approve" } })
    assert.include(injected(model2.requests)[0], "tool deploy: ok | user (h): mind the gap")
  })
})
