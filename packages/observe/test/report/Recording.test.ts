/** Recordings: what a recorder writes, and what is read back. */
import { agentTool, createAgent, defineTool, HookAction } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import * as SessionStore from "@belay/core/SessionStore"
import * as Recorder from "@belay/observe/Recorder"
import * as Recording from "@belay/observe/Recording"
import * as Transcript from "@belay/observe/Transcript"
import * as RecordingHook from "@belay/testing/RecordingHook"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { mkdtempSync, readFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const newFile = () => join(mkdtempSync(join(tmpdir(), "belay-recording-")), "run.jsonl")

const asks = (name: string, args: { readonly [key: string]: string } = {}) => Scripted.toolCalls({ name, args })

const tool = (name: string) =>
  defineTool({ name, description: `Does ${name}`, input: { type: "object" }, execute: () => `${name} done` })

/** Runs an agent with a sub-agent, a refused call, a changed call and a refused message. */
const record = async (path: string, more: ReadonlyArray<AgentHook> = []) => {
  const child = createAgent({ name: "child", provider: Scripted.make([asks("look"), "found"]), tools: [tool("look")] })
  const guard: AgentHook = {
    name: "guard",
    preTurn: ({ message }) => message === "forbidden" ? HookAction.reject("not that") : undefined,
    preToolCall: (call) =>
      call.name === "drop"
        ? HookAction.reject("never")
        : call.name !== "look"
        ? undefined
        : HookAction.transform({ ...call, args: { safe: "yes" } })
  }
  const agent = createAgent({
    name: "lead",
    provider: Scripted.make([asks("child", { message: "look" }), asks("drop"), asks("look"), "done"]),
    tools: [tool("drop"), tool("look"), agentTool({ agent: child, name: "child", description: "Helps" })],
    hooks: [guard, ...more],
    plugins: [Recorder.make({ path })]
  })
  const session = await agent.session({ id: "s" })
  await session.run("hello")
  await session.run("forbidden").catch(() => {})
  await agent.close()
}

const read = (path: string) => Result.getOrThrow(Recording.parse(readFileSync(path, "utf8")))

describe("a recording", () => {
  it("has what the hooks received at each point, with the requests as a whole", async () => {
    const path = newFile()
    const recordedPoints = ["preLlmCall", "preToolCall", "postToolCall", "postStep", "preStop"] as const
    const seen = RecordingHook.recordingHook({ points: recordedPoints })
    await record(path, [seen])
    const { entries } = read(path)
    const inputs = entries.flatMap((entry) => entry.type === "input" ? [entry] : [])
    for (const point of recordedPoints) {
      const recorded = inputs.filter((one) => one.point === point).map(({ event }) => event)
      assert.deepStrictEqual(recorded, JSON.parse(JSON.stringify(seen.at(point))))
    }
    assert.lengthOf(inputs.filter(({ point }) => point === "preLlmCall"), 6)
  })

  it("grows with the run, and not with the history that hooks receive in each step", async () => {
    const sizeOf = async (steps: number): Promise<number> => {
      const path = newFile()
      const calls = Array.from({ length: steps }, (_, index) => asks("look", { index: `${1_000 + index}` }))
      const agent = createAgent({
        provider: Scripted.make([...calls, "done"]),
        tools: [tool("look")],
        limits: { steps: 1_000, toolCalls: 1_000 },
        plugins: [Recorder.make({ path })]
      })
      await agent.run("hello")
      await agent.close()
      return statSync(path).size
    }
    const [ten, twenty, eighty] = [await sizeOf(10), await sizeOf(20), await sizeOf(80)]
    // Seven times as many steps again as from ten to twenty.
    assert.closeTo((eighty - ten) / (twenty - ten), 7, 0.2)
  })

  it("has refused messages and refused calls, with who refused them and why", async () => {
    const path = newFile()
    await record(path)
    const refused = read(path).entries.flatMap((entry) =>
      entry.type === "input" && entry.decision?.action === "Reject"
        ? [[entry.point, entry.decision.by, entry.decision.reason]]
        : []
    )
    assert.deepStrictEqual(refused, [["preToolCall", "guard", "never"], ["preTurn", "guard", "not that"]])
  })

  it("can be read by its owner only, and says of a file that is cut off what it still has", async () => {
    const path = newFile()
    await record(path)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    const text = readFileSync(path, "utf8")
    const whole = read(path).entries.length
    const cut = Result.getOrThrow(Recording.parse(text.slice(0, -10)))
    assert.lengthOf(cut.entries, whole - 1)
    assert.match(cut.torn ?? "", /line \d+ is cut off/)
  })

  it("of several runs in one file is read as a whole", async () => {
    const path = newFile()
    await record(path)
    const { length } = read(path).entries
    await record(path)
    assert.lengthOf(read(path).entries, 2 * length)
  })

  it("that is something else, newer or damaged is refused with its line", async () => {
    const cases: ReadonlyArray<readonly [string, Recording.RecordingError["problem"], number]> = [
      ["", "not-a-recording", 1],
      ["hello\n", "not-a-recording", 1],
      ["{\"type\":\"session\"}\n", "not-a-recording", 1],
      ["{\"type\":\"recording\",\"version\":99}\n", "newer-version", 1],
      [`${Recording.header}nonsense\n{}\n`, "corrupt", 2],
      [`${Recording.header}{"type":"input","point":"nowhere"}\n`, "corrupt", 2],
      [`${Recording.header}null\n`, "corrupt", 2]
    ]
    for (const [text, problem, line] of cases) {
      const parsed = Recording.parse(text)
      assert.isTrue(Result.isFailure(parsed), text)
      if (Result.isFailure(parsed)) assert.deepInclude({ ...parsed.failure }, { problem, line })
    }
  })

  it("with an input that lacks a field is refused with its line", async () => {
    const path = newFile()
    await record(path)
    const lines = readFileSync(path, "utf8").split("\n").filter((line) => line.startsWith("{\"type\":\"input\""))
    const whole = JSON.parse(lines[0]!) as { readonly [field: string]: unknown }
    assert.isTrue(Result.isSuccess(Recording.parse(`${Recording.header}${lines[0]}\n`)))
    for (const field of Object.keys(whole)) {
      const line = JSON.stringify({ ...whole, [field]: undefined })
      const parsed = Recording.parse(`${Recording.header}${line}\n`)
      if (Result.isSuccess(parsed)) assert.fail(field)
      assert.deepInclude({ ...parsed.failure }, { problem: "corrupt", line: 2 })
    }
  })

  it("of a stored session has what its hooks would have received", () => {
    const messages = [{ role: "user" as const, content: "hi" }, { role: "assistant" as const, content: "hello" }]
    const { entries } = Transcript.toRecording({ sessionId: "s", turnNumber: 1, messages } as never)
    const places = entries.flatMap((entry) => {
      if (entry.type !== "input") return []
      const { agent, depth, rootSessionId, sessionId, turnNumber } = entry
      return [JSON.stringify([sessionId, rootSessionId, agent, depth, turnNumber])]
    })
    assert.deepStrictEqual([...new Set(places)], ["[\"s\",\"s\",\"agent\",0,1]"])
  })

  it("causes no stream, and an agent goes on if the file cannot be written", async () => {
    const warnings: Array<string> = []
    const { complete, stream: _stream, ...rest } = Scripted.make(["one", "two"])
    const agent = createAgent({
      provider: { ...rest, complete, stream: () => assert.fail("nothing asked for a stream") as never },
      plugins: [Recorder.make({ path: join(newFile(), "no", "such", "folder.jsonl") }), {
        name: "watch",
        onEvent: (event) => event.type === "warning" && warnings.push(event.message),
        eventTypes: ["warning"]
      }]
    })
    assert.strictEqual((await agent.run("hi")).text, "one")
    assert.strictEqual((await agent.run("again")).text, "two")
    await agent.close()
    assert.lengthOf(warnings.filter((message) => /nothing is recorded: ENO/.test(message)), 1)
  })
})

describe("a recorder", () => {
  it("keeps nothing of a session that was closed, and of a sub-agent whose turn has ended", () => {
    const writer = new Recording.Writer()
    const kept = () => (writer as unknown as { readonly contexts: ReadonlyMap<string, unknown> }).contexts.size
    const line = (point: "preLlmCall" | "postStep", messages: ReadonlyArray<string>) =>
      writer.line({
        type: "input",
        point,
        sessionId: "s",
        rootSessionId: "s",
        turnNumber: 1,
        stepNumber: 1,
        agent: "a",
        depth: 0,
        time: 0,
        event: { messages: messages.map((content) => ({ role: "user", content })), tools: [] }
      })
    const text = [line("preLlmCall", ["one"]), line("postStep", ["one"]), line("preLlmCall", ["one", "two"])]
    assert.strictEqual(kept(), 2)
    writer.forget("s")
    assert.strictEqual(kept(), 0)
    text.push(line("preLlmCall", ["one", "two", "three"]))
    const read = Result.getOrThrow(Recording.parse(Recording.header + text.join("")))
    const messages = read.entries.map((entry) => entry.type === "input" ? Object(entry.event).messages.length : 0)
    assert.deepStrictEqual(messages, [1, 1, 2, 3])
  })

  it("forgets every session that an agent has closed or released", async () => {
    const forgotten: Array<string> = []
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its writer
    const { forget } = Recording.Writer.prototype
    Recording.Writer.prototype.forget = function(id) {
      forgotten.push(id)
      return forget.call(this, id)
    }
    const plugin = Recorder.make({ path: newFile() })
    const store = SessionStore.inMemory()
    const agent = createAgent({ provider: Scripted.make(["one", "two"]), plugins: [plugin], store, log: false })
    const [first, second] = [await agent.session({ id: "first" }), await agent.session({ id: "second" })]
    await first.run("hello")
    await second.run("hello")
    assert.deepStrictEqual(forgotten, [])
    await first.close()
    assert.deepStrictEqual(forgotten, ["first"])
    await second.release()
    assert.deepStrictEqual(forgotten, ["first", "second"])
    await agent.close()
    Recording.Writer.prototype.forget = forget
  })
})
