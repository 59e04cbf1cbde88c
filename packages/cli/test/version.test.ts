/** `belay` as a process of its own: its version, and an output that takes nothing. */
import { assert, describe, it } from "@effect/vitest"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const folder = fileURLToPath(new URL("..", import.meta.url))

describe("belay", () => {
  it("says that its output cannot be written, and fails", async () => {
    const file = openSync(join(folder, "package.json"), "r")
    const child = spawn(process.execPath, [`${folder}bin/belay.mjs`, "--help"], { stdio: ["ignore", file, "pipe"] })
    let stderr = ""
    child.stderr!.on("data", (data) => void (stderr += String(data)))
    const [code] = await once(child, "close")
    closeSync(file)
    assert.deepStrictEqual([code, stderr], [
      1,
      "belay: the output cannot be written: EBADF: bad file descriptor, write\n"
    ])
  })
})

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
