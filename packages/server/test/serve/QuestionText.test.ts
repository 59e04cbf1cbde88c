/** Clients of every protocol get the sentence that says why a question is asked. */
import * as HookAction from "@belay/core/HookAction"
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, it } from "vitest"
import { bodyOf, chatBody, request, uiBody } from "./support/requests.ts"
import { served } from "./support/served.ts"

const reason = "delete_file wants city, which stands only in the result of Read (step 3). You did not name it"
const details = { dataFlow: [{ argument: "city", source: { tool: "Read", field: "city" } }] }
const hook = { name: "gate", tools: "delete_file", preToolCall: () => HookAction.ask(reason, details) }

const protocols = [
  ["chat completions", OpenAiChat.handler, "/v1/chat/completions", chatBody("call delete_file")],
  ["Responses", OpenAiResponses.handler, "/v1/responses", bodyOf["/v1/responses"]!("call delete_file")],
  ["the UI stream", UiStream.handler, "/api/chat", uiBody("c1", "call delete_file")],
  ["AG-UI", AgUi.handler, "/agui", {
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user", content: "call delete_file" }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {}
  }]
] as const

describe("a question about where a value comes from", () => {
  it.each(protocols)("is shown with its sentence by %s", async (name, handler, path, body) => {
    await using server = await served((serve) => handler(serve), {}, { hooks: [hook] })
    const answer = await (await handler(server.serve)(request(path, body))).text()
    assert.include(answer, reason)
    if (name === "the UI stream" || name === "AG-UI") assert.include(answer, "\"dataFlow\":[{\"argument\":\"city\"")
    assert.deepStrictEqual(server.log, [])
  })
})
