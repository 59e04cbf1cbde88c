/** What a request costs does not depend on how many there were before. Counted in executed pieces of code, not in time. */
import * as EventLog from "@belay/core/EventLog"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import * as Effect from "effect/Effect"
import { Session } from "node:inspector/promises"
import { assert, describe, it } from "vitest"
import { bounded } from "../../../src/serve/internal/ownHost.ts"
import { chatBody, request } from "../support/requests.ts"
import { authorize, talker } from "../support/served.ts"

/** Counts how often pieces of these files are executed while a function runs. */
const countIn = async (files: RegExp, act: () => Promise<unknown>): Promise<number> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  await act()
  const { result } = await session.post("Profiler.takePreciseCoverage")
  await session.post("Profiler.stopPreciseCoverage")
  session.disconnect()
  return result.filter(({ url }) => files.test(url)).flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
}

const inboxFiles = /port\/(?:Inbox|internal\/sortedList)\.ts/

const run = <A>(effect: Effect.Effect<A, unknown>): Promise<A> => Effect.runPromise(effect)

/** A message that is added, begun, looked for and finished, as a host does it. */
const pass = async (inbox: Inbox.Inbox, n: number) => {
  const [sessionId, key, at] = [`s${n}`, "k", n]
  await run(
    inbox.add({ sessionId, key, kind: "message", body: { message: "hi" }, at, tenant: "ada" }, {
      inAll: 50,
      perTenant: 50
    })
  )
  await run(inbox.due({ until: n, limit: 100, fair: true }))
  await run(inbox.open(sessionId))
  await run(inbox.begin(sessionId, key))
  await run(inbox.report(sessionId, key, "done", { status: "completed" }))
}

describe("the inbox in memory", () => {
  it("does the same work for a message after 20,000 others as after 100", async () => {
    const inbox = Inbox.inMemory()
    // Many conversations wait for people, and many messages are due later.
    for (let n = 0; n < 200; n++) {
      const entry = { sessionId: `asking${n}`, key: "k", kind: "message", body: { message: "hi" }, at: n } as const
      await run(inbox.add(entry))
      await run(inbox.report(entry.sessionId, "k", "suspended", {}))
      await run(inbox.add({ ...entry, sessionId: `later${n}`, at: 1e15 + n }))
    }
    let n = 0
    const some = async (count: number) => {
      for (const end = n + count; n < end; n++) await pass(inbox, n)
    }
    await some(100)
    const early = await countIn(inboxFiles, () => some(50))
    await some(20_000)
    const late = await countIn(inboxFiles, () => some(50))
    assert.isAbove(early, 500)
    // Finding a place takes a few comparisons more in a long list.
    assert.isBelow(late, early * 1.25)
  })

  it("removes what is old without looking at what stays", async () => {
    const inbox = Inbox.inMemory()
    for (let n = 0; n < 2_000; n++) await pass(inbox, n)
    const count = await countIn(inboxFiles, () => run(inbox.prune(0)))
    assert.isBelow(count, 40)
    assert.strictEqual(await run(inbox.prune(Infinity)), 2_000)
    assert.isUndefined(await run(inbox.get("s7", "k")))
  })
})

describe("a served agent", () => {
  it("does the same work in its inbox for each request", async () => {
    const serve = Serve.make({ agent: { provider: talker(), log: false }, authorize })
    const handle = OpenAiChat.handler(serve)
    let n = 0
    const some = async (count: number) => {
      for (const end = n + count; n < end; n++) {
        await (await handle(request("/v1/chat/completions", chatBody(`hello ${n}`)))).text()
      }
    }
    await some(20)
    const early = await countIn(inboxFiles, () => some(20))
    await some(400)
    const late = await countIn(inboxFiles, () => some(20))
    assert.isBelow(late, early * 1.5)
    await serve.close()
  })

  it("forgets what had ended before the newest messages were added", async () => {
    const memory = { sessions: SessionStore.inMemory(), inbox: Inbox.inMemory(), events: EventLog.inMemory() }
    const inbox = bounded(memory, { keepCount: 30, lookCount: 10 })
    for (let n = 0; n < 500; n++) {
      await pass(inbox, n)
      // The clock of the machine has to move between two looks.
      if (n % 10 === 9) { for (const time = Date.now(); Date.now() === time;) await new Promise(setImmediate) }
    }
    const kept = await Promise.all(Array.from({ length: 500 }, (_, n) => run(inbox.get(`s${n}`, "k"))))
    const first = kept.findIndex((entry) => entry !== undefined)
    assert.isAtLeast(first, 440)
    assert.isAtMost(first, 470)
    assert.notInclude(kept.slice(first), undefined)
  })
})
