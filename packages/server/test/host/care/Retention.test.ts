/** What a host removes by its age. */
import type { HookContext } from "@belay/core/HookContext"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { asking, hosted, newFile, pollMs, tool } from "../support/hosted.ts"

const run = Effect.runPromise

/** Makes everything in the file older. */
const age = (path: string, ms: number, which = ""): void => {
  using database = new DatabaseSync(path)
  database.exec(`UPDATE sessions SET updated_at = updated_at - ${ms}, created_at = created_at - ${ms} ${which}`)
  database.exec(`UPDATE inbox SET finished_at = finished_at - ${ms}`)
  database.exec(`UPDATE event_logs SET written_at = written_at - ${ms}`)
}

/** Waits until something holds. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await run(Effect.sleep(pollMs))
}

const hour = 3_600_000

/** A host with an old session that is done, one that waits for people, one with a message, and a young one. */
const old = async () => {
  const path = newFile()
  const made = hosted(path, { tools: [tool("danger", [])], hooks: [asking] })
  for (const id of ["done", "queued", "young"]) {
    await made.host.send(id, "hello", { key: "one" })
    await made.host.advance(id)
  }
  await made.host.send("asks", "do danger", { key: "one" })
  await made.host.advance("asks")
  await made.host.send("queued", "later", { key: "two", at: Date.now() + hour })
  await run(made.store.events.write([{ sessionId: "done", rows: [{ first: 1, last: 1, body: {} }] }], { keepMs: 0 }))
  age(path, 2 * hour)
  await made.host.send("young", "again", { key: "two" })
  await made.host.advance("young")
  await made.close()
  return path
}

describe("what is kept for a time", () => {
  it("is removed when it is older: sessions with nothing open, what is done, and events", async () => {
    const path = await old()
    const retention = { sessions: "1 hour", messages: "1 hour", events: "1 hour" } as const
    const { close, host, store } = hosted(path, { tools: [tool("danger", [])], hooks: [asking] }, { retention })
    const running = await host.start()
    await until(async () => (await host.status("done", "one")) === undefined && (await host.list()).length === 3)
    assert.sameMembers((await host.list()).map(({ id }) => id), ["asks", "queued", "young"])
    await until(async () => (await run(store.events.read("done", { limit: 9, after: 0 }))).rows.length === 0)
    assert.isUndefined(await host.status("young", "one"))
    assert.deepInclude(await host.status("young", "two"), { status: "done" })
    assert.deepInclude(await host.status("asks", "one"), { status: "suspended" })
    assert.deepInclude(await host.status("queued", "two"), { status: "waiting" })
    await running.drain()
    await close()
  })

  it("keeps a conversation that is used, although it began in a session that was rotated long ago", async () => {
    const path = newFile()
    const rotates = {
      name: "rotates",
      preTurn: ({ message }: { readonly message: string }, ctx: HookContext) =>
        message === "rotate" ? ctx.rotate() : undefined
    }
    const history = Array.from({ length: 30 }, (_, index): Message => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `${index} ${"x".repeat(1_000)}`
    }))
    const made = hosted(path, { hooks: [rotates] })
    await made.host.send("gone", "hello", { key: "one" })
    await made.host.advance("gone")
    await made.host.send("s", "rotate", { key: "one", history })
    await made.host.advance("s")
    await made.host.send("s", "hello", { key: "two" })
    await made.host.advance("s")
    assert.sameMembers((await made.host.list()).map(({ id }) => id), ["gone", "s", "s-r2"])
    const before = await made.host.conversation("s")
    await made.close()
    age(path, 2 * hour, "WHERE id <> 's-r2'")
    const { close, host } = hosted(path, { hooks: [rotates] }, { retention: { sessions: "1 hour" } })
    const running = await host.start()
    await until(async () => (await host.conversation("gone")) === undefined)
    assert.deepEqual(await host.conversation("s"), before)
    await running.drain()
    await close()
  })

  it("is what each kind says: without one, it stays", async () => {
    const path = await old()
    const { close, host } = hosted(path, {}, { retention: { messages: "1 hour" } })
    const running = await host.start()
    await until(async () => (await host.status("done", "one")) === undefined)
    assert.lengthOf(await host.list(), 4)
    await running.drain()
    await close()
  })

  it("refuses durations that are none, unknown kinds, and what the store cannot remove", () => {
    for (
      const [retention, key] of [
        [{ sessions: "0 seconds" }, "sessions"],
        [{ messages: "soon" }, "messages"],
        [{ everything: "1 day" }, "everything"]
      ] as const
    ) {
      assert.throws(() => hosted(newFile(), {}, { retention: retention as never }), `host.retention.${key}`)
    }
    const { agent, store } = hosted(newFile())
    const { commit, load } = store.sessions
    const sessions = { commit, load }
    const make = () => hosted(newFile(), {}, { agent, store: { ...store, sessions }, retention: { sessions: "1 day" } })
    assert.throws(make, "host.retention.sessions")
  })
})
