import type { AgentEvent } from "@belay/core/AgentEvent"
import { agentTool } from "@belay/core/agentTool"
import * as ArtifactStore from "@belay/core/ArtifactStore"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Message from "@belay/core/Message"
import * as SessionStore from "@belay/core/SessionStore"
import { byLength } from "@belay/core/Tokenizer"
import * as ResultOffloader from "@belay/hooks/ResultOffloader"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Events from "../../../../test/support/events.ts"

const big = (lines = 2_000) => Array.from({ length: lines }, (_, n) => `line ${n} of the log`).join("\n")

const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : assert.fail(`no text: ${JSON.stringify(value)}`)

const loud = (output: Json, name = "loud") =>
  defineTool({ name, description: "Says much", input: Schema.Struct({}), execute: () => output })

/** Runs tools in turns of one session and gives what the model read of each. */
const run = async (
  options: ResultOffloader.Options,
  output: Json,
  script: ReadonlyArray<Scripted.Entry> = [],
  more: object = {}
) => {
  const artifacts = ArtifactStore.inMemory()
  const provider = Scripted.make([Scripted.toolCalls({ name: "loud", id: "c1" }), ...script, "done"])
  const events: Array<AgentEvent> = []
  const agent = createAgent({
    provider,
    artifacts,
    tools: [loud(output), ResultOffloader.readTool()],
    hooks: [ResultOffloader.make(options)],
    ...more
  })
  agent.on((event) => void events.push(event))
  const session = await agent.session({ id: "s" })
  const result = await session.run("go")
  const read = result.messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
  const kept = await Effect.runPromise(artifacts.list("s"))
  return { agent, artifacts, events, kept, provider, read, result, session }
}

const reads = (args: (ref: string) => JsonObject): Scripted.Entry => (request) => {
  const text = JSON.stringify(request.messages)
  const ref = /<artifact:hook:offload\/t\d+-[0-9a-f]{14}>/.exec(text)?.[0] ?? "none"
  return Scripted.toolCalls({ name: "read_artifact", args: args(ref) })
}

describe("ResultOffloader", () => {
  it("does not change or store short results", async () => {
    const { kept, read } = await run({}, { rows: [1, 2, 3] })
    assert.deepEqual(read, [{ rows: [1, 2, 3] }])
    assert.deepEqual(kept, [])
  })

  it("shows the beginning, the end and a reference, and stores the whole result under a key that the model does not choose", async () => {
    const text = big()
    const { artifacts, events, kept, read } = await run({ maxResultTokens: 500, previewTokens: 90 }, text)
    const shown = textOf(read[0])
    assert.match(shown, /^line 0 of the log\n/)
    assert.match(shown, /\n\n\[\.\.\. \d+ characters left out \.\.\.\]\n\n/)
    assert.match(
      shown,
      /line 1999 of the log\n\n\[This result of loud is too long to be read at once: \d+ characters, about \d+ tokens\./
    )
    assert.include(shown, `The whole result is ${kept[0]!.ref}; read it with read_artifact.]`)
    assert.match(kept[0]!.key, /^hook:offload\/t1-[0-9a-f]{14}$/)
    assert.deepInclude(kept[0], { by: "result-offloader", mimeType: "text/plain", toolCallId: "c1", size: text.length })
    assert.strictEqual(await Effect.runPromise(artifacts.read("s", kept[0]!.key)), text)
    const custom = events.flatMap((event) => event.type === "custom" ? [[event.name, event.payload]] : [])
    assert.deepEqual(custom, [["result-offloaded", {
      tool: "loud",
      ref: kept[0]!.ref,
      tokens: byLength.count(text),
      characters: text.length
    }]])
  })

  it("stores JSON as JSON, whatever the names of its keys", async () => {
    const output = JSON.parse(`{"__proto__": {"admin": true}, "constructor": ${JSON.stringify(big())}}`) as Json
    const { artifacts, kept, read } = await run({ maxResultTokens: 100 }, output)
    assert.strictEqual(kept[0]?.mimeType, "application/json")
    const whole = await Effect.runPromise(artifacts.read("s", kept[0]!.key))
    assert.strictEqual(whole, JSON.stringify(output))
    assert.isString(read[0])
  })

  it("shortens the error of a tool, which stays an error", async () => {
    const failing = defineTool({
      name: "loud",
      description: "Fails",
      input: Schema.Struct({}),
      execute: () => Effect.fail(big())
    })
    const { kept, result } = await run({ maxResultTokens: 100 }, "", [], { tools: [failing] })
    assert.deepInclude(result.messages.find(({ role }) => role === "tool"), { isError: true })
    assert.lengthOf(kept, 1)
  })

  it("counts the texts of content parts, and keeps or offloads files as the option says", async () => {
    const picture = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${"A".repeat(40_000)}` }
    const text = { type: "text", text: "a chart" }
    assert.deepEqual((await run({ maxResultTokens: 100 }, [text, picture])).read, [[text, picture]])
    const { artifacts, kept, read } = await run({ maxResultTokens: 100, media: "offload" }, [text, picture])
    assert.deepEqual(read[0], [text, {
      type: "text",
      text: `[A file of type image/png was here. It is ${kept[0]!.ref}.]`
    }])
    assert.strictEqual(await Effect.runPromise(artifacts.read("s", kept[0]!.key)), picture.url)
    const long = await run({ maxResultTokens: 100, media: "offload" }, [{ type: "text", text: big() }, picture])
    assert.lengthOf(long.kept, 2)
    assert.match(
      JSON.stringify(long.read[0]),
      /^\[\{"type":"text","text":"line 0 .*read_artifact\.\]"\},\{"type":"text","text":"\[A file/
    )
  })

  it("applies other limits to some tools, and none to others", async () => {
    const perTool = { "lo*": { maxResultTokens: 20_000 }, loud: false } as const
    assert.deepEqual((await run({ perTool }, big())).read, [big()])
    assert.deepEqual((await run({ maxResultTokens: 1, perTool: { loud: false } }, big())).read, [big()])
    assert.lengthOf((await run({ perTool: { loud: { maxResultTokens: 10 } } }, "x".repeat(50))).kept, 1)
    assert.deepEqual((await run({ tools: "!loud" }, big())).kept, [])
  })

  it("offloads the result as other hooks have changed it", async () => {
    const shorten = {
      name: "shorten",
      postToolCall: () => HookAction.transform({ ok: true as const, output: "short" })
    }
    const { kept, read } = await run({}, big(), [], { hooks: [ResultOffloader.make({}), shorten] })
    assert.deepEqual([kept.length, read[0]], [0, "short"])
  })

  it("lets the model read and search limited excerpts", async () => {
    const text = big()
    const { provider, read } = await run({ maxResultTokens: 500 }, text, [
      reads((ref) => ({ ref, offset: 10, length: 30 })),
      reads((ref) => ({ ref, search: "LINE 1500" })),
      reads((ref) => ({ ref, search: "line", length: 9e99, offset: -7 })),
      reads((ref) => ({ ref, offset: 1e12 }))
    ])
    provider.assertDone()
    assert.deepEqual(read[1], { total: text.length, offset: 10, text: text.slice(10, 40), next: 40 })
    const { matches } = read[2] as {
      readonly matches: ReadonlyArray<{ readonly offset: number; readonly text: string }>
    }
    assert.deepEqual(matches.map(({ offset }) => offset), [text.indexOf("line 1500")])
    assert.include(matches[0]!.text, "line 1500 of the log")
    assert.isAtMost(JSON.stringify(read[3]).length, 16_000)
    assert.isAbove((read[3] as { readonly next: number }).next, 0)
    assert.deepEqual(read[4], { total: text.length, offset: text.length, text: "" })
  })

  it("reads only the allowed artifacts, not those of other hooks, tools or sessions", async () => {
    const artifacts = ArtifactStore.inMemory()
    const about = { by: "result-offloader" }
    await Effect.runPromise(artifacts.write("other", "hook:offload/t1-00000000000000", "of another session", about))
    await Effect.runPromise(artifacts.write("s", "hook:vault", "of another hook", about))
    await Effect.runPromise(artifacts.write("s", "tool:draft", "of a tool", about))
    const hostile = [
      "<artifact:hook:offload/t1-00000000000000>",
      "hook:vault",
      "<artifact:hook:offload/../vault>",
      "tool:draft",
      "draft",
      "other/hook:offload/t1-00000000000000",
      "__proto__",
      "<artifact:<artifact:hook:vault>>",
      "x".repeat(5_000)
    ]
    const script = hostile.map((ref) => Scripted.toolCalls({ name: "read_artifact", args: { ref } }))
    const { result } = await run({}, "short", script, { artifacts })
    const answers = result.messages.filter(({ role }) => role === "tool").slice(1)
    assert.lengthOf(answers, hostile.length)
    for (const answer of answers) {
      assert.deepInclude(answer, { isError: true })
      assert.match(Message.text(answer), /^there is no artifact .* to read; it may have been removed/)
      assert.isAtMost(Message.text(answer).length, 200)
    }
  })

  it("also reads the artifacts of the runtime, such as an injection that was cut", async () => {
    const tail = `${"x".repeat(10_000)}the end`
    const provider = Scripted.make([
      (request) => {
        const ref = /<artifact:hook:injection[^>]+>/.exec(JSON.stringify(request.messages))![0]
        return Scripted.toolCalls({ name: "read_artifact", args: { ref, offset: 10_000 } })
      },
      "done"
    ])
    await using agent = createAgent({
      provider,
      tools: [ResultOffloader.readTool()],
      hooks: [{ name: "talkative", preTurn: (_input, ctx) => ctx.inject(tail) }]
    })
    const { messages } = await agent.run("go")
    assert.deepEqual(messages.find(({ role }) => role === "tool")?.content, {
      total: 10_007,
      offset: 10_000,
      text: "the end"
    })
  })

  it("cuts results that cannot be stored, with a note", async () => {
    const broken = { ...ArtifactStore.inMemory(), write: () => Effect.fail("the disk is full") }
    const { events, read } = await run({ maxResultTokens: 100, previewTokens: 10 }, big(), [], { artifacts: broken })
    const shown = textOf(read[0])
    assert.match(shown, /It could not be stored: what was left out is lost\.\]$/)
    assert.notInclude(shown, "<artifact:")
    assert.isAtMost(byLength.count(shown), 100 + 60)
    assert.isAtLeast(byLength.count(shown), 100)
    const warnings = events.flatMap((event) => event.type === "warning" ? [event.message] : [])
    assert.deepEqual(warnings, ["a result of loud could not be stored, and was cut: artifacts of s: the disk is full"])
  })

  it.effect("cuts results without a runtime that can store them", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([ResultOffloader.make({ maxResultTokens: 10 })])
      const scope = TestScope.make()
      const { call, tool } = { call: Events.call("loud"), tool: Events.call("loud").tool }
      const event = { call, tool, result: { ok: true as const, output: big() }, elapsedMs: 1, executed: true }
      const outcome = yield* chain.run("postToolCall", event, scope)
      assert.match(JSON.stringify(outcome.event.result), /It could not be stored/)
      assert.lengthOf(scope.warnings, 1)
    }))

  it("shares artifacts between an agent and its sub-agents, under different keys", async () => {
    const artifacts = ArtifactStore.inMemory()
    const call = (name: string) =>
      Scripted.toolCalls({ name, id: "same-id", args: name === "work" ? { message: "x" } : {} })
    const worker = createAgent({
      name: "worker",
      provider: Scripted.make([
        call("loud"),
        (request) => `see ${/<artifact:[^>]+>/.exec(JSON.stringify(request.messages))![0]}`
      ]),
      tools: [loud(`worker\n${big()}`)]
    })
    const provider = Scripted.make([
      call("work"),
      reads((ref) => ({ ref, length: 6 })),
      Scripted.toolCalls({ name: "loud", id: "l2" }),
      "done"
    ])
    await using agent = createAgent({
      provider,
      artifacts,
      tools: [agentTool({ name: "work", description: "w", agent: worker }), loud(big()), ResultOffloader.readTool()],
      hooks: [ResultOffloader.make({ maxResultTokens: 100 })]
    })
    const session = await agent.session({ id: "s" })
    const { messages } = await session.run("go")
    assert.deepInclude(messages.filter(({ role }) => role === "tool")[1]!.content, { text: "worker" })
    assert.lengthOf(await Effect.runPromise(artifacts.list("s")), 2)
  })

  it("is readable after a suspension, in another process with the same store", async () => {
    const store = SessionStore.inMemory()
    const deploy = defineTool({
      name: "deploy",
      description: "Deploys",
      input: Schema.Struct({}),
      execute: () => "deployed"
    })
    const make = (script: ReadonlyArray<Scripted.Entry>) =>
      createAgent({
        provider: Scripted.make(script),
        store,
        tools: [loud(big()), deploy, ResultOffloader.readTool()],
        hooks: [
          ResultOffloader.make({ maxResultTokens: 100 }),
          { name: "ask", tools: "deploy", preToolCall: () => HookAction.ask("sure?") }
        ]
      })
    const first = make([Scripted.toolCalls({ name: "loud" }), Scripted.toolCalls({ name: "deploy", id: "d" })])
    const session = await first.session({ id: "s" })
    assert.strictEqual((await session.run("go")).status, "suspended")
    await using second = make([reads((ref) => ({ ref, offset: 0, length: 6 })), "done"])
    const again = await second.session({ id: "s" })
    const ended = await again.resume({ d: { type: "approve" } })
    assert.strictEqual(ended.status, "completed")
    assert.deepInclude(ended.messages.filter(({ role }) => role === "tool").at(-1)!.content, { text: "line 0" })
  })

  it("removes only artifacts that are older than the limit", async () => {
    const artifacts = ArtifactStore.inMemory()
    const about = { by: "somebody" }
    await Effect.runPromise(artifacts.write("s", "hook:offload/t1-00000000000000", "of another hook", about))
    const provider = Scripted.make([
      Scripted.toolCalls({ name: "loud" }),
      "one",
      Scripted.toolCalls({ name: "loud" }),
      "two",
      "three",
      (request) => {
        const [old] = /<artifact:[^>]+>/.exec(JSON.stringify(request.messages))!
        return Scripted.toolCalls({ name: "read_artifact", args: { ref: old } })
      },
      "four"
    ])
    await using agent = createAgent({
      provider,
      artifacts,
      tools: [loud(big()), ResultOffloader.readTool()],
      hooks: [ResultOffloader.make({ maxResultTokens: 100, evictAfterTurns: 1 })]
    })
    const session = await agent.session({ id: "s" })
    const turns: Array<string> = []
    for (const message of ["1", "2", "3"]) {
      await session.run(message)
      const kept = await Effect.runPromise(artifacts.list("s"))
      turns.push(kept.map(({ by, key }) => `${by === "somebody" ? "-" : "+"}${/t\d/.exec(key)![0]}`).sort().join(" "))
    }
    assert.deepEqual(turns, ["+t1 -t1", "+t1 +t2 -t1", "+t2 -t1"])
    const { messages } = await session.run("4")
    assert.match(Message.text(messages.findLast(({ role }) => role === "tool")!), /it may have been removed/)
  })

  it("warns when old results cannot be removed, and continues", async () => {
    const broken = { ...ArtifactStore.inMemory(), list: () => Effect.fail("no list") }
    const provider = Scripted.make(["done"])
    await using agent = createAgent({
      provider,
      artifacts: broken,
      hooks: [ResultOffloader.make({ evictAfterTurns: 0 })]
    })
    const warnings: Array<string> = []
    agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0]!, /^old results could not be removed: artifacts of .*: no list$/)
  })

  it("stores the results of parallel tools separately", async () => {
    const artifacts = ArtifactStore.inMemory()
    const say = defineTool({
      name: "say",
      description: "s",
      input: Schema.Struct({ n: Schema.Finite }),
      execute: async ({ n }) => `${n}:${big()}`
    })
    const calls = Array.from({ length: 20 }, (_, n) => ({ name: "say", args: { n } }))
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls(...calls), "done"]),
      artifacts,
      tools: [say],
      hooks: [ResultOffloader.make({ maxResultTokens: 100 })]
    })
    const session = await agent.session({ id: "s" })
    const { messages } = await session.run("go")
    const shown = messages.filter(({ role }) => role === "tool").map(Message.text)
    for (const [n, text] of shown.entries()) {
      const key = /<artifact:([^>]+)>/.exec(text)![1]!
      assert.match((await Effect.runPromise(artifacts.read("s", key)))!, new RegExp(`^${n}:line 0`))
    }
  })
})
