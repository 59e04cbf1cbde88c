/** Questions of sub-agents, in each protocol that asks. */
import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, it } from "vitest"
import { asking, served, talker, tools } from "./support/served.ts"

/** A lead whose tool `helper` is an agent that deletes files. */
const lead = (log: Array<string>) => {
  const helper = createAgent({ name: "helper", provider: talker(), tools: tools(log), hooks: [asking], log: false })
  const args = defineHook({
    name: "args",
    postLlmCall: ({ response }) => {
      const toolCalls = response.toolCalls.map((call) => ({ ...call, args: { message: "call delete_file" } }))
      return HookAction.transform({ ...response, toolCalls })
    }
  })
  return { tools: [agentTool({ name: "helper", description: "Helps", agent: helper })], hooks: [args] }
}
const request = (path: string, body: unknown) =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { authorization: "Bearer token-ada" },
    body: JSON.stringify(body)
  })

describe("a question of a sub-agent", () => {
  it("is answered in a chat", async () => {
    const log: Array<string> = []
    await using server = await served(OpenAiChat.handler, {}, lead(log))
    const handle = OpenAiChat.handler(server.serve)
    const say = async (messages: ReadonlyArray<object>) =>
      Object(await (await handle(request("/v1/chat/completions", { messages }))).json()).choices[0].message
    const user = (content: string) => ({ role: "user", content })
    const question = await say([user("call helper")])
    assert.include(question.content, "**delete_file**")
    assert.include((await say([user("call helper"), question, user("yes")])).content, "Result: ")
    assert.deepStrictEqual(log, ["delete_file"])
  })

  it("is answered with a response", async () => {
    const log: Array<string> = []
    await using server = await served(OpenAiResponses.handler, {}, lead(log))
    const handle = OpenAiResponses.handler(server.serve)
    const asked = Object(await (await handle(request("/v1/responses", { input: "call helper" }))).json())
    const [question] = asked.output.filter(({ type }: { type: string }) => type === "mcp_approval_request")
    const input = [{ type: "mcp_approval_response", approval_request_id: question.id, approve: true }]
    const done = await handle(request("/v1/responses", { input, previous_response_id: asked.id }))
    assert.include(JSON.stringify(await done.json()), "Result: ")
    assert.deepStrictEqual(log, ["delete_file"])
  })

  it("is answered in the UI stream", async () => {
    const log: Array<string> = []
    await using server = await served((serve) => UiStream.handler(serve), {}, lead(log))
    const handle = UiStream.handler(server.serve)
    const post = async (message: object) =>
      (await handle(request("/api/chat", { id: "c", messages: [message] }))).text()
    const asked = await post({ id: "m", role: "user", parts: [{ type: "text", text: "call helper" }] })
    const chunk = JSON.parse(/data: (.*tool-approval-request.*)/.exec(asked)![1]!)
    const approval = { id: chunk.approvalId, approved: true }
    const part = {
      type: "dynamic-tool",
      toolName: "delete_file",
      toolCallId: chunk.toolCallId,
      state: "approval-responded",
      approval
    }
    const done = await post({ id: "a", role: "assistant", parts: [part] })
    assert.include(done, "Result: ")
    // The text of the sub-agent is not the answer.
    assert.notInclude(asked + done, "Result: deleted (")
    assert.deepStrictEqual(log, ["delete_file"])
  })

  it("is answered in AG-UI", async () => {
    const log: Array<string> = []
    await using server = await served(AgUi.handler, {}, lead(log))
    const handle = AgUi.handler(server.serve)
    const run = async (runId: string, rest: object) =>
      (await handle(request("/", { threadId: "t", runId, ...rest }))).text()
    const asked = await run("1", { messages: [{ id: "m", role: "user", content: "call helper" }] })
    const [interruptId] = /ask_[\w-]+/.exec(asked)!
    const resume = [{ interruptId, status: "resolved", payload: { approved: true } }]
    assert.include(await run("2", { messages: [], resume }), "Result: ")
    assert.deepStrictEqual(log, ["delete_file"])
  })
})
