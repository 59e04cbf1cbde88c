/** What a principal has spent, and how many sessions it has open, before a request begins a turn. */
import { createAgent } from "@belay/core/createAgent"
import * as Budget from "@belay/hooks/Budget"
import * as Ledger from "@belay/hooks/Ledger"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, it } from "vitest"
import { gate } from "../../host/support/hosted.ts"
import { bodyOf, request } from "../support/requests.ts"
import { authorize, talker } from "../support/served.ts"

const as = (user: string) => ({ authorization: `Bearer token-${user}` })

describe("what a principal has spent", () => {
  it("refuses the next request in every protocol until the window ends, and no other principal", async () => {
    const ledger = Ledger.inMemory()
    const limits: ReadonlyArray<Budget.Limit> = [{
      scope: "user",
      key: ({ metadata }) => JSON.stringify(metadata?.["principal"]),
      calls: 2,
      window: "1 day"
    }]
    const serve = Serve.make({
      agent: { provider: talker(), hooks: [Budget.make({ limits, ledger })], log: false },
      authorize,
      onError: () => {},
      perPrincipal: {
        mayBegin: (principal) => Budget.spent({ limits, ledger }, { message: "", metadata: { principal } })
      }
    })
    const chat = "/v1/chat/completions"
    const ask = async (user: string, path = chat, handler: typeof OpenAiChat.handler = OpenAiChat.handler) => {
      const response = await handler(serve)(request(path, bodyOf[path]!("hi"), as(user)))
      return {
        status: response.status,
        text: await response.text(),
        after: Number(response.headers.get("retry-after"))
      }
    }
    for (let turn = 0; turn < 2; turn++) assert.strictEqual((await ask("ada")).status, 200)
    for (
      const [path, handler] of [
        [chat, OpenAiChat.handler],
        ["/v1/responses", OpenAiResponses.handler],
        ["/api/chat", UiStream.handler]
      ] as const
    ) {
      const refused = await ask("ada", path, handler)
      assert.strictEqual(refused.status, 429, path)
      assert.include(refused.text, "the limit of the user is used up: 2 model calls", path)
      assert.isTrue(refused.after > 0 && refused.after <= 86_400, path)
    }
    assert.strictEqual((await ask("eve")).status, 200)
    await serve.close()
  })
})

describe("how many sessions of a principal are open", () => {
  it("refuses one more with 429, also in another process, and takes more messages for those that are open", async () => {
    const go = gate()
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: talker({ before: () => go.opened }), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs: 20, capacity: { sessionsPerTenant: 2 } })
    const running = await host.start()
    const serve = Serve.make({ host, authorize, onError: () => {} })
    const open = (id: string, user = "ada") =>
      UiStream.handler(serve)(request("/api/chat", { ...bodyOf["/api/chat"]!("hi"), id }, as(user)))
    const [one, two] = [await open("one"), await open("two")]
    const third = await open("three")
    assert.deepEqual([one.status, two.status, third.status], [200, 200, 429])
    assert.include(await third.text(), "sessionsPerTenant")
    assert.strictEqual(third.headers.get("retry-after"), "5")
    const other = await open("one", "eve")
    assert.strictEqual(other.status, 200)
    go.open()
    await Promise.all([one, two, other].map((response) => response.text()))
    const later = await open("three")
    assert.strictEqual(later.status, 200)
    await later.text()
    await running.drain()
    await serve.close()
    await agent.close()
    store.close()
  })
})
