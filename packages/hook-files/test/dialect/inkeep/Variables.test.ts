import type { Json } from "@belay/core/Json"
import * as SessionStore from "@belay/core/SessionStore"
import type * as Inkeep from "@belay/hook-files/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls } from "../../../../../test/support/agent.ts"
import { type Hook, world } from "./support.ts"

const take = (args: Json) => calls(["take", args])
const proceed = { action: "proceed" } as const
const before = (does: Hook["does"]): Hook => ({ at: "before-args", does })

/** Waits until a variable that lives for one millisecond has expired. */
const nextMillisecond = async () => {
  const end = Date.now() + 1
  while (Date.now() <= end) await new Promise(setImmediate)
}

describe("variables of stored hooks", () => {
  // rows: DEC-11
  it("have a version that counts writes, a time to live, and an event for each change with digests", async () => {
    const seen: Array<unknown> = []
    const does = async ({ variableBag }: Inkeep.Context) => {
      seen.push(await variableBag.about("short") ?? null, await variableBag.get("short") ?? null)
      const { version = 0 } = await variableBag.about("count") ?? {}
      await variableBag.set("count", version)
      seen.push((await variableBag.about("count"))!.version)
      return proceed
    }
    const first = `const { variableBag } = ctx
      if (await variableBag.get("started") === undefined) {
        await variableBag.set("started", true)
        await variableBag.set("short", "lived", { ttlMs: 1 })
        await variableBag.set("long", "lived", { scope: "conversation", ttlMs: 3600000 })
      }
      return { action: "proceed" }`
    const { agent, events } = world([before(first), before(does)], [take({}), take({}), take({})])
    await using session = await agent.session({ id: "s" })
    await session.run("go")
    await nextMillisecond()
    await session.run("again")
    const counts = seen.filter((one) => typeof one === "number")
    assert.deepEqual(counts, counts.map((_, index) => index + 1))
    assert.isAbove(counts.length, 1)
    assert.deepEqual(seen.slice(-3), [null, null, counts.length])
    const changes = events.flatMap((event) => {
      const { name, payload } = event as { readonly name?: string; readonly payload?: { readonly [key: string]: Json } }
      return name === "variable-changed" ? [payload!] : []
    })
    const long = changes.find(({ key }) => key === "long")!
    assert.deepInclude(long, { scope: "conversation", hook: "d0@project", version: 1 })
    assert.isAbove(long["expiresAt"] as number, Date.now())
    assert.notStrictEqual(long["before"], long["after"])
    const versions = changes.filter(({ key }) => key === "count").map(({ version }) => version)
    assert.deepEqual(versions, counts)
  })

  it("that have expired leave the stored conversation with the next write", async () => {
    const store = SessionStore.inMemory()
    const does = async ({ variableBag }: Inkeep.Context) => {
      await variableBag.set("note", "expired-text", { ttlMs: 1 })
      return proceed
    }
    const writes = async ({ variableBag }: Inkeep.Context) => {
      await nextMillisecond()
      await variableBag.set("other", 1)
      return proceed
    }
    const { agent } = world([before(does), { at: "after-result", does: writes }], [take({})], {}, { store })
    await using session = await agent.session({ id: "s" })
    await session.run("go")
    const kept = JSON.stringify((await Effect.runPromise(store.load("s")))!.durable)
    assert.include(kept, `"stored-hooks/bag/other":1`)
    assert.notInclude(kept, "expired-text")
  })

  it("that are too long fail where they are written, and nothing of that hook is stored", async () => {
    const seen: Array<Json> = []
    const long = async ({ variableBag }: Inkeep.Context) => {
      await variableBag.set("short", 1)
      await variableBag.set("long", "x".repeat(65_536))
      seen.push("written")
      return proceed
    }
    const caught = async ({ variableBag }: Inkeep.Context) => {
      await variableBag.set("other", 2)
      seen.push(await variableBag.set("long", "x".repeat(65_536)).then(() => "written", String))
      return proceed
    }
    const after = async ({ variableBag }: Inkeep.Context) => {
      seen.push(await variableBag.getAll())
      return proceed
    }
    const { agent } = world([before(long), before(caught), before(after)], [take({})])
    await agent.run("go")
    assert.lengthOf(seen, 2)
    assert.match(JSON.stringify(seen[0]), /has 65538 characters, at most 65536 are allowed/)
    assert.deepEqual(seen[1], { other: 2 })
  })

  it("refuse a time to live that is not a positive number", async () => {
    for (const ttlMs of [0, -1, "soon"]) {
      const does = ({ variableBag }: Inkeep.Context) =>
        variableBag.set("a", 1, { ttlMs: ttlMs as number }).then(() => proceed)
      const { agent, warnings } = world([before(does)], [take({})])
      await agent.run("go")
      assert.include(warnings[0], "ttlMs: expected a positive number of milliseconds")
    }
  })
})

describe("the conversation that stored hooks read", () => {
  // rows: E-06
  it("has the tenant and the project of this conversation", async () => {
    const seen: Array<Json> = []
    const does = ({ conversation }: Inkeep.Context) => {
      seen.push({ ...conversation })
      return proceed
    }
    const tenants: { readonly [id: string]: string } = { a: "acme", b: "globex" }
    const options: Partial<Inkeep.Options> = {
      tenantId: ({ root }) => tenants[root.sessionId]!,
      projectId: async ({ root }) => `p-${root.sessionId}`
    }
    const { agent, took } = world([before(does)], [take({}), { text: "1" }, take({}), { text: "2" }, take({})], options)
    for (const id of ["a", "b"]) {
      await using session = await agent.session({ id })
      await session.run("go")
    }
    assert.deepEqual(seen, [
      { conversationId: "a", taskId: "a/1", tenantId: "acme", projectId: "p-a" },
      { conversationId: "b", taskId: "b/1", tenantId: "globex", projectId: "p-b" }
    ])
    assert.lengthOf(took, 2)
    // An unknown tenant lets nothing run.
    await using session = await agent.session({ id: "c" })
    await session.run("go")
    assert.lengthOf(took, 2)
    assert.lengthOf(seen, 2)
  })

  it("needs ids that are texts or functions", () => {
    assert.throws(() => world([before(() => proceed)], [], { tenantId: 7 as never }), /tenantId: expected a text, or/)
  })
})
