import { named } from "@belay/hook-files/Wires"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { payloadOf } from "../../src/internal/guard/sample.ts"
import { projectWith, runWith } from "./support/guarded.ts"

it("keeps what was compiled for some calls more, and begins again if what is kept is damaged", async () => {
  const { cwd, home } = projectWith("export default []")
  const folder = join(home, "cache")
  mkdirSync(folder)
  const kept = (): string => join(folder, readdirSync(folder).find((name) => name.endsWith(".bin"))!)
  const send = async (event: string): Promise<number> => {
    const payload = payloadOf(named("claude")!, event, { session: "s", cwd, prompt: "go" })
    const { code, stdout } = await runWith(["--system", "claude"], JSON.stringify(payload), {
      cwd,
      home,
      env: { NODE_COMPILE_CACHE: folder }
    })
    assert.deepStrictEqual([code, stdout], [0, "{}"])
    return readFileSync(kept())[0]!
  }
  assert.strictEqual(await send("SessionStart"), 1)
  assert.strictEqual(await send("UserPromptSubmit"), 2)
  for (const damaged of [Buffer.alloc(0), Buffer.from("short"), Buffer.alloc(100_000, 7)]) {
    writeFileSync(kept(), damaged)
    assert.strictEqual(await send("UserPromptSubmit"), 1)
  }
})
