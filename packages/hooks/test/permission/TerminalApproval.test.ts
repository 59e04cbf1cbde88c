import { agentTool, createAgent, defineHook, defineTool, HookAction } from "@belay/core"
import type * as Approval from "@belay/hooks/Approval"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import { PassThrough } from "node:stream"

const terminal = (isTTY: boolean) => {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = Object.assign(new PassThrough(), { isTTY })
  let shown = ""
  output.on("data", (data: Buffer) => shown += data.toString("utf8"))
  return { streams: { input, output }, type: (text: string) => input.write(text), shown: () => shown }
}

const request = (signal = new AbortController().signal): Approval.Request =>
  ({
    callId: "1",
    tool: "delete_files",
    args: { suffix: ".tmp\u001b[2J" },
    reason: "",
    fingerprint: "",
    signal
  }) as never

const answered = async (...typed: ReadonlyArray<string>) => {
  const { shown, streams, type } = terminal(true)
  const answer = TerminalApproval.ask({ terminal: streams, remember: true })(request())
  for (const text of typed) {
    await new Promise((resolve) => setImmediate(resolve))
    type(text)
  }
  return { answer: await answer, isPaused: streams.input.isPaused(), shown: shown() }
}

describe("TerminalApproval", () => {
  it("allows, denies, and edits", async () => {
    assert.deepStrictEqual((await answered("a\n")).answer, { type: "approve" })
    assert.strictEqual((await answered("d\n")).answer.type, "deny")
    assert.deepStrictEqual((await answered("e\n", "{\"suffix\":\".bak\"}\n")).answer, {
      type: "edit",
      args: { suffix: ".bak" }
    })
  })

  it("asks again after an unknown answer, and after arguments that are not JSON", async () => {
    const { answer, shown } = await answered("what?\n", "e\n", "{oops\n", "allow\n")
    assert.deepStrictEqual(answer, { type: "approve" })
    assert.include(shown, "not JSON")
  })

  it("approves for the rest of the session, if `remember` is set", async () => {
    assert.deepStrictEqual((await answered("w\n")).answer, {
      type: "approve",
      remember: { what: "tool", scope: "session" }
    })
  })

  it("gives the terminal back when it has an answer", async () => {
    assert.isTrue((await answered("a\n")).isPaused)
    assert.isTrue((await answered("d\n")).isPaused)
  })

  it("escapes control characters in the arguments", async () => {
    const { shown } = await answered("d\n")
    assert.notInclude(shown, "\u001b[2J")
  })

  it("offers only answers that the question allows, and asks for a name if the question says who may answer", async () => {
    const { shown, streams, type } = terminal(true)
    const question = { ...request(), allowed: ["approve", "deny"] as const, approvers: ["ada", "bob"], quorum: 2 }
    const answer = TerminalApproval.ask({ terminal: streams, remember: true })(question)
    for (const text of [" ada \n", "e\n", "a\n"]) {
      await new Promise((resolve) => setImmediate(resolve))
      type(text)
    }
    assert.deepStrictEqual(await answer, { type: "approve", by: "ada" })
    assert.include(shown(), "your name (one of ada, bob)")
    assert.include(shown(), "(0 of 2 approved)")
    assert.notInclude(shown(), "[e]dit")
  })

  it("answers as the agent's `onAsk`: questions of the policy and of sub-agents, one after the other", async () => {
    const { shown, streams, type } = terminal(true)
    const sessions: Array<string> = []
    const asked = TerminalApproval.ask({ terminal: streams })
    const gate = defineHook({ name: "gate", tools: "work", preToolCall: () => HookAction.ask("it costs money") })
    const work = defineTool({ name: "work", description: "Works", input: { type: "object" }, execute: () => "worked" })
    const inner = createAgent({
      name: "inner",
      provider: Scripted.make([Scripted.toolCalls({ name: "work" }), "inner done"]),
      tools: [work]
    })
    await using agent = createAgent({
      provider: Scripted.make([
        Scripted.toolCalls({ name: "work" }, { name: "ask_inner", args: { message: "work" } }),
        "done"
      ]),
      tools: [work, agentTool({ name: "ask_inner", description: "Delegates", agent: inner })],
      hooks: [gate],
      onAsk: (question, about) => {
        sessions.push(about.sessionId)
        return asked(question, about)
      }
    })
    const session = await agent.session({ id: "main" })
    const result = session.run("go")
    for (let answers = 0; answers < 2; answers++) {
      while (shown().split("[a]llow").length - 1 <= answers) await new Promise((resolve) => setImmediate(resolve))
      type("a\n")
    }
    assert.strictEqual((await result).status, "completed")
    assert.deepStrictEqual(sessions, ["main", "main"])
    assert.include(shown(), "? inner: work {}")
  })

  it("asks who approves if several people must", async () => {
    const { streams, type } = terminal(true)
    const answer = TerminalApproval.ask({ terminal: streams })({ ...request(), quorum: 2 })
    for (const text of ["bob\n", "a\n"]) {
      await new Promise((resolve) => setImmediate(resolve))
      type(text)
    }
    assert.deepStrictEqual(await answer, { type: "approve", by: "bob" })
  })

  it("does not offer an approval for ever where no approval is allowed", async () => {
    const { shown, streams, type } = terminal(true)
    const question = { ...request(), allowed: ["deny", "edit"] as const }
    const answer = TerminalApproval.ask({ terminal: streams, remember: true })(question)
    for (const text of ["w\n", "a\n", "d\n"]) {
      await new Promise((resolve) => setImmediate(resolve))
      type(text)
    }
    assert.strictEqual((await answer).type, "deny")
    assert.notInclude(shown(), "al[w]ays")
  })

  it("shows the next question after the first is answered", async () => {
    const { shown, streams, type } = terminal(true)
    const ask = TerminalApproval.ask({ terminal: streams })
    const answers = [ask({ ...request(), tool: "first" }), ask({ ...request(), tool: "second" })]
    await new Promise((resolve) => setImmediate(resolve))
    assert.notInclude(shown(), "second")
    type("a\n")
    assert.strictEqual((await answers[0])?.type, "approve")
    while (!shown().includes("second")) await new Promise((resolve) => setImmediate(resolve))
    type("d\n")
    assert.strictEqual((await answers[1])?.type, "deny")
  })

  it("denies the call if nobody could read the question, because the output is a file", async () => {
    const { shown, streams } = terminal(true)
    const answer = TerminalApproval.ask({
      terminal: { ...streams, output: Object.assign(streams.output, { isTTY: false }) }
    })(request())
    assert.strictEqual((await answer).type, "deny")
    assert.strictEqual(shown(), "")
  })

  it("denies the call if there is no terminal", async () => {
    const { streams } = terminal(false)
    const answer = await TerminalApproval.ask({ terminal: streams })(request())
    assert.strictEqual(answer.type, "deny")
    assert.match(answer.type === "deny" ? answer.reason ?? "" : "", /nobody is at a terminal/)
  })
})
