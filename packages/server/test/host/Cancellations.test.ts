/** A cancellation that was stored before the outcome of its message counts, although the turn has not seen it. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { failure, gate, hosted, newFile, pollMs, tool } from "./support/hosted.ts"

const away = Effect.fail(
  new SqliteStore.StoreError({ path: "db", problem: "unreachable", message: "the server is away" })
)

/** A host whose tool waits, and whose inbox can be away for its process. */
const scene = (isAway: (name: "open" | "report") => boolean) => {
  const path = newFile()
  const [begun, go] = [gate(), gate()]
  const work = tool("work", [], () => {
    begun.open()
    return go.opened
  })
  const { inbox, sessions } = SqliteStore.make({ path })
  const failing: typeof inbox = {
    ...inbox,
    open: (id) => Effect.suspend(() => isAway("open") ? away : inbox.open(id)),
    report: (id, key, status, outcome) =>
      Effect.suspend(() => isAway("report") && status === "done" ? away : inbox.report(id, key, status, outcome))
  }
  const runner = hosted(path, { tools: [work], store: sessions }, { store: { sessions, inbox: failing } })
  const web = hosted(path)
  const close = () => Promise.all([runner.close(), web.close()])
  return { begun: begun.opened, close, go: go.open, runner: runner.host, sessions, web: web.host }
}

const outcomes = async ({ web }: ReturnType<typeof scene>) => [
  await web.result("s", "m"),
  await web.result("s", "cancel m")
]

const cancelled = [{ status: "cancelled" }, { status: "cancelled" }]

describe("a cancellation while the store is away for the process of the turn", () => {
  it("counts, if the turn ends before its process can read the inbox again", async () => {
    let isAway = false
    const at = scene((name) => isAway && name === "open")
    await at.web.send("s", "do work", { key: "m" })
    const advanced = at.runner.advance("s").then(() => {}, () => {})
    await at.begun
    isAway = true
    await at.web.cancel("s", "m")
    await Effect.runPromise(Effect.sleep(3 * pollMs))
    at.go()
    // The turn ends, and then the store is back.
    const answer = () => Effect.runSync(at.sessions.load("s"))?.messages.at(-1)?.content
    while (answer() !== "did work") await Effect.runPromise(Effect.sleep(1))
    isAway = false
    await advanced
    await at.runner.advance("s")
    assert.deepEqual(await outcomes(at), cancelled)
    await at.close()
  })

  it("counts, if the turn had ended and its outcome could not be stored", async () => {
    let isAway = true
    const at = scene((name) => isAway && name === "report")
    at.go()
    await at.web.send("s", "do work", { key: "m" })
    assert.deepInclude(await failure(at.runner.advance("s")), { problem: "store" })
    await at.web.cancel("s", "m")
    isAway = false
    await at.runner.advance("s")
    assert.deepEqual(await outcomes(at), cancelled)
    // The session continues with the next message.
    await at.web.send("s", "next", { key: "next" })
    await at.runner.advance("s")
    assert.deepInclude(await at.web.result("s", "next"), { status: "completed", text: "re: next" })
    await at.close()
  })
})

describe("a second cancellation of a key", () => {
  it("counts, although the first one came before the message", async () => {
    const { close, host } = hosted(newFile())
    await host.cancel("s", "m")
    await host.advance("s")
    assert.strictEqual((await host.result("s", "cancel m")).status, "late")
    await host.send("s", "hello", { key: "m" })
    const { key } = await host.cancel("s", "m")
    await host.advance("s")
    assert.deepEqual(await host.result("s", "m"), { status: "cancelled" })
    assert.deepEqual(await host.result("s", key), { status: "cancelled" })
    // One that is repeated is the same.
    assert.deepEqual(await host.cancel("s", "m"), { key: "cancel m", type: "known" })
    await close()
  })

  it("counts, although the message was dead when the first one came", async () => {
    const { close, host, store } = hosted(newFile())
    await host.send("s", "hello", { key: "m" })
    await Effect.runPromise(store.inbox.report("s", "m", "dead", { status: "dead", attempts: 5, reason: "it ended" }))
    await host.cancel("s", "m")
    await host.advance("s")
    assert.isTrue(await host.retry("s", "m"))
    await host.cancel("s", "m")
    await host.advance("s")
    assert.deepEqual(await host.result("s", "m"), { status: "cancelled" })
    await close()
  })
})

describe("a cancellation in the process of the turn", () => {
  it("is seen at once, also if the process was just reading the inbox", async () => {
    const path = newFile()
    const [begun, reading, go] = [gate(), gate(), gate()]
    const work = tool("work", [], () => {
      begun.open()
      return new Promise(() => {})
    })
    const { inbox, sessions } = SqliteStore.make({ path })
    let isSlow = false
    const slow: typeof inbox = {
      ...inbox,
      open: (id) =>
        Effect.gen(function*() {
          const entries = yield* inbox.open(id)
          if (!isSlow) return entries
          isSlow = false
          reading.open()
          yield* Effect.promise(() => go.opened)
          return entries
        })
    }
    // The next look by itself would come too late.
    const options = { store: { sessions, inbox: slow }, pollMs: 600_000 }
    const { close, host } = hosted(path, { tools: [work], store: sessions }, options)
    await host.send("s", "do work", { key: "m" })
    isSlow = false
    const advanced = host.advance("s").then(() => {})
    await begun.opened
    isSlow = true
    await host.send("s", "note", { key: "note", mode: "steer" })
    await reading.opened
    await host.cancel("s", "m")
    go.open()
    assert.deepEqual(await host.result("s", "m"), { status: "cancelled" })
    await advanced
    await close()
  })
})
