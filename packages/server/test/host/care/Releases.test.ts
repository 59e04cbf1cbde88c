/** Sessions that are pinned to the release that has begun them: a deploy in which two releases run side by side. */
import { inMemory } from "@belay/core/Inbox"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { failure, gate, hosted, newFile, planner, pollMs, tool } from "../support/hosted.ts"

const pause = (ms: number) => Effect.runPromise(Effect.sleep(ms))

/** A process with a release, whose answers say which one it is. */
const releaseOf = (path: string, release: string | undefined, during: () => unknown = () => undefined) => {
  const log: Array<string> = []
  const options = release === undefined ? {} : { release }
  const process = hosted(path, { provider: planner(), tools: [tool("work", log, during)] }, options)
  return { ...process, log }
}

describe("a rolling deploy", () => {
  it("leaves each session with the release that has begun it, and new ones go to the new release", async () => {
    const path = newFile()
    const [old, next] = [releaseOf(path, "v1"), releaseOf(path, "v2")]
    await old.host.send("first", "do work", { key: "one" })
    const running = await old.host.start()
    await old.host.result("first", "one")
    await running.drain()
    await old.host.send("first", "do work", { key: "two" })
    await old.host.send("second", "do work", { key: "one" })
    const after = await next.host.start()
    assert.deepInclude(await next.host.result("second", "one"), { status: "completed" })
    await pause(5 * pollMs)
    assert.deepStrictEqual(await next.host.status("first", "two"), { status: "waiting", attempts: 0 })
    const error = await failure(next.host.advance("first"))
    assert.deepInclude(error, { _tag: "HostError", problem: "pinned", sessionId: "first" })
    assert.match(String(error["message"]), /pinned to the release "v1", and this process is "v2"/)
    assert.lengthOf(next.log, 1)
    const [waiting] = await next.host.entries({ status: "waiting" })
    assert.deepInclude(waiting, { sessionId: "first", key: "two", release: "v1" })

    // The old release comes back for what is its own.
    await after.drain()
    const again = await old.host.start()
    assert.deepInclude(await old.host.result("first", "two"), { status: "completed", turnNumber: 2 })
    await again.drain()
    assert.deepStrictEqual([old.log.length, next.log.length], [2, 1])
    await old.close()
    await next.close()
  })

  it("moves a session that waits, and one whose turn runs, which is continued where it was saved", async () => {
    const path = newFile()
    const [began, go] = [gate(), gate()]
    const old = releaseOf(path, "v1", () => {
      began.open()
      return go.opened
    })
    const next = releaseOf(path, "v2")
    const running = await old.host.start()
    await old.host.send("s", "do work, work", { key: "one" })
    await began.opened
    await next.host.move("s", "v2")
    await pause(3 * pollMs)
    go.open()
    await pause(5 * pollMs)
    assert.deepInclude(await next.host.status("s", "one"), { status: "begun", attempts: 1 })
    await running.drain()
    const after = await next.host.start()
    assert.deepInclude(await next.host.result("s", "one"), { status: "completed", text: "did work work" })
    assert.deepStrictEqual([old.log.length, next.log.length], [1, 1])
    assert.strictEqual((await next.host.status("s", "one"))?.attempts, 1)
    await after.drain()
    await old.close()
    await next.close()
  })

  it("lets any process advance a session that was unpinned, and none without a release one that is pinned", async () => {
    const path = newFile()
    const [old, plain] = [releaseOf(path, "v1"), releaseOf(path, undefined)]
    await old.host.send("s", "hello", { key: "one" })
    await old.host.advance("s")
    await old.host.send("s", "again", { key: "two" })
    assert.deepInclude(await failure(plain.host.advance("s")), { _tag: "HostError", problem: "pinned" })
    await plain.host.move("s", undefined)
    await plain.host.advance("s")
    assert.deepInclude(await plain.host.result("s", "two"), { status: "completed", text: "re: again" })
    await old.close()
    await plain.close()
  })

  it("does not keep a new session from the next release, if one with its id was removed", async () => {
    const path = newFile()
    const [old, next] = [releaseOf(path, "v1"), releaseOf(path, "v2")]
    await old.host.send("s", "hello", { key: "one" })
    await old.host.advance("s")
    assert.isTrue(await Effect.runPromise(old.store.sessions.remove("s")))
    await next.host.send("s", "hello", { key: "two" })
    await next.host.advance("s")
    assert.deepInclude(await next.host.result("s", "two"), { status: "completed", turnNumber: 1 })
    await old.close()
    await next.close()
  })

  it("refuses a release without a name, and stores that cannot pin", async () => {
    const path = newFile()
    assert.throws(() => releaseOf(path, ""), /host\.release/)
    const { agent, close, host, store } = hosted(path)
    const { pin: _pin, ...inbox } = inMemory()
    assert.throws(
      () => Host.make({ agent, store: { sessions: store.sessions, inbox }, release: "v1" }),
      /host\.release/
    )
    assert.deepInclude(await failure(host.move("s", "")), { _tag: "HostError", problem: "wrong-input" })
    await close()
  })
})
