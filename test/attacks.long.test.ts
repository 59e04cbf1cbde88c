/** The figures of attacks on agents stay within their aims. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

describe("attacks on agents", () => {
  it("succeed, and ask, no more often than the aims allow", { timeout: 300_000 }, async () => {
    const args = ["--conditions=@belay/source", "bench/attacks/main.ts"]
    const env = { ...process.env, NODE_ENV: "production" }
    // It fails above the aims.
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    assert.match(stdout, /\| DataFlow \| everyday \| 0 of 212 \|/)
  })
})
