/** Messages that end the process that works on them. */
import type { Host } from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { hosted, newFile, pollMs } from "./support/hosted.ts"

const worker = fileURLToPath(new URL("./support/poisonWorker.ts", import.meta.url))

/** Starts processes, one after the other, until a condition holds. Returns how many have ended by themselves. */
const supervise = async (
  where: string,
  log: string,
  place: string | ReadonlyArray<string>,
  isDone: (ended: number) => Promise<boolean>,
  program = worker
): Promise<number> => {
  for (let ended = 0;; ended++) {
    const child = spawn(process.execPath, ["--conditions=@belay/source", program, where, log, ...[place].flat()], {
      stdio: ["ignore", "ignore", "inherit"]
    })
    let isOver = false
    const closed = once(child, "close").then(([code]) => {
      isOver = true
      return code as number | null
    })
    while (!isOver && !(await isDone(ended))) await Effect.runPromise(Effect.sleep(pollMs))
    if (!isOver || await isDone(ended)) {
      child.kill("SIGKILL")
      await closed
      return ended
    }
    assert.strictEqual(await closed, 7)
  }
}

const start = async () => {
  const path = newFile()
  const log = join(dirname(path), "models.log")
  const { close, host, store } = hosted(path)
  await host.send("poison", "do bomb", { key: "bomb" })
  await host.send("poison", "good", { key: "good" })
  await host.send("other", "good", { key: "good" })
  const modelCalls = () => existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0
  return { path, log, close, host, store, modelCalls }
}

const status = async (host: Host, session: string, key: string) => (await host.status(session, key))?.status

describe("a message that ends its process", () => {
  it.each(["tool", "hook"])(
    "is given up after its attempts if that happens in a %s, and others are answered",
    async (place) => {
      const { close, host, log, modelCalls, path } = await start()
      const isDone = async () =>
        await status(host, "poison", "good") === "done" && await status(host, "other", "good") === "done"
      const ended = await supervise(path, log, place, isDone)
      const outcome = await host.result("poison", "bomb")
      if (place === "tool") {
        // The tool is not begun twice: the second process tells the model that its outcome is unknown.
        assert.deepInclude(outcome, { status: "completed" })
        assert.strictEqual(ended, 1)
      } else {
        assert.strictEqual(ended, 3)
        assert.deepInclude(outcome, { status: "dead", attempts: 3 })
        assert.match(JSON.stringify(outcome), /it was begun 3 times, and each time the process ended/)
        const [dead] = await host.overview({ state: "dead" })
        assert.deepInclude(dead?.entries[0], { key: "bomb", attempts: 3 })
      }
      assert.isAtMost(modelCalls(), 6)
      assert.deepInclude(await host.result("poison", "good"), { status: "completed", text: "re: good" })
      await close()
    }
  )

  it("spends nothing and loses nothing if that happens while its session is loaded", async () => {
    const { close, host, log, modelCalls, path } = await start()
    await supervise(path, log, "load", async (ended) => ended === 3)
    assert.deepInclude(await host.status("poison", "bomb"), { status: "waiting", attempts: 0 })
    assert.isAtMost(modelCalls(), 1)
    await supervise(path, log, "", async () => await status(host, "poison", "good") === "done")
    assert.deepInclude(await host.result("poison", "bomb"), { status: "completed", text: "did bomb" })
    await close()
  })
})

describe("a turn whose process ends again and again", () => {
  const long = fileURLToPath(new URL("./support/longWorker.ts", import.meta.url))
  const run = async (...args: ReadonlyArray<string>) => {
    const path = newFile()
    const log = join(dirname(path), "tools.log")
    const { close, host } = hosted(path)
    await host.send("long", "go", { key: "k" })
    const isDone = async () => ["done", "dead"].includes(await status(host, "long", "k") ?? "")
    const ended = await supervise(path, log, args, isDone, long)
    const outcome = await host.result("long", "k")
    const tools = readFileSync(log, "utf8").trim().split("\n").length
    await close()
    return { ended, outcome, tools }
  }

  it("never runs out of attempts while it gets further", async () => {
    const { ended, outcome } = await run("14")
    assert.deepInclude(outcome, { status: "completed", text: "done 14" })
    assert.isAtLeast(ended, 3)
  })

  it("is given up after its attempts when it gets no further", async () => {
    const { ended, outcome, tools } = await run("14", "5")
    assert.deepInclude(outcome, { status: "dead", attempts: 2 })
    assert.match(JSON.stringify(outcome), /begun 2 times, .* before the turn got any further/)
    assert.isAtMost(ended, 4)
    assert.isAtMost(tools, 8)
  })
})
