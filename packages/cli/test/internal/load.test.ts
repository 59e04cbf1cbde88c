/** What a module may export to be served. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { loadServed } from "../../src/internal/serve/load.ts"

const folder = mkdtempSync(join(tmpdir(), "belay-load-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
/** What is loaded from a module with this text, or what is wrong with it. The module finds `given` in `globalThis`. */
const load = (text: string, given?: unknown) => {
  Object.assign(globalThis, { given })
  const path = join(folder, `${files++}.mjs`)
  writeFileSync(path, text)
  const loaded = Effect.match(loadServed(path), {
    onFailure: ({ message }) => message.replace(path, "FILE"),
    onSuccess: (served) => served
  })
  return Effect.runPromise(loaded).finally(() => Reflect.deleteProperty(globalThis, "given"))
}
const failureOf = async (text: string, given?: unknown) => {
  Object.assign(globalThis, { given })
  const path = join(folder, `${files++}.mjs`)
  writeFileSync(path, text)
  return (await Effect.runPromise(Effect.flip(loadServed(path))))._tag
}
const loadValue = (value: unknown) => load("export default globalThis.given", value)

const wrong = "FILE has no default export that can be served: " +
  "export default a host, { agent, store }, or the options of createAgent"

describe("a module to serve", () => {
  it("is not used wrongly if its store cannot be used", async () => {
    const path = join(folder, "text.db")
    writeFileSync(path, "This is a text.".repeat(100))
    const given = () => SqliteStore.make({ path })
    assert.strictEqual(await failureOf("globalThis.given()", given), "CommandError")
    assert.strictEqual(await failureOf("not JavaScript"), "Usage")
  })

  it("exports a host, known by its four methods", async () => {
    const methods = ["send", "decide", "events", "start"]
    const host = Object.fromEntries(methods.map((name) => [name, () => {}]))
    assert.deepStrictEqual(await loadValue(host), { host } as never)
    for (const name of methods) assert.strictEqual(await loadValue({ ...host, [name]: true }), wrong, name)
  })

  it("exports an agent and a store, which are closed one after the other, the agent first", async () => {
    const log: Array<string> = []
    const slowly = (name: string) => async () => {
      log.push(`${name} closes`)
      await new Promise((resolve) => setImmediate(resolve))
      log.push(`${name} is closed`)
    }
    const store = SqliteStore.make({ path: join(folder, "store.db") })
    const { createAgent } = await import("@belay/core/createAgent")
    const provider = { name: "none", complete: () => Effect.die("not called") }
    const agent = createAgent({ provider, store: store.sessions, log: false })
    const closeAll = async () => {
      await agent.close()
      store.close()
    }
    const served = await loadValue({
      agent: Object.assign(Object.create(agent), { close: slowly("agent") }),
      store: { ...store, close: slowly("store") }
    })
    if (typeof served === "string" || !("host" in served)) return assert.fail(JSON.stringify(served))
    assert.isFunction(served.host.send)
    await served.close!()
    assert.deepStrictEqual(log, ["agent closes", "agent is closed", "store closes", "store is closed"])
    const { close: _, ...open } = store
    const plain = await loadValue({ agent: Object.assign(Object.create(agent), { close: undefined }), store: open })
    if (typeof plain === "string" || !("host" in plain)) return assert.fail(JSON.stringify(plain))
    await plain.close!()
    await closeAll()
  })

  it("exports the options of an agent", async () => {
    const agent = { provider: { name: "none" } }
    assert.deepStrictEqual(await loadValue(agent), { agent } as never)
    assert.deepStrictEqual(await loadValue({ ...agent, agent: 1 }), { agent: { ...agent, agent: 1 } } as never)
    assert.deepStrictEqual(await loadValue({ ...agent, store: 1 }), { agent: { ...agent, store: 1 } } as never)
  })

  it("exports nothing else", async () => {
    for (const value of [undefined, null, 1, "provider", {}, { agent: {} }, { store: {} }, () => {}]) {
      assert.strictEqual(await loadValue(value), wrong)
    }
    assert.strictEqual(await load("export const provider = 1"), wrong)
  })

  it("says what failed", async () => {
    assert.strictEqual(await load("throw new Error('no key')"), "FILE could not be loaded: no key")
    assert.match(JSON.stringify(await loadValue({ agent: {}, store: {} })), /^"FILE: .*agent/)
    const missing = join(folder, "missing.mjs")
    const { message } = await Effect.runPromise(Effect.flip(loadServed(missing)))
    assert.strictEqual(message, `there is no file ${missing}`)
  })
})
