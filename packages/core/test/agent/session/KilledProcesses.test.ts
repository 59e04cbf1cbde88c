/** Runs whose process is killed, and that another process continues. */
import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { within } from "../../support/agent.ts"

const worker = fileURLToPath(new URL("../../support/worker.ts", import.meta.url))

/** Starts a worker; `said` waits for a line of it. */
const start = (deed: string, folder: string) => {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=@belay/source", worker, deed, folder], {
    stdio: ["ignore", "pipe", "pipe"]
  })
  let out = ""
  let errors = ""
  child.stdout!.setEncoding("utf8").on("data", (text: string) => out += text)
  child.stderr!.setEncoding("utf8").on("data", (text: string) => errors += text)
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.on("close", (code, signal) => resolve(code ?? signal))
  )
  const said = async (what: string) => {
    while (!out.includes(what)) {
      const over = await Promise.race([
        ended.then(() => true),
        new Promise<false>((resolve) => child.stdout!.once("data", () => resolve(false)))
      ])
      if (over && !out.includes(what)) throw new Error(`the worker ended without saying "${what}": ${errors}`)
    }
  }
  return {
    ended,
    kill: () => child.kill("SIGKILL"),
    said: (what: string) => within(said(what)),
    text: () => out,
    errors: () => errors
  }
}

/** Runs `first` until it hangs, kills it, runs `second` to its end. */
const twice = async (first: string, second: string) => {
  const folder = mkdtempSync(join(tmpdir(), "belay-"))
  try {
    const one = start(first, folder)
    await one.said("hanging")
    one.kill()
    assert.strictEqual(await within(one.ended), "SIGKILL")
    const two = start(second, folder)
    assert.strictEqual(await within(two.ended), 0, two.errors())
    return { said: two.text().trim(), log: readFileSync(join(folder, "log.txt"), "utf8").trim().split("\n") }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("a run in two processes", () => {
  it("that was suspended is finished by the second: each tool runs exactly once", async () => {
    const { log, said } = await twice("suspend", "resume")
    assert.strictEqual(
      said,
      "completed: user: go | assistant[look,deploy]:  | tool look: saw | tool deploy: deployed | assistant: done"
    )
    assert.deepStrictEqual(log, ["look", `deploy "prod"`])
  })

  it("that was killed while tools ran: finished ones stay finished, others are reported or repeated under the same key", async () => {
    const { log, said } = await twice("crash", "recover")
    assert.match(
      said,
      /^completed: .*tool look: saw \| tool pay!: unknown outcome: .+ \| tool sync: synced \| assistant: done$/
    )
    const of = (name: string) => log.filter((entry) => entry.startsWith(name))
    assert.lengthOf(of("look"), 1)
    assert.lengthOf(of("pay"), 1)
    const [one, two, ...more] = of("sync")
    assert.lengthOf(more, 0)
    assert.isDefined(one)
    assert.strictEqual(one, two)
  })
})
