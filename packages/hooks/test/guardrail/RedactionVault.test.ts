import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import { success, type ToolResult } from "@belay/core/Tool"
import * as Approval from "@belay/hooks/Approval"
import * as Redaction from "@belay/hooks/Redaction"
import { random } from "@belay/testing/SeededRandom"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asks, contextOf, scripted } from "../support/guarded.ts"

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

describe("placeholders that are stored", () => {
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

  it("can be read by another agent with the same key, and no file contains a value", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended({ key })
    assert.notInclude(JSON.stringify(snapshot), "ada@")
    assert.isString(snapshot.hookState["@redaction/vault"])
    const result = await resumed(snapshot, pending[0]!.callId, { key })
    assert.deepEqual(sent, [{ to: mail }])
    assert.strictEqual(result.text, `I wrote to ${mail}, not to <EMAIL_2>`)
  })

  it("cannot be read with another key, in another session, or after a change", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended({ key })
    const { callId } = pending[0]!
    const text = snapshot.hookState["@redaction/vault"] as string
    const changed = `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`
    const attempts: ReadonlyArray<readonly [unknown, Uint8Array]> = [
      [snapshot, new Uint8Array(32)],
      [{ ...snapshot, sessionId: "another" }, key],
      [{ ...snapshot, hookState: { ...snapshot.hookState, "@redaction/vault": changed } }, key],
      [{ ...snapshot, hookState: { ...snapshot.hookState, "@redaction/vault": "?" } }, key]
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

  it("have no value in another agent if they are in memory", async () => {
    sent.length = 0
    const { pending, snapshot } = await suspended()
    assert.notInclude(JSON.stringify(snapshot), "ada@")
    const result = await resumed(snapshot, pending[0]!.callId)
    assert.deepEqual(sent, [{ to: "<EMAIL_1>" }])
    assert.include(result.text, "<EMAIL_1>")
    const scope = TestScope.make({ state: HookState.make(snapshot.hookState) })
    const next = await Effect.runPromise(
      HookChain.makeUnsafe([Redaction.make()]).run("preTurn", { message: "bob@example.com" }, scope)
    )
    assert.strictEqual(next.event.message, "<EMAIL_2>")
  })

  it.effect("are replaced by the values in every text", () =>
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
        const scope = TestScope.make()
        const { event } = yield* HookChain.makeUnsafe([hook]).run("preTurn", { message: text }, scope)
        if (between === " ") assert.notMatch(event.message, /ada@|4111|3704/)
        assert.strictEqual(hook.revealText!(event.message, contextOf(scope, hook.name) as never), text)
      }
    }))

  it.effect("are replaced by the values in the JSON for a tool: texts, keys and numbers", () =>
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
        const scope = TestScope.make()
        const pass = (name: string, args: Json, next: (args: Json) => Json) =>
          hook.wrapToolCall!(
            { id: "1", name, args, tool: { name, description: "", inputSchema: {} }, grant: { sandbox: "none" } },
            ((call: { readonly args: Json }) => Effect.succeed(success(next(call.args)))) as never,
            contextOf(scope, hook.name) as never
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

  it.effect("are not made if the store is full; the value is redacted with a warning", () =>
    Effect.gen(function*() {
      const scope = TestScope.make()
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

  it.effect("move to the next session of the conversation, also for another process", () =>
    Effect.gen(function*() {
      const make = () => Redaction.make({ vault: { key } })
      const first = TestScope.make({ sessionId: "one" })
      const chain = HookChain.makeUnsafe([make()])
      yield* chain.run("preTurn", { message: mail }, first)
      const next = TestScope.make({ sessionId: "two", state: first.state })
      const start = { sessionId: "two", previous: "one", source: "rotate" as const, context: [] }
      yield* chain.run("onSessionStart", start, next)
      for (const hook of [chain.hooks[0]!, make()]) {
        assert.strictEqual(hook.revealText!("to <EMAIL_1>", contextOf(next, hook.name) as never), `to ${mail}`)
      }
      const { event } = yield* chain.run("preTurn", { message: `${mail} bob@example.com` }, next)
      assert.strictEqual(event.message, "<EMAIL_1> <EMAIL_2>")
    }))

  it.effect("are not needed for a session that continues another one without values", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make({ vault: { key } })])
      const scope = TestScope.make({ sessionId: "two" })
      const start = { sessionId: "two", previous: "one", source: "rotate" as const, context: [] }
      const { action } = yield* chain.run("onSessionStart", start, scope)
      assert.strictEqual(action._tag, "Continue")
      assert.deepEqual(scope.state.snapshot(), {})
    }))

  it.effect("are removed when the session ends", () =>
    Effect.gen(function*() {
      const hook = Redaction.make()
      const chain = HookChain.makeUnsafe([hook])
      const scope = TestScope.make()
      yield* chain.run("preTurn", { message: mail }, scope)
      yield* chain.run("onSessionEnd", { sessionId: "session-1", reason: "done" }, scope)
      assert.strictEqual(hook.revealText!("<EMAIL_1>", contextOf(scope, hook.name) as never), "<EMAIL_1>")
    }))
})
