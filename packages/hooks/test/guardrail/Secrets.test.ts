import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import * as Redaction from "@belay/hooks/Redaction"
import * as Secrets from "@belay/hooks/Secrets"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { answer, call } from "../../../../test/support/events.ts"
import { asks, chunks, scripted, stream } from "../support/guarded.ts"
import { noise, samples, staySecret } from "../support/secrets.ts"

const said = (options: Secrets.Options, message: string) =>
  Effect.map(
    HookChain.makeUnsafe([Secrets.make(options)]).run("preTurn", { message }, TestScope.make()),
    ({ action, event }) => action._tag === "Reject" ? `rejected: ${action.reason}` : event.message
  )

describe("Secrets", () => {
  it.effect.each(samples)("finds a %s", ([kind, secret]) =>
    Effect.gen(function*() {
      const marker = `[${kind.toUpperCase().replaceAll("-", "_")}]`
      assert.strictEqual(yield* said({}, `use "${secret}", please`), `use "${marker}", please`)
    }))

  it.effect("finds random values behind the name of a secret", () =>
    Effect.gen(function*() {
      const secret = noise(20)
      for (
        const name of [
          "API_KEY=",
          "api-key: ",
          "password = '",
          "\"client_secret\": \"",
          "token=",
          "Authorization: Bearer ",
          "pwd:"
        ]
      ) {
        const left = yield* said({}, `${name}${secret}' and so on`)
        assert.notInclude(left, secret)
        assert.include(left, `${name}[SECRET]`)
      }
      assert.strictEqual(
        yield* said({}, `postgres://app:${"p@ss/word".replace("/", "-")}@db.example.com/x`),
        "postgres://app:[DATABASE_PASSWORD]@db.example.com/x"
      )
    }))

  it.effect("ignores words, repetitions, placeholders and short values", () =>
    Effect.gen(function*() {
      const text =
        "password: changeme, changeme1, password requirements: requirements, token authentication, secret: requirements, token: https://example.com/reset, token = aaaaaaaaaaaaaaaa, api_key=<YOUR_KEY>, secret: short, sk-short, key=[API_KEY], AKIA, eyJhbGci, tokens: 128000"
      assert.strictEqual(yield* said({}, text), text)
      assert.strictEqual(yield* said({ entropy: 2 }, "password: changeme1"), "password: [SECRET]")
      assert.strictEqual(yield* said({ entropy: 8 }, `password: ${noise(20)}`), `password: ${noise(20)}`)
    }))

  it.effect("keeps values that a pattern or a digest allows", () =>
    Effect.gen(function*() {
      const one = samples[0]![1]
      const two = samples[4]![1]
      const digest = createHash("sha256").update(two).digest("hex")
      const left = yield* said(
        { allow: ["^sk-"], allowDigests: [digest.toUpperCase()] },
        `${one} ${two} ${samples[3]![1]}`
      )
      assert.strictEqual(left, `${one} ${two} [AWS_KEY]`)
    }))

  it.effect("blocks, without the value in the reason, also in results and arguments", () =>
    Effect.gen(function*() {
      const [[, secret]] = samples as readonly [readonly [string, string]]
      const chain = HookChain.makeUnsafe([Secrets.make({ strategy: "block" })])
      assert.strictEqual(yield* said({ strategy: "block" }, secret), "rejected: OPENAI_KEY is not allowed in a message")
      const { action } = yield* chain.run("preToolCall", call("post", { headers: [{ key: secret }] }), TestScope.make())
      assert.deepInclude(action, { _tag: "Reject", reason: "OPENAI_KEY is not allowed in the arguments of a tool" })
      const result = {
        call: call("read"),
        tool: call("read").tool,
        result: { ok: false as const, error: secret },
        elapsedMs: 1,
        executed: true
      }
      const { event } = yield* chain.run("postToolCall", result, TestScope.make())
      assert.deepEqual(event.result, {
        ok: false,
        error: "the result of read was withheld: OPENAI_KEY is not allowed in the result of a tool"
      })
    }))

  it.effect("shows nothing of a secret in a stream of pieces of any size", () => staySecret([4, 300]))

  it.effect("is cut before a secret when secrets are blocked", () =>
    Effect.gen(function*() {
      const { cut, shown } = yield* stream(
        Secrets.make({ strategy: "block" }),
        chunks(`well, ${samples[2]![1]} ${"so ".repeat(200)}`, 1, 5)
      )
      assert.isTrue(cut)
      assert.notInclude(shown, "sk-")
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      const units = [
        "eyJ",
        "sk-",
        "password=",
        "-----BEGIN PRIVATE KEY-----",
        "Proc-Type: ",
        "token ",
        "postgres://a:",
        "a",
        "secret:",
        "xoxb-",
        "AKIA"
      ]
      const chain = HookChain.makeUnsafe([Secrets.make()])
      for (const unit of units) {
        const began = cpuMs()
        yield* chain.run("preTurn", { message: unit.repeat(Math.ceil(100_000 / unit.length)) }, TestScope.make())
        assert.isBelow(cpuMs() - began, 2_000, unit)
      }
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [Secrets.Options, RegExp]> = [
      [{ kinds: ["pgp" as never] }, /secrets\.kinds: expected one of .*, found "pgp"/],
      [{ kinds: [] }, /secrets\.kinds: expected at least one kind/],
      [{ strategy: "mask" as never }, /secrets\.strategy: expected one of .*, found "mask"/],
      [{ entropy: 9 }, /secrets\.entropy/],
      [{ allowDigests: ["abc"] }, /secrets\.allowDigests/],
      [{ allow: ["("] }, /secrets\.allow\[0\]/],
      [{ detectors: [{ kind: "jwt", find: "x" }] }, /secrets\.detectors\[0\]/],
      [{ hold: { chars: 1 } }, /secrets\.hold\.chars/]
    ]
    for (const [options, message] of wrong) assert.throws(() => Secrets.make(options), ConfigError, message)
  })
})

describe("redactText", () => {
  it("replaces each secret by its kind, and leaves other text as it is", () => {
    assert.strictEqual(
      Secrets.redactText("key AKIAIOSFODNN7EXAMPLE, then sk-ant-abcdefghijklmnopqrstuvwx."),
      "key [aws-key], then [anthropic-key]."
    )
    assert.strictEqual(Secrets.redactText("nothing to see"), "nothing to see")
  })
})

describe("an agent with secrets", () => {
  it("reveals a key to the tool that needs it, together with a redaction hook", async () => {
    const secret = samples[0]![1]
    const ran: Array<unknown> = []
    const input = Schema.Struct({ key: Schema.String, to: Schema.String })
    const tool = (name: string) =>
      defineTool({
        name,
        description: `Does ${name}`,
        input,
        execute: (args) => {
          ran.push([name, args])
          return `${name} with ${args.key} for ${args.to}`
        }
      })
    const args = { key: "<OPENAI_KEY_1>", to: "<EMAIL_1>" }
    const model = scripted([asks(["deploy", args], ["log", args]), (request) => JSON.stringify(request.messages)])
    const hooks = [
      Redaction.make({ revealTo: "deploy" }),
      Secrets.make({ strategy: "placeholder", revealTo: "deploy" })
    ]
    await using agent = createAgent({ provider: model.provider, tools: [tool("deploy"), tool("log")], hooks })
    const { messages, text } = await agent.run(`deploy with ${secret}, tell ada@example.com`)
    assert.deepEqual(ran, [["deploy", { key: secret, to: "ada@example.com" }], ["log", args]])
    assert.notInclude(JSON.stringify([messages, model.requests]), secret)
    assert.notInclude(text, secret)
    assert.include(text, "deploy with <OPENAI_KEY_1> for ada@example.com")
  })

  it("removes a key from the result of a tool", async () => {
    const secret = samples[4]![1]
    const read = defineTool({
      name: "read",
      description: "Reads",
      input: { type: "object" },
      execute: () => ({ lines: [`TOKEN=${secret}`] })
    })
    const model = scripted([asks(["read", {}]), "done"])
    await using agent = createAgent({ provider: model.provider, tools: [read], hooks: [Secrets.make()] })
    const { messages } = await agent.run("read it")
    assert.deepEqual(messages.at(-2)?.content, { lines: ["TOKEN=[GITHUB_TOKEN]"] })
    const { event } = await Effect.runPromise(
      HookChain.makeUnsafe([Secrets.make()]).run("postLlmCall", answer({ reasoning: secret }), TestScope.make())
    )
    assert.strictEqual(event.response.reasoning, "[GITHUB_TOKEN]")
  })
})
