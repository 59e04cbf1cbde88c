/** A served agent hands a conversation over: the next request goes to the agent that took over, in any process. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "vitest"
import { newFile } from "../host/support/hosted.ts"
import { ada, chatBody, request, uiBody } from "./support/requests.ts"
import { authorize } from "./support/served.ts"

type Answers = Parameters<typeof Scripted.make>[0]

/** A process that serves a desk, which can hand over to billing. */
const open = (path: string, desk: Answers, billing: Answers) => {
  const store = SqliteStore.make({ path })
  const specialist = createAgent({ name: "billing", provider: Scripted.make(billing), log: false })
  const agent = createAgent({
    name: "desk",
    provider: Scripted.make(desk),
    store: store.sessions,
    log: false,
    tools: [
      agentTool({ name: "to_billing", description: "Money", agent: specialist, type: "transfer", stays: true })
    ]
  })
  const host = Host.make({ agent, store, pollMs: 20 })
  return { agent, store, host, serve: Serve.make({ host, authorize, onError: () => {} }) }
}

describe("a conversation that is handed over", () => {
  it("is answered by who took over, over two protocols and in another process, until it is handed back", async () => {
    const path = newFile()
    const transfer = Scripted.toolCalls({ name: "to_billing", args: { message: "an invoice" } })
    const back = Scripted.toolCalls({ name: "hand_back", args: { message: "it is explained" } })
    const ask = async (words: string, desk: Answers, billing: Answers, protocol: "chat" | "ui" = "chat") => {
      const { agent, host, serve, store } = open(path, desk, billing)
      const running = await host.start()
      const response = protocol === "chat"
        ? await OpenAiChat.handler(serve)(
          request("/v1/chat/completions", chatBody(words), { ...ada, "x-session-id": "chat" })
        )
        : await UiStream.handler(serve)(request("/api/chat", uiBody("chat", words)))
      const answer = await response.text()
      await running.drain()
      await serve.close()
      await agent.close()
      store.close()
      return answer
    }
    assert.include(await ask("How much?", [transfer], ["12 euros"]), "12 euros")
    assert.include(await ask("Until when?", ["not asked"], ["until Friday"]), "until Friday")
    assert.include(await ask("And then?", ["not asked"], ["then a reminder"], "ui"), "reminder")
    assert.include(await ask("Thanks", ["anything else?"], [back]), "anything else?")
    assert.include(await ask("Goodbye", ["see you"], ["not asked"]), "see you")
  })
})
