import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { Message } from "@belay/core/Message"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as Redaction from "@belay/hooks/Redaction"
import * as Secrets from "@belay/hooks/Secrets"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asks, scripted } from "../support/guarded.ts"

const mail = "ada@example.com"
const card = "4111 1111 1111 1111"

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
  it("hides values in results that come from hooks", async () => {
    const model = scripted([asks(["write_log", { to: "x" }]), "done"])
    const answers = defineHook({ name: "answers", preToolCall: () => HookAction.respond({ from: mail, all: [mail] }) })
    const events: Array<AgentEvent> = []
    await using agent = createAgent({
      provider: model.provider,
      tools: [logger],
      hooks: [answers, Redaction.make()]
    })
    agent.on((event) => void events.push(event))
    const { messages } = await agent.run("go")
    const { content } = messages.find(({ role }) => role === "tool")!
    assert.deepEqual(content as unknown, { from: "<EMAIL_1>", all: ["<EMAIL_1>"] })
    assert.notInclude(JSON.stringify([messages, events, model.requests]), mail)
  })

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

  it("does not reveal values to the user if the option is false", async () => {
    const model = scripted(["<EMAIL_1>"])
    await using agent = createAgent({ provider: model.provider, hooks: [Redaction.make({ revealToUser: false })] })
    assert.strictEqual((await agent.run(mail)).text, "<EMAIL_1>")
  })

  it("never reveals a value to somebody who writes its placeholder: users, tools and memory", async () => {
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

  it("keeps a placeholder that the model invents, and reads placeholders in any letter case", async () => {
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

  it("reveals a number as a number", async () => {
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

  it("finds a known value again, even if no detector matches there", async () => {
    const model = scripted([asks(["send_mail", { to: "x" }]), "ok"])
    const detectors = [{ kind: "password", find: "(?i)password is \\S+" }]
    const tools = [mailer(() => "it said: Password is hunter2-fake, again: Password is hunter2-fake")]
    await using agent = createAgent({ provider: model.provider, tools, hooks: [Redaction.make({ detectors })] })
    const { messages } = await agent.run("my password is hunter2-fake")
    assert.notInclude(JSON.stringify(messages), "hunter2")
  })

  const long = "A scan of this text finds nothing, and a text of more than sixty-four characters is not scanned again. "
  it.each(["", long])("replaces a value that becomes known later in earlier messages too: %j", async (more) => {
    const model = scripted([])
    const detectors = [{ kind: "password", find: "\\bhunter2-fake\\b" }]
    await using agent = createAgent({ provider: model.provider, hooks: [Redaction.make({ detectors })] })
    await using session = await agent.session()
    await session.run(`${more}xhunter2-fakex, yhunter2-fakey`)
    assert.include(JSON.stringify(model.requests[0]!.messages), "xhunter2-fakex, yhunter2-fakey")
    await session.run("it is hunter2-fake")
    assert.notInclude(JSON.stringify(model.requests[1]!.messages), "hunter2")
    assert.include(JSON.stringify(model.requests[1]!.messages), "x<PASSWORD_1>x, y<PASSWORD_1>y")
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

  it("sends placeholders to another agent, whether or not that agent has the hook", async () => {
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

  it("shows no value in a stream of pieces of any size, together with other hooks that buffer", async () => {
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

  it("redacts recalled memory before it is sent, and in the history after the step", async () => {
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
