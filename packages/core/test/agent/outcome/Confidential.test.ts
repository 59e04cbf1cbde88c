/** Hooks that handle what nobody else may see: a secret in place of its placeholder, for a tool and for the user. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { z } from "zod"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { Json } from "../../../src/data/Json.ts"
import { failure, type PreToolCallEvent, success } from "../../../src/data/tool/Tool.ts"
import { type AgentHook, defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { explain } from "../../../src/hook/HookRecord.ts"
import type { Commit } from "../../../src/port/SessionStore.ts"
import { failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const secret = "hunter2-fake"
const placeholder = "<SECRET_1>"

const put = (value: Json): Json => JSON.parse(JSON.stringify(value).replaceAll(placeholder, secret)) as Json
const take = (text: string): string => text.replaceAll(secret, placeholder)

/** Takes the secret out of messages, gives it to tools, takes it out of their results, and gives it to the user. */
const confidential: AgentHook = defineHook({
  name: "vault",
  priority: 1,
  confidential: true,
  preTurn: (input) => HookAction.transform({ ...input, message: take(input.message) }),
  wrapToolCall: (call, next) =>
    Effect.map(
      next({ ...call, args: put(call.args) }),
      (result) =>
        result.ok ? success(JSON.parse(take(JSON.stringify(result.output))) as Json) : failure(take(result.error))
    ),
  revealText: (text) => text.replaceAll(placeholder, secret)
})

const everything = async (
  hooks: ReadonlyArray<AgentHook>,
  execute: (args: { readonly [key: string]: Json }) => unknown
) => {
  const login = recording("login", execute)
  const model = scripted([asks(["login", { password: placeholder }]), `logged in with ${placeholder}`])
  const events: Array<AgentEvent> = []
  await using agent = createAgent({
    provider: model.provider,
    tools: [login.tool],
    hooks: [confidential, ...hooks],
    records: true
  })
  agent.on((event) => void events.push(event))
  const result = await agent.run(`log in with ${secret}`)
  return { events, ran: login.ran, requests: model.requests, result }
}

describe("a confidential hook", () => {
  it("that only conceals takes the secret out of messages that a client gives", async () => {
    const { provider, requests } = scripted(["done"])
    const concealing = defineHook({
      name: "conceals",
      concealMessages: (messages) => JSON.parse(take(JSON.stringify(messages))) as typeof messages
    })
    await using agent = createAgent({ provider, hooks: [concealing] })
    await agent.run({ message: "go on", before: [{ role: "user", content: `log in with ${secret}` }] })
    assert.include(JSON.stringify(requests), placeholder)
    assert.notInclude(JSON.stringify(requests), secret)
  })

  it("passes the secret to the tool, while events, records, requests and messages have only a placeholder", async () => {
    const { events, ran, requests, result } = await everything([], ({ password }) => `welcome, ${password as string}`)
    assert.deepStrictEqual(ran, [{ password: secret }])
    assert.strictEqual(
      line(result.messages),
      `user: log in with ${placeholder} | assistant[login]:  | tool login: welcome, ${placeholder} | assistant: logged in with ${placeholder}`
    )
    for (const sink of [events, requests, result.messages, result.records, explain(result.records)]) {
      assert.notInclude(JSON.stringify(sink), secret)
    }
    assert.include(explain(result.records), "vault: Transform (confidential)")
    assert.include(JSON.stringify(events.find(({ type }) => type === "tool-start")), placeholder)
  })

  it("hides the error message of a failed tool from other hooks and listeners", async () => {
    const { events, result } = await everything(
      [],
      ({ password }) => Promise.reject(new Error(`wrong password ${password as string}`))
    )
    assert.include(line(result.messages), `tool login!: wrong password ${placeholder}`)
    assert.notInclude(JSON.stringify([events, result.messages]), secret)
  })

  it("is innermost: wrappers of any priority see neither the arguments nor the result before it", async () => {
    const seen: Array<unknown> = []
    const spy = (name: string, priority: number): AgentHook =>
      defineHook({
        name,
        priority,
        wrapToolCall: (call, next) => {
          seen.push(call.args)
          return Effect.tap(next(call), (result) => Effect.sync(() => void seen.push(result)))
        },
        postToolCall: (event) => void seen.push(event.result, event.call.args)
      })
    const { ran } = await everything(
      [spy("before", -5), spy("after", 500)],
      ({ password }) => `welcome, ${password as string}`
    )
    assert.deepStrictEqual(ran, [{ password: secret }])
    assert.lengthOf(seen, 8)
    assert.notInclude(JSON.stringify(seen), secret)
  })

  it("keeps the original of a rejected message from onTurnError hooks", async () => {
    const inputs: Array<string> = []
    const strict = defineHook({
      name: "strict",
      preTurn: () => HookAction.reject("no"),
      onTurnError: ({ input }) => void inputs.push(input.message)
    })
    await using agent = createAgent({ provider: scripted([]).provider, hooks: [confidential, strict] })
    await failureOf(agent.run(`it is ${secret}`))
    assert.deepStrictEqual(inputs, [`it is ${placeholder}`])
    const blocking = defineHook({ ...confidential, preTurn: () => HookAction.reject("a secret") })
    await using other = createAgent({ provider: scripted([]).provider, hooks: [blocking, strict] })
    await failureOf(other.run(`it is ${secret}`))
    assert.deepStrictEqual(inputs.slice(1), [""])
  })

  it("runs first at points in reverse order, so that others see its changes", async () => {
    const order: Array<string> = []
    const hook = (name: string, priority: number, more: Partial<AgentHook> = {}): AgentHook =>
      defineHook({ name, priority, ...more, postLlmCall: () => void order.push(name) })
    const model = scripted(["ok"])
    const hooks = [hook("a", 1), hook("b", 2, { confidential: true }), hook("c", 3), hook("d", 4, { tier: "managed" })]
    await using agent = createAgent({ provider: model.provider, hooks })
    await agent.run("go")
    assert.deepStrictEqual(order, ["b", "c", "a", "d"])
  })

  it("is the only kind that may change arguments in wrapToolCall", async () => {
    const cheat = defineHook({
      name: "cheat",
      wrapToolCall: (call: PreToolCallEvent, next) => next({ ...call, args: { password: "other" } })
    })
    const { ran, result } = await everything([cheat], () => "ok")
    assert.deepStrictEqual(ran, [])
    assert.include(line(result.messages), "a hook changed the call in wrapToolCall")
  })

  it("has its arguments decoded by the tool's schema, whose messages stay hidden", async () => {
    const login = recording("login", () => "ok", { input: z.object({ password: z.string().max(10) }) as never })
    const model = scripted([asks(["login", { password: placeholder }]), "done"])
    await using agent = createAgent({ provider: model.provider, tools: [login.tool], hooks: [confidential] })
    const { messages } = await agent.run("go")
    assert.deepStrictEqual(login.ran, [])
    assert.include(line(messages), "tool login!: the revealed arguments do not fit the tool's schema")
  })

  it("reveals nothing to another agent, which receives the placeholder", async () => {
    const inner = scripted(["ok"])
    await using helping = createAgent({ provider: inner.provider })
    const helper = agentTool({ name: "helper", description: "Helps", agent: helping })
    const model = scripted([asks(["helper", { message: placeholder }]), "done"])
    await using agent = createAgent({ provider: model.provider, tools: [helper], hooks: [confidential] })
    const { messages } = await agent.run("go")
    assert.include(line(messages), "tool helper: ok")
    assert.strictEqual(inner.requests[0]?.messages[0]?.content, placeholder)
  })
})

describe("concealMessages", () => {
  const recalling = { preTurnContext: () => Effect.succeed([{ role: "user" as const, content: `recall ${secret}` }]) }

  it("changes messages from memory before anybody sees or stores them", async () => {
    const model = scripted(["ok"])
    const hook: AgentHook = {
      name: "conceal",
      concealMessages: (messages) =>
        messages.map((message) => ({ ...message, content: take(message.content as string) }) as typeof message)
    }
    await using agent = createAgent({ provider: model.provider, hooks: [hook], memory: recalling })
    const { messages } = await agent.run("hi")
    assert.strictEqual(line(messages), `user: recall ${placeholder} | user: hi | assistant: ok`)
    assert.notInclude(JSON.stringify(model.requests), secret)
  })

  it("leaves the messages out when a hook fails, with a warning", async () => {
    const model = scripted(["ok"])
    const warnings: Array<string> = []
    const hook: AgentHook = {
      name: "conceal",
      concealMessages: () => {
        throw new Error("no vault")
      }
    }
    await using agent = createAgent({ provider: model.provider, hooks: [hook], memory: recalling })
    agent.on((event) => event.type === "warning" ? void warnings.push(event.message) : undefined)
    assert.strictEqual(line((await agent.run("hi")).messages), "user: hi | assistant: ok")
    assert.deepStrictEqual(warnings, ["the messages of memory were left out, concealMessages failed: no vault"])
  })
})

describe("revealText", () => {
  it("changes the text for the user only", async () => {
    const { events, result } = await everything([], () => "ok")
    assert.strictEqual(result.text, `logged in with ${secret}`)
    const end = events.find(({ type }) => type === "turn-end")
    assert.deepInclude(end, { text: `logged in with ${placeholder}` })
  })

  it("applies one hook after the other", async () => {
    const model = scripted(["a"])
    const hooks = ["b", "c"].map((letter): AgentHook => ({ name: letter, revealText: (text) => text + letter }))
    await using agent = createAgent({ provider: model.provider, hooks })
    assert.strictEqual((await agent.run("go")).text, "abc")
  })

  it("reveals nothing when it fails or does not return text, with a warning", async () => {
    const model = scripted(["a"])
    const hooks: ReadonlyArray<AgentHook> = [
      {
        name: "throws",
        revealText: () => {
          throw new Error("no vault")
        }
      },
      { name: "answers", revealText: () => 1 as never }
    ]
    const warnings: Array<string> = []
    await using agent = createAgent({ provider: model.provider, hooks })
    agent.on((event) => event.type === "warning" ? void warnings.push(`${event.hook}: ${event.message}`) : undefined)
    assert.strictEqual((await agent.run("go")).text, "a")
    assert.deepStrictEqual(warnings, [
      "throws: revealText failed: no vault",
      "answers: revealText failed: it did not return a string"
    ])
  })

  it("does not reach the store and observers of the turn", async () => {
    const stored: Array<string> = []
    const seen: Array<string> = []
    const model = scripted([`it is ${placeholder}`])
    const store = {
      commit: ({ snapshot }: Commit) => Effect.sync(() => void stored.push(JSON.stringify(snapshot()))),
      load: () => Effect.undefined
    }
    const spy = defineHook({ name: "spy", kind: "observer", postTurn: ({ output }) => void seen.push(output.text) })
    await using agent = createAgent({ provider: model.provider, hooks: [confidential, spy], store })
    assert.strictEqual((await agent.run(secret)).text, `it is ${secret}`)
    assert.deepStrictEqual(seen, [`it is ${placeholder}`])
    assert.isAbove(stored.length, 0)
    assert.notInclude(stored.join("\n"), secret)
  })

  describe("with an output", () => {
    const schema = z.object({ password: z.string().max(20) })
    const quoting = (value: string): AgentHook => ({
      name: "vault",
      revealText: (text) => text.replaceAll(placeholder, value)
    })
    const answered = (value: string) =>
      createAgent({
        provider: scripted([`{"password": "${placeholder}"}`]).provider,
        output: { schema, retries: 0 },
        hooks: [quoting(value)]
      })

    it("puts any value into strings", async () => {
      for (const value of [`a"b`, `","x":"`, "back\\slash", "line\nend"]) {
        await using agent = answered(value)
        const result = await agent.run("go")
        assert.deepStrictEqual(result.status === "completed" && result.object, { password: value })
        assert.deepStrictEqual(JSON.parse(result.text), { password: value })
      }
    })

    it("hides a value that does not fit", async () => {
      const value = `${secret} and much longer than that`
      await using agent = answered(value)
      const events: Array<AgentEvent> = []
      agent.on((event) => void events.push(event))
      const error = await failureOf(agent.run("go"))
      assert.deepInclude(error, { _tag: "OutputMismatch", text: `{"password": "${placeholder}"}` })
      assert.notInclude(JSON.stringify([events, error, error.message, error.stack]), secret)
    })
  })

  it.effect("keeps the value out of log lines", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const model = scripted([asks(["login", { password: placeholder }]), "done"])
      const login = recording("login", ({ password }) => Promise.reject(new Error(`no ${password as string}`)))
      const loud = defineHook({ name: "loud", postToolCall: ({ result }, ctx) => ctx.warn(JSON.stringify(result)) })
      yield* Effect.scoped(
        Effect.flatMap(
          AgentRuntime.make({ provider: model.provider, tools: [login.tool], hooks: [confidential, loud] }),
          (runtime) => runtime.run("go")
        )
      ).pipe(Effect.provide(Logger.layer([logger])))
      assert.include(lines.join("\n"), `no ${placeholder}`)
      assert.notInclude(lines.join("\n"), secret)
    }))
})
