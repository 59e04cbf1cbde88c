/** AG-UI with its own client, which checks every event. */
import { HttpAgent, type Interrupt, type RunAgentParameters } from "@ag-ui/client"
import * as AgUi from "@belay/server/AgUi"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { served } from "./support/served.ts"

const textOf = (content: unknown): string => typeof content === "string" ? content : JSON.stringify(content)

/** An agent of the client, with what its last run has sent. */
const open = (url: string, threadId = "t1", user = "ada") => {
  const agent = new HttpAgent({ url, threadId, headers: { authorization: `Bearer token-${user}` } })
  let interrupts: ReadonlyArray<Interrupt> = []
  const run = async (parameters: RunAgentParameters) => {
    const types: Array<string> = []
    interrupts = []
    let error: unknown
    await agent.runAgent(parameters, {
      onEvent: ({ event }) => {
        if (types.at(-1) !== event.type) types.push(event.type)
        const { outcome } = event as { readonly outcome?: { readonly interrupts?: ReadonlyArray<Interrupt> } }
        interrupts = outcome?.interrupts ?? interrupts
      },
      onRunFailed: (failed) => void (error = failed.error)
    }).catch((failed: unknown) => error ??= failed)
    return { types, error, last: textOf(agent.messages.at(-1)?.content), interrupts }
  }
  const say = (content: string, parameters: RunAgentParameters = {}) => {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content })
    return run(parameters)
  }
  return { agent, run, say }
}

describe("AG-UI", () => {
  // The client prints refused runs.
  beforeAll(() => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {})
    return () => printed.mockRestore()
  })

  it("sends text, steps, tool calls and their results", async () => {
    await using server = await served(AgUi.handler)
    const { agent, say } = open(server.url)
    const { error, last, types } = await say("call weather")
    assert.isUndefined(error)
    assert.strictEqual(last, "Result: {\"degrees\":21}")
    assert.strictEqual(
      types.join(" "),
      "RUN_STARTED STEP_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END STEP_FINISHED " +
        "TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_RESULT " +
        "STEP_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END STEP_FINISHED RUN_FINISHED"
    )
    assert.strictEqual((await say("again")).last, "You said: again (5)")
    assert.deepStrictEqual([...new Set(agent.messages.map(({ role }) => role))].sort(), ["assistant", "tool", "user"])
  })

  it("interrupts a run for a question, which is approved, denied, or answered with other arguments", async () => {
    await using server = await served(AgUi.handler)
    const { run, say } = open(server.url)
    const answer = async (payload: object, status: "resolved" | "cancelled" = "resolved") => {
      const { interrupts } = await say("call delete_file")
      assert.lengthOf(interrupts, 1)
      return run({ resume: [{ interruptId: interrupts[0]!.id, status, payload }] })
    }
    assert.strictEqual((await answer({ approved: true })).last, "Result: deleted")
    assert.strictEqual((await answer({ approved: true, args: { city: "Rome" } })).last, "Result: deleted")
    assert.match((await answer({ approved: false, reason: "keep it" })).last, /keep it/)
    assert.match((await answer({}, "cancelled")).last, /cancelled/)
    assert.strictEqual((await answer({ approved: true, always: true })).last, "Result: deleted")
    const { interrupts, last } = await say("call delete_file")
    assert.deepStrictEqual([interrupts, last], [[], "Result: deleted"])
    assert.lengthOf(server.log, 4)
  })

  it("leaves calls of the client's tools to the client, and continues with their results", async () => {
    await using server = await served(AgUi.handler)
    const { agent, run, say } = open(server.url)
    const tools = [{ name: "place", description: "", parameters: { type: "object", properties: {} } }]
    await say("call place", { tools })
    const message = agent.messages.findLast(({ role }) => role === "assistant") as {
      readonly toolCalls?: ReadonlyArray<{ readonly id: string; readonly function: { readonly name: string } }>
    }
    const [call] = message.toolCalls!
    assert.strictEqual(call!.function.name, "place")
    agent.addMessage({ id: "r", role: "tool", toolCallId: call!.id, content: "Bern" })
    assert.strictEqual((await run({ tools })).last, "Result: Bern")
  })

  it("answers a message of the user that comes after the result of a tool of the client", async () => {
    await using server = await served(AgUi.handler)
    const { agent, say } = open(server.url)
    const tools = [{ name: "place", description: "", parameters: { type: "object", properties: {} } }]
    await say("call place", { tools })
    const { toolCalls } = agent.messages.at(-1) as { readonly toolCalls: ReadonlyArray<{ readonly id: string }> }
    agent.addMessage({ id: "r", role: "tool", toolCallId: toolCalls[0]!.id, content: "Bern" })
    assert.match((await say("and then?", { tools })).last ?? "", /^You said: and then\?/)
  })

  it("takes no answer of another principal, and none that was given before", async () => {
    await using server = await served(AgUi.handler)
    const { run, say } = open(server.url)
    const { interrupts } = await say("call delete_file")
    const resume = [{ interruptId: interrupts[0]!.id, status: "resolved" as const, payload: { approved: true } }]
    assert.isDefined((await open(server.url, "t1", "eve").run({ resume })).error)
    assert.deepStrictEqual(server.log, [])
    await run({ resume })
    assert.isDefined((await run({ resume })).error)
    // The message beside the answer is the one that was asked about, so it is not asked about again.
    const again = await open(server.url).say("call delete_file", { resume })
    assert.deepStrictEqual([again.types.includes("RUN_STARTED"), again.interrupts], [false, []])
    assert.deepStrictEqual(server.log, ["delete_file"])
  })

  it("ends a failed run with an error that shows nothing of the server", async () => {
    const hook = { name: "broken", kind: "policy", preTurn: () => Promise.reject(new Error("/srv/secret")) } as const
    await using server = await served(AgUi.handler, {}, { hooks: [hook] })
    const { error, types } = await open(server.url).say("hi")
    assert.strictEqual(types.at(-1), "RUN_ERROR")
    assert.notInclude(String(Object(error).message), "secret")
    assert.include(JSON.stringify(server.errors), "secret")
  })
})
