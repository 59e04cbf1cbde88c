/**
 * Processes that are killed while they write to a SQLite file, and processes that want the same session at once.
 * BELAY_CRASHES sets how many are killed.
 */
import { digest } from "@belay/core/Json"
import { whyInvalid } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { make } from "./storeWorker.ts"

const cycles = Number(process.env["BELAY_CRASHES"] ?? 200)
const lanes = 4

/** Compiled code of the workers, most of whose time is their start. One that is not killed leaves it behind. */
const cache = mkdtempSync(join(tmpdir(), "belay-cache-"))
beforeAll(async () => assert.deepStrictEqual(await start([], () => {}).closed, [0, null]))
afterAll(() => rmSync(cache, { recursive: true, force: true }))

const opener = new URL("./storeOpener.ts", import.meta.url)
const worker = fileURLToPath(new URL("./storeWorker.ts", import.meta.url))

/** Starts a worker; `heard` is called for every whole line of it. */
const start = (args: ReadonlyArray<string>, heard: (line: string) => void) => {
  const child = spawn(process.execPath, ["--conditions=@belay/source", worker, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: cache }
  })
  let rest = ""
  let errors = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop()!
    for (const line of lines) heard(line)
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors += text)
  return {
    child,
    errors: () => errors,
    closed: once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>
  }
}

interface Ack {
  readonly revision: number
  readonly digest: string
}

/**
 * Runs a worker until it has been heard `acks` times, kills it, and gives back the last that was heard of each session.
 */
const crash = async (
  path: string,
  folder: string,
  prefix: string,
  seed: number,
  acks: number
): Promise<ReadonlyMap<string, Ack>> => {
  const last = new Map<string, Ack>()
  let heard = 0
  const { child, closed, errors } = start(["work", path, folder, prefix, String(seed)], (line) => {
    const [word, id, revision, digest] = line.split(" ")
    assert.strictEqual(word, "ack", line)
    last.set(id!, { revision: Number(revision), digest: digest! })
    if (++heard === acks) child.kill("SIGKILL")
  })
  const [code, signal] = await closed
  assert.deepStrictEqual([code, signal, errors()], [null, "SIGKILL", ""], `seed ${seed}`)
  return last
}

/** What a killed process left behind is whole: nothing it acknowledged is lost, and every conversation is one. */
const inspect = async (
  path: string,
  prefix: string,
  acked: ReadonlyMap<string, Ack>,
  seed: number
): Promise<number> => {
  using store = SqliteStore.make({ path })
  let length = 0
  for (const id of [0, 1, 2].map((index) => `${prefix}-${index}`)) {
    const state = await Effect.runPromise(store.sessions.load(id))
    const ack = acked.get(id)
    if (ack !== undefined) {
      assert.isDefined(state, `seed ${seed}: ${id} is lost`)
      assert.isAtLeast(state!.revision, ack.revision, `seed ${seed}: ${id}`)
      assert.isAtMost(state!.revision, ack.revision + 1, `seed ${seed}: ${id}`)
      if (state!.revision === ack.revision) {
        assert.strictEqual(digest(JSON.parse(JSON.stringify(state))), ack.digest, `seed ${seed}: ${id}`)
      }
    }
    assert.isUndefined(whyInvalid(state?.messages ?? []), `seed ${seed}: ${id}`)
    length += state?.messages.length ?? 0
  }
  const database = new DatabaseSync(path)
  assert.deepStrictEqual(
    { ...database.prepare("PRAGMA integrity_check").get() },
    { integrity_check: "ok" },
    `seed ${seed}`
  )
  assert.deepStrictEqual(database.prepare("PRAGMA foreign_key_check").all(), [], `seed ${seed}`)
  database.close()
  return length
}

/** What tools did outside: `name callId key`, of one lane. */
const outside = (
  folder: string
): ReadonlyArray<{ readonly name: string; readonly key: string; readonly call: string }> =>
  existsSync(join(folder, "outside.log"))
    ? readFileSync(join(folder, "outside.log"), "utf8").trimEnd().split("\n").map((line) => {
      const [name, call, key] = line.split(" ")
      return { name: name!, call: call!, key: key! }
    })
    : []

const inFolder = async (prove: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-crash-"))
  try {
    await prove(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("a SQLite store", () => {
  it(
    `that ${cycles} processes are killed over loses nothing they acknowledged, and no tool runs twice that must not`,
    { timeout: 600_000 },
    () =>
      inFolder(async (home) => {
        const seed = Math.floor(Math.random() * 2 ** 31)
        let left = cycles
        const lane = async (index: number) => {
          // Two lanes share a file, each of the others has its own.
          const path = join(home, index < 2 ? "shared.db" : `own-${index}.db`)
          const folder = mkdtempSync(join(home, "lane-"))
          let length = 0
          for (let cycle = 0; left-- > 0; cycle++) {
            const own = (seed + index * 10_007 + cycle * 7919) >>> 0
            const acked = await crash(path, folder, `lane${index}`, own, 1 + own % 25)
            const grown = await inspect(path, `lane${index}`, acked, own)
            assert.isAtLeast(grown, length, `seed ${own}: a conversation became shorter`)
            length = grown
          }
          const ran = outside(folder)
          const runs = (name: string) => Map.groupBy(ran.filter((one) => one.name === name), ({ key }) => key)
          for (const name of ["pay", "look", "deploy"]) {
            const twice = [...runs(name)].filter(([, times]) => times.length > 1)
            assert.deepStrictEqual(twice, [], `${name} ran twice, seed ${seed}`)
          }
          const again = [...runs("sync")].filter(([, times]) => times.length > 1)
          for (const [key, times] of again) {
            assert.lengthOf(new Set(times.map(({ call }) => call)), 1, `key ${key} was used for two calls`)
          }
          return { length, ran: ran.length, again: again.length }
        }
        const ends = await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)))
        for (const { length, ran } of ends) {
          assert.isAbove(length, cycles / lanes)
          assert.isAbove(ran, cycles / lanes)
        }
        assert.isAbove(
          ends.reduce((sum, { again }) => sum + again, 0),
          0,
          "no idempotent tool was cut short and repeated: the kills come too late"
        )
      })
  )

  it("is made whole by several processes that make it at once", { timeout: 120_000 }, () =>
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

  it("is opened by one while another is making its tables", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      const counter = new SharedArrayBuffer(4)
      const refused = await Promise.all([false, true].map(async (isLate) => {
        const thread = new Worker(opener, {
          workerData: { counter, folder, isLate, rounds: 600 },
          execArgv: ["--conditions=@belay/source", "--no-warnings"]
        })
        const [said] = await once(thread, "message") as [ReadonlyArray<string>]
        return said
      }))
      assert.deepStrictEqual(refused, [[], []])
    }))

  it(
    "loses nothing of what several processes add at once to an account, a text and the rules",
    { timeout: 120_000 },
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
    { timeout: 120_000 },
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
