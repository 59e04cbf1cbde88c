/** Runtimes that forbid to read the environment: agents work without any permission. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { scripted } from "../../support/model.ts"

const { process } = globalThis

/** Replaces the process by one that counts what is read of it. */
const forbidding = (deno: unknown) => {
  const reads: Array<string> = []
  const forbid = (what: string) => (): never => {
    reads.push(what)
    throw new Error(`NotCapable: Requires ${what} access`)
  }
  const env = new Proxy({}, { get: (_, key) => typeof key === "string" ? forbid(`env ${key}`)() : undefined })
  Object.assign(globalThis, {
    process: new Proxy(process, {
      get: (target, key) => key === "env" ? env : key === "cwd" ? forbid("read") : Reflect.get(target, key)
    })
  })
  if (deno !== undefined) Object.assign(globalThis, { Deno: deno })
  return reads
}

afterEach(() => {
  Object.assign(globalThis, { process })
  Reflect.deleteProperty(globalThis, "Deno")
})

describe("an agent", () => {
  it("works where reading the environment and the folder throws", async () => {
    forbidding(undefined)
    const agent = createAgent({ provider: scripted([]).provider })
    assert.strictEqual((await agent.run("go")).text, "the end")
  })

  it("reads nothing that Deno has not granted, so that nobody is asked for a permission", async () => {
    const asked: Array<string> = []
    const reads = forbidding({
      permissions: {
        querySync: ({ name }: { readonly name: string }) => {
          asked.push(name)
          return { state: "prompt" }
        }
      }
    })
    const agent = createAgent({ provider: scripted([]).provider })
    assert.strictEqual((await agent.run("go")).text, "the end")
    assert.deepStrictEqual(reads, [])
    assert.isAbove(asked.length, 0)
  })
})
