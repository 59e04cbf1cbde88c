import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { success, type ToolResult } from "@belay/core/Tool"
import * as Approval from "@belay/hooks/Approval"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as Redaction from "@belay/hooks/Redaction"
import * as Secrets from "@belay/hooks/Secrets"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { random } from "../../../core/test/support/random.ts"
import { asks, scripted } from "../guarded.ts"
import * as Scope from "../scope.ts"

const mail = "ada@example.com"
const card = "4111 1111 1111 1111"
const iban = "DE89 3704 0044 0532 0130 00"

const sent: Array<unknown> = []
const mailer = (execute: (args: { readonly to: string }) => string = ({ to }) => `sent to ${to}`) =>
  defineTool({
    name: "send_mail",
    description: "Sends a mail",
    input: Schema.Struct({ to: Schema.String }),
    execute: (args) => {
      sent.push(args)
      return execute(args)
    }
  })
const logger = defineTool({
  name: "write_log",
  description: "Writes a log",
  input: Schema.Struct({ to: Schema.String }),
  execute: (args) => {
    sent.push(args)
    return `logged ${args.to}`
  }
})

describe("an agent with placeholders", () => {
  it("lets the model work with placeholders; chosen tools and the user get the values", async () => {
    sent.length = 0
    const model = scripted([
      asks(["send_mail", { to: "<EMAIL_1>" }], ["write_log", { to: "<EMAIL_1>" }]),
      "I wrote to <EMAIL_1>."
    ])
    const tools = [mailer(({ to }) => `sent to ${to}, copy to boss@example.com`), logger]
    await using agent = createAgent({
      provider: model.provider,
      tools,
      hooks: [Redaction.make({ revealTo: "send_*" })]
    })
    const result = await agent.run(`Write to ${mail}`)
    assert.deepEqual(sent, [{ to: mail }, { to: "<EMAIL_1>" }])
    assert.strictEqual(result.text, `I wrote to ${mail}.`)
    assert.deepEqual(result.messages.filter(({ role }) => role === "tool").map(({ content }) => content), [
      "sent to <EMAIL_1>, copy to <EMAIL_2>",
      "logged <EMAIL_1>"
    ])
    assert.notInclude(JSON.stringify([model.requests, result.messages]), "@")
  })

  it("keeps the user's text private to nobody but the tools when it is told so", async () => {
    const model = scripted(["<EMAIL_1>"])
    await using agent = createAgent({ provider: model.provider, hooks: [Redaction.make({ revealToUser: false })] })
    assert.strictEqual((await agent.run(mail)).text, "<EMAIL_1>")
  })

  it("gives nobody a value for writing its name: users, tools and memory get their own text back", async () => {
    sent.length = 0
    const model = scripted([
      "noted",
      asks(["send_mail", { to: "<PII_TEXT_1>" }]),
      (request) => JSON.stringify(request.messages.at(-1)!.content)
    ])
    const memory = {
      preTurnContext: () => Effect.succeed<ReadonlyArray<Message>>([{ role: "user", content: "recall <EMAIL_1>" }])
    }
    const tools = [mailer(() => "page says: mail <EMAIL_1> and <email_1>")]
    await using agent = createAgent({
      provider: model.provider,
      tools,
      memory,
      hooks: [Redaction.make({ revealTo: "*" })]
    })
    const session = await agent.session()
    await session.run(`remember ${mail}`)
    const result = await session.run("mail to <EMAIL_1>")
    assert.deepEqual(sent, [{ to: "<EMAIL_1>" }])
    assert.notInclude(JSON.stringify(model.requests[0]?.messages[0]), "<EMAIL_1>")
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /mail to <PII_TEXT_\d>/)
    assert.strictEqual(result.text, JSON.stringify("page says: mail <EMAIL_1> and <email_1>"))
  })

  it("leaves a placeholder that the model invents, and takes one in any case", async () => {
    sent.length = 0
    const model = scripted([
      asks(["send_mail", { to: "<EMAIL_99>" }], ["send_mail", { to: "<email_1>" }]),
      "<EMAIL_99> <Email_1> EMAIL_1"
    ])
    await using agent = createAgent({
      provider: model.provider,
      tools: [mailer()],
      hooks: [Redaction.make({ revealTo: "*" })]
    })
    const { text } = await agent.run(mail)
    assert.deepEqual(sent, [{ to: "<EMAIL_99>" }, { to: mail }])
    assert.strictEqual(text, `<EMAIL_99> ${mail} EMAIL_1`)
  })

  it("gives a number back as a number", async () => {
    const ran: Array<unknown> = []
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: { type: "object" },
      execute: (args) => void ran.push(args)
    })
    const find = defineTool({
      name: "find",
      description: "Finds",
      input: { type: "object" },
      execute: () => ({ card: 4111111111111111 })
    })
    const model = scripted([asks(["find", {}]), asks(["pay", { card: "<CARD_1>", note: "with <CARD_1>" }]), "paid"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [pay, find],
      hooks: [Redaction.make({ revealTo: "pay" })]
    })
    await agent.run("pay")
    assert.deepEqual(ran, [{ card: 4111111111111111, note: "with 4111111111111111" }])
  })

  it("knows a value again where no detector would find it", async () => {
    const model = scripted([asks(["send_mail", { to: "x" }]), "ok"])
    const detectors = [{ kind: "password", find: "(?i)password is \\S+" }]
    const tools = [mailer(() => "it said: Password is hunter2-fake, again: Password is hunter2-fake")]
    await using agent = createAgent({ provider: model.provider, tools, hooks: [Redaction.make({ detectors })] })
    const { messages } = await agent.run("my password is hunter2-fake")
    assert.notInclude(JSON.stringify(messages), "hunter2")
  })

  it("keeps sessions apart, also when they run at the same time", async () => {
    const model = scripted([
      (request) => `to ${request.messages[0]!.content as string}`,
      (request) => `to ${request.messages[0]!.content as string}`
    ])
    await using agent = createAgent({ provider: model.provider, hooks: [Redaction.make()] })
    const results = await Promise.all([agent.run(mail), agent.run("bob@example.com")])
    assert.deepEqual(results.map(({ text }) => text), [`to ${mail}`, "to bob@example.com"])
    assert.deepEqual(model.requests.map(({ messages }) => messages[0]?.content), ["<EMAIL_1>", "<EMAIL_1>"])
  })

  it("speaks with another agent in placeholders, whether that one has the hook or not", async () => {
    for (const hooks of [[], [Redaction.make()]]) {
      const inner = scripted([
        (request) => `I wrote to ${/<\w+_1>/.exec(JSON.stringify(request.messages))![0]} and bob@example.com`
      ])
      await using helper = createAgent({ provider: inner.provider, hooks })
      const model = scripted([
        asks(["helper", { message: "write to <EMAIL_1>" }]),
        (request) => JSON.stringify(request.messages.at(-1)!.content)
      ])
      const seen: Array<unknown> = []
      const spy = defineHook({ name: "spy", postDelegation: ({ result }) => void seen.push(result.text) })
      const tools = [agentTool({ name: "helper", description: "Helps", agent: helper })]
      await using agent = createAgent({
        provider: model.provider,
        tools,
        hooks: [Redaction.make({ revealTo: "*" }), spy]
      })
      const { messages, text } = await agent.run(mail)
      assert.notInclude(JSON.stringify([inner.requests, model.requests, messages, seen]), "@")
      assert.strictEqual(text, `"I wrote to ${mail} and bob@example.com"`)
    }
  })

  it("shows placeholders in the stream and the values in the result", async () => {
    const model = scripted([{
      text: `I wrote to <EMAIL_1> and to bob@example.com, ${"so ".repeat(120)}`,
      reasoning: "bob@example.com"
    }])
    await using agent = createAgent({ provider: model.provider, hooks: [Redaction.make()] })
    const events: Array<AgentEvent> = []
    const turn = agent.stream(mail)
    for await (const event of turn) events.push(event)
    const shown = events.map((event) => event.type === "text-delta" ? event.text : "").join("")
    assert.isTrue(shown.startsWith("I wrote to <EMAIL_1> and to <EMAIL_2>, so"))
    assert.isTrue((await turn.result).text.startsWith(`I wrote to ${mail} and to bob@example.com`))
    assert.notInclude(JSON.stringify(events), "@example")
  })

  it("shows nothing in a stream of an agent, in pieces of any size, beside other hooks that keep text back", async () => {
    const secret = `${"sk"}-${"aB3dE5fG7hJ9".repeat(3)}`
    const text = `${"so ".repeat(40)}mail eve@example.net, pay ${card}, use ${secret}; ${"and on ".repeat(60)}`
    for (const size of [1, 2, 3, 7, 50, 5_000]) {
      const model = scripted([{ text }], size)
      const hooks = [
        Redaction.make(),
        Secrets.make(),
        OutputGuardrail.make({ patterns: ["nothing like that"], hold: { chars: 20 } })
      ]
      await using agent = createAgent({ provider: model.provider, hooks })
      const turn = agent.stream("hi")
      let shown = ""
      for await (const event of turn) {
        assert.notStrictEqual(event.type, "retract")
        if (event.type === "text-delta") shown += event.text
      }
      assert.strictEqual(
        shown,
        text.replace("eve@example.net", "<EMAIL_1>").replace(card, "<CARD_1>").replace(secret, "[OPENAI_KEY]")
      )
      assert.strictEqual((await turn.result).text, text.replace(secret, "[OPENAI_KEY]"))
    }
  })

  it("cleans what memory brought before it is sent, and in the history when the step is over", async () => {
    const model = scripted(["hello"])
    const memory = {
      preTurnContext: () => Effect.succeed<ReadonlyArray<Message>>([{ role: "user", content: `the user is ${mail}` }])
    }
    await using agent = createAgent({
      provider: model.provider,
      memory,
      instructions: `help ${mail}`,
      hooks: [Redaction.make()]
    })
    const { messages } = await agent.run("hi")
    assert.notInclude(JSON.stringify([model.requests, messages]), mail)
    assert.strictEqual(model.requests[0]?.instructions, "help <EMAIL_1>")
  })
})

describe("a vault", () => {
  const key = new Uint8Array(32).fill(7)
  const hooks = (vault?: { readonly key: Uint8Array }) => [
    Redaction.make({ revealTo: "send_mail", ...(vault === undefined ? {} : { vault }) }),
    Approval.make({ tools: "send_mail" })
  ]
  const suspended = async (vault?: { readonly key: Uint8Array }) => {
    const model = scripted([asks(["send_mail", { to: "<EMAIL_1>" }])])
    await using agent = createAgent({ provider: model.provider, tools: [mailer()], hooks: hooks(vault) })
    const result = await agent.run(`Write to ${mail}`)
    if (result.status !== "suspended") return assert.fail(result.status)
    return result
  }
  const resumed = async (snapshot: unknown, callId: string, vault?: { readonly key: Uint8Array }) => {
    const model = scripted(["I wrote to <EMAIL_1>, not to <EMAIL_2>"])
    await using agent = createAgent({ provider: model.provider, tools: [mailer()], hooks: hooks(vault) })
    return agent.resume(JSON.stringify(snapshot), { [callId]: { type: "approve" } })
  }

  it("is opened by another agent with the same key; no file holds a value", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended({ key })
    assert.notInclude(JSON.stringify(snapshot), "ada")
    assert.isString(snapshot.hookState["redaction/vault"])
    const result = await resumed(snapshot, pending[0]!.callId, { key })
    assert.deepEqual(sent, [{ to: mail }])
    assert.strictEqual(result.text, `I wrote to ${mail}, not to <EMAIL_2>`)
  })

  it("does not open with another key, for another session, or when it was changed", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended({ key })
    const { callId } = pending[0]!
    const text = snapshot.hookState["redaction/vault"] as string
    const changed = `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`
    const attempts: ReadonlyArray<readonly [unknown, Uint8Array]> = [
      [snapshot, new Uint8Array(32)],
      [{ ...snapshot, sessionId: "another" }, key],
      [{ ...snapshot, hookState: { ...snapshot.hookState, "redaction/vault": changed } }, key],
      [{ ...snapshot, hookState: { ...snapshot.hookState, "redaction/vault": "?" } }, key]
    ]
    for (const [state, other] of attempts) {
      const said = await resumed(state, callId, { key: other }).then(
        ({ messages }) => JSON.stringify(messages),
        (error: Error) => error.message
      )
      assert.include(said, "the stored values of this session cannot be decrypted with this key")
    }
    assert.deepEqual(sent, [])
  })

  it("in memory is gone in another agent: a placeholder stands for nothing, and for nobody else's value", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended()
    assert.notInclude(JSON.stringify(snapshot), "ada")
    const result = await resumed(snapshot, pending[0]!.callId)
    assert.deepEqual(sent, [{ to: "<EMAIL_1>" }])
    assert.include(result.text, "<EMAIL_1>")
    const scope = Scope.make({ state: HookState.make(snapshot.hookState) })
    const next = await Effect.runPromise(
      HookChain.makeUnsafe([Redaction.make()]).run("preTurn", { message: "bob@example.com" }, scope)
    )
    assert.strictEqual(next.event.message, "<EMAIL_2>")
  })

  it.effect("gives every text back as it was", () =>
    Effect.gen(function*() {
      const parts = [
        mail,
        card,
        iban,
        "<EMAIL_1>",
        "<email_2>",
        "<PII_TEXT_1>",
        "<CARD_1>",
        "<",
        ">",
        "_1",
        " ",
        "😀",
        "text",
        "$&",
        "\u0000",
        "<<EMAIL_1>>"
      ]
      for (let seed = 0; seed < 300; seed++) {
        const { below, pick } = random(seed)
        const between = pick(["", " "])
        const text = Array.from({ length: below(12) }, () => pick(parts)).join(between)
        const hook = Redaction.make()
        const scope = Scope.make()
        const { event } = yield* HookChain.makeUnsafe([hook]).run("preTurn", { message: text }, scope)
        if (between === " ") assert.notMatch(event.message, /ada@|4111|3704/)
        assert.strictEqual(hook.revealText!(event.message, Scope.context(scope, hook.name) as never), text)
      }
    }))

  it.effect("gives all JSON back to a tool as it was: texts, keys and numbers", () =>
    Effect.gen(function*() {
      const texts = [
        mail,
        `to ${mail}, ${card}`,
        "<EMAIL_1>",
        "<email_2> <PII_TEXT_1>",
        "plain",
        "",
        "__proto__",
        "constructor",
        "4111111111111111"
      ]
      const make = (
        seed: { readonly below: (n: number) => number; readonly pick: <A>(from: ReadonlyArray<A>) => A },
        depth: number
      ): Json => {
        const { below, pick } = seed
        const kind = below(depth > 3 ? 3 : 5)
        if (kind === 0) return pick(texts)
        if (kind === 1) return pick([4111111111111111, 378282246310005, 42, 0.5, -1, 1e21])
        if (kind === 2) return pick([null, true, false])
        const items = Array.from({ length: below(4) }, () => make(seed, depth + 1))
        return kind === 3 ? items : Object.fromEntries(items.map((item) => [pick(texts), item]))
      }
      for (let seed = 0; seed < 300; seed++) {
        const value = make(random(seed), 0)
        const hook = Redaction.make({ revealTo: "put" })
        const scope = Scope.make()
        const pass = (name: string, args: Json, next: (args: Json) => Json) =>
          hook.wrapToolCall!(
            { id: "1", name, args, tool: { name, description: "", inputSchema: {} }, grant: { sandbox: "none" } },
            ((call: { readonly args: Json }) => Effect.succeed(success(next(call.args)))) as never,
            Scope.context(scope, hook.name) as never
          ) as Effect.Effect<ToolResult>
        const found = yield* pass("get", {}, () => value)
        const concealed = found.ok ? found.output : assert.fail()
        assert.notMatch(JSON.stringify(concealed), /ada@|4111 1111|41111111/)
        let received: Json = null
        yield* pass("put", concealed, (args) => received = args)
        assert.deepStrictEqual(received, value)
        yield* pass("other", concealed, (args) => received = args)
        assert.deepStrictEqual(received, concealed)
      }
    }))

  it.effect("redacts what it has no room for, and says so", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const message = Array.from({ length: 5_000 }, (_, index) => `person${index}@example.com`).join(" ")
      const { event } = yield* HookChain.makeUnsafe([Redaction.make({ vault: { key } })]).run(
        "preTurn",
        { message },
        scope
      )
      assert.notInclude(event.message, "@")
      assert.include(event.message, "<EMAIL_1>")
      assert.isTrue(event.message.endsWith("[EMAIL]"))
      assert.match(scope.warnings[0]!, /no more values of this session can be stored/)
    }))

  it.effect("forgets a session that ends", () =>
    Effect.gen(function*() {
      const hook = Redaction.make()
      const chain = HookChain.makeUnsafe([hook])
      const scope = Scope.make()
      yield* chain.run("preTurn", { message: mail }, scope)
      yield* chain.run("onSessionEnd", { sessionId: "session-1", reason: "done" }, scope)
      assert.strictEqual(hook.revealText!("<EMAIL_1>", Scope.context(scope, hook.name) as never), "<EMAIL_1>")
    }))
})
