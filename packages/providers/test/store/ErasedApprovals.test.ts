/** Which standing approvals are erased with a person. */
import { fingerprint } from "@belay/core/HookChain"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"

const run = Effect.runPromise

/** The numbers of the approvals that are left after a name was erased. */
const leftAfter = async (name: string, ...args: ReadonlyArray<unknown>): Promise<ReadonlyArray<number>> => {
  using store = SqliteStore.make({ path: ":memory:" })
  for (const [index, one] of args.entries()) {
    await run(store.rules.add({ hook: `h${index}`, tool: "t", fingerprint: fingerprint("t", one) }))
  }
  await run(store.erasure.erase([], [name]))
  return (await run(store.rules.load)).map(({ hook }) => Number(hook.slice(1)))
}

describe("a standing approval", () => {
  it("is erased if a name is in its arguments, as words of their own", async () => {
    const args = ["ada", "for ada,", "hi\nada", { ada: 1 }, ["x", { to: "<ada>" }], "Canada", "adapter", "ad", {}]
    assert.deepEqual(await leftAfter("ada", ...args), [5, 6, 7, 8])
    assert.deepEqual(await leftAfter("Ada \"the\" L", "Ada \"the\" L", "Ada the L", "\\Ada \"the\" L"), [1])
    assert.deepEqual(await leftAfter("éva", "nééva", "éva"), [0])
  })

  it("is erased for a name that is a number if the arguments have the number", async () => {
    assert.deepEqual(await leftAfter("1", { user: 1 }, { user: "1" }, ["a", "b"], 10, "v1"), [2, 3, 4])
  })

  it("stays if the name is only in the description of the tool, and goes if it cannot be read", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-approvals-")), "store.db")
    using store = SqliteStore.make({ path })
    const definition = { description: "for ada", schema: "{}", hints: "" }
    await run(store.rules.add({ hook: "h", tool: "t", definition }))
    const database = new DatabaseSync(path)
    database.exec("INSERT INTO rules (rule) VALUES ('{ada'), ('{bob')")
    const { approvals } = await run(store.erasure.erase([], ["ada"]))
    assert.strictEqual(approvals, 1)
    assert.strictEqual(database.prepare("SELECT count(*) AS n FROM rules").get()?.["n"], 2)
    database.close()
  })
})
