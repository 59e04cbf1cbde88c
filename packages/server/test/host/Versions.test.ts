/** Releases side by side: what a newer one has written, and an older one does not know. */
import type { Kind } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { failure, hosted, newFile, pollMs } from "./support/hosted.ts"

const run = Effect.runPromise

describe("a host of an older release", () => {
  it("leaves a session alone that a newer release has written, and the newer one answers its message", async () => {
    const path = newFile()
    const { close, host } = hosted(path)
    await host.send("s", "one", { key: "one" })
    await host.advance("s")
    const set = (version: number) => {
      using database = new DatabaseSync(path)
      database.prepare("UPDATE sessions SET state = json_set(state, '$.version', ?)").run(version)
    }
    set(99)
    await host.send("s", "two", { key: "two" })
    const error = await failure(host.advance("s"))
    assert.deepInclude(error, { _tag: "HostError", problem: "store" })
    assert.match(String(error["message"]), /version 99.*newer/)
    const running = await host.start()
    await run(Effect.sleep(5 * pollMs))
    await running.drain()
    assert.deepStrictEqual(await host.status("s", "two"), { status: "waiting", attempts: 0 })
    set(2)
    await host.advance("s")
    assert.deepInclude(await host.result("s", "two"), { status: "completed", turnNumber: 2 })
    await close()
  })

  it("leaves a session alone whose inbox has an entry of an unknown kind", async () => {
    const { close, host, store } = hosted(newFile())
    await host.send("s", "before", { key: "before" })
    await run(store.inbox.add({ sessionId: "s", key: "new", kind: "pause" as Kind, body: null, at: 0 }))
    const error = await failure(host.advance("s"))
    assert.deepInclude(error, { _tag: "HostError", problem: "newer", sessionId: "s", key: "new" })
    assert.match(String(error["message"]), /kind pause.*a newer one has to advance the session/)
    assert.deepStrictEqual(await host.status("s", "before"), { status: "waiting", attempts: 0 })
    await host.send("other", "hi", { key: "m" })
    await host.advance("other")
    assert.strictEqual((await host.status("other", "m"))?.status, "done")
    await close()
  })

  it("says that events are missing where it cannot read the rows of a newer release", async () => {
    const { close, host, store } = hosted(newFile())
    await run(
      store.events.write([{ sessionId: "s", rows: [{ first: 1, last: 1, body: { packed: "zip" } }], begins: 1 }], {
        keepMs: 600_000
      })
    )
    const events = host.events("s", { after: "0" })[Symbol.asyncIterator]()
    const next = events.next()
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    assert.deepInclude((await next).value, { key: "m", missed: true })
    await events.return?.()
    await close()
  })
})
