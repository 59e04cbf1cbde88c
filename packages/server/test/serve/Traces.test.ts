/** The trace of a request goes on in the process that runs its turn. */
import { createAgent } from "@belay/core/createAgent"
import * as Tracing from "@belay/observe/Tracing"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import { assert, describe, it } from "vitest"
import { startCollector } from "../../../observe/test/tracing/support/collector.ts"
import { newFile } from "../host/support/hosted.ts"
import { bodyOf, request } from "./support/requests.ts"
import { authorize, talker } from "./support/served.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"

describe("the trace of a request", () => {
  it("has the spans of the turn, which another process runs, and a wrong one begins a new trace", async () => {
    await using collector = await startCollector()
    const path = newFile()
    const tracing = Tracing.make({ url: collector.url })
    const open = () => {
      const store = SqliteStore.make({ path })
      const agent = createAgent({ provider: talker(), store: store.sessions, plugins: [tracing.plugin], log: false })
      return { store, agent, host: Host.make({ agent, store, pollMs: 20 }) }
    }
    const [runner, front] = [open(), open()]
    const running = await runner.host.start()
    const serve = Serve.make({ host: front.host, authorize, onError: () => {} })
    const ask = async (traceparent: string) => {
      const headers = { authorization: "Bearer token-ada", traceparent }
      const response = await OpenAiChat.handler(serve)(
        request("/v1/chat/completions", bodyOf["/v1/chat/completions"]!("hi"), headers)
      )
      assert.strictEqual(response.status, 200)
      await response.text()
    }
    // Its last part says that it is not to be recorded, which is for us to say.
    await ask(`00-${traceId}-b7ad6b7169203331-00`)
    for (
      const wrong of [
        `ff-${traceId}-b7ad6b7169203331-01`,
        `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
        "x".repeat(9_000)
      ]
    ) {
      await ask(wrong)
    }
    await running.drain()
    await tracing.close()
    const turns = collector.spans.filter(({ name }) => name.startsWith("invoke_agent"))
    assert.lengthOf(turns, 4)
    const [first, ...others] = turns
    assert.deepEqual([first!.traceId, first!.parentSpanId], [traceId, "b7ad6b7169203331"])
    assert.isTrue(others.every((span) => span.traceId !== traceId && span.parentSpanId === undefined))
    const calls = collector.spans.filter((span) => span.traceId === traceId && span.name.startsWith("chat"))
    assert.lengthOf(calls, 1)
    for (const { agent, store } of [runner, front]) {
      await agent.close()
      store.close()
    }
  })
})
