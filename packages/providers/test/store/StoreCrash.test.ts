/** Processes that are killed while they write to a SQLite file, and processes that want the same session at once. */
import { whyInvalid } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { inFolder, killCycles, openWhileCreating, outside, start } from "../support/storeCrash.ts"
import { make } from "../support/storeWorker.ts"

describe("a SQLite store", () => {
  it("loses nothing that 16 killed processes acknowledged, and no tool runs twice", () => killCycles(16))

  it("is complete when several processes create it at once", () =>
    inFolder(async (folder) => {
      for (let round = 0; round < 3; round++) {
        const path = join(folder, `store-${round}.db`)
        const all = Array.from({ length: 5 }, () => {
          let ready: (() => void) | undefined
          const said = new Promise<void>((resolve) => ready = resolve)
          return { ...start(["race", path, folder], () => ready?.()), said }
        })
        await Promise.all(
          all.map(({ closed, errors, said }) => Promise.race([said, closed.then(() => assert.fail(errors()))]))
        )
        for (const { child, closed } of all) {
          child.kill("SIGKILL")
          await closed
        }
        using store = SqliteStore.make({ path })
        assert.deepStrictEqual(await Effect.runPromise(store.sessions.list()), [])
      }
    }))

  it("can be opened while another process creates its tables", () => openWhileCreating(80))

  it(
    "loses nothing that several processes add at once to an account, a text and the rules",
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "store.db")
        const all = [0, 1, 2].map((index) => {
          const heard = new Map<string, () => void>()
          const until = (word: string) => new Promise<void>((resolve) => heard.set(word, resolve))
          const [ready, done] = [until("ready"), until("done")]
          const { child, closed, errors } = start(["count", path, folder, `p${index}`], (line) => heard.get(line)?.())
          const ended = closed.then(([code]) => assert.strictEqual(code, 0, errors()))
          return { child, ended, ready: Promise.race([ready, ended]), done: Promise.race([done, ended]) }
        })
        await Promise.all(all.map(({ ready }) => ready))
        for (const { child } of all) child.stdin.write("go\n")
        await Promise.all(all.map(({ done }) => done))
        for (const { child, ended } of all) {
          child.stdin.end()
          await ended
        }
        using store = SqliteStore.make({ path })
        const { elapsedMs } = await Effect.runPromise(store.ledger.update("shared", (before) => [before, before]))
        assert.strictEqual(elapsedMs, 300)
        const text = await Effect.runPromise(store.artifacts.read("shared", "hook:log")) ?? ""
        for (const index of [0, 1, 2]) {
          const mine = [...text.matchAll(new RegExp(`<p${index}:(\\d+)>`, "g"))].map(([, at]) => Number(at))
          assert.deepStrictEqual(mine, Array.from({ length: 100 }, (_, at) => at))
        }
        assert.strictEqual((await Effect.runPromise(store.artifacts.list("shared")))[0]?.size, text.length)
        assert.lengthOf(await Effect.runPromise(store.rules.load), 100)
      })
  )

  it(
    "gives a session that two processes resume at once to exactly one of them",
    () =>
      inFolder(async (folder) => {
        const rounds = 50
        const path = join(folder, "store.db")
        using store = SqliteStore.make({ path })
        const racers = [0, 1].map(() => {
          const waiting: Array<(line: string) => void> = []
          const lines: Array<string> = []
          const { child, closed, errors } = start(["race", path, folder], (line) => {
            const next = waiting.shift()
            if (next === undefined) lines.push(line)
            else next(line)
          })
          const ended = closed.then(() => assert.fail(`a racer ended: ${errors()}`))
          ended.catch(() => {})
          const said = () =>
            lines.length > 0
              ? Promise.resolve(lines.shift()!)
              : Promise.race([ended, new Promise<string>((resolve) => waiting.push(resolve))])
          return { child, said, tell: (line: string) => child.stdin.write(`${line}\n`) }
        })
        const both = (line: string) => racers.forEach(({ tell }) => tell(line))
        const heard = () => Promise.all(racers.map(({ said }) => said()))
        try {
          assert.deepStrictEqual(await heard(), ["ready", "ready"])
          for (let round = 0; round < rounds; round++) {
            const id = `race-${round}`
            // The approval is the last thing before the end: three tools are done, one waits.
            await using agent = make(folder, store.sessions)
            const session = await agent.session({ id })
            assert.strictEqual((await session.run("go")).status, "suspended")
            both(`open ${id}`)
            assert.deepStrictEqual(await heard(), [`opened ${id}`, `opened ${id}`])
            both(`go ${id}`)
            assert.deepStrictEqual((await heard()).toSorted(), [
              `ended ${id} PortFailed SessionConflict`,
              `ended ${id} completed`
            ])
            const state = await Effect.runPromise(store.sessions.load(id))
            assert.strictEqual(state?.phase, "ended")
            assert.isUndefined(whyInvalid(state?.messages ?? []))
            assert.lengthOf(state?.messages.filter(({ role }) => role === "tool") ?? [], 4)
          }
          assert.lengthOf(outside(folder).filter(({ name }) => name === "deploy"), rounds)
        } finally {
          for (const { child } of racers) child.kill("SIGKILL")
        }
      })
  )
})
