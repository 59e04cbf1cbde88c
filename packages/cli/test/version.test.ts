/** `belay --version` as a process of its own. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const folder = fileURLToPath(new URL("..", import.meta.url))

describe("belay --version", () => {
  it("prints the version of the package, and starts and reads nothing else", async () => {
    const { version } = JSON.parse(readFileSync(`${folder}package.json`, "utf8")) as { readonly version: string }
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--permission",
      `--allow-fs-read=${folder}`,
      `${folder}bin/belay.mjs`,
      "--version"
    ])
    assert.strictEqual(stdout, `belay v${version}\n`)
  })

  it("prints the same with other options", async () => {
    const args = (...more: ReadonlyArray<string>) => [`${folder}bin/belay.mjs`, "--version", ...more]
    const [quick, usual] = await Promise.all([
      promisify(execFile)(process.execPath, args()),
      promisify(execFile)(process.execPath, args("--log-level", "none"))
    ])
    assert.strictEqual(usual.stdout, quick.stdout)
  })
})
