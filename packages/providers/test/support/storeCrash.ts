/** Starts processes that write to a store, kills them, and checks that the store is whole. */
import { digest } from "@belay/core/Json"
import { whyInvalid } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { assert } from "vitest"
import { openStore } from "./sharedStore.ts"

const worker = fileURLToPath(new URL("./storeWorker.ts", import.meta.url))

/** Starts a worker; `heard` is called for every whole line of it. */
export const start = (args: ReadonlyArray<string>, heard: (line: string) => void) => {
  const child = spawn(process.execPath, ["--conditions=@belay/source", worker, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: process.env
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
 * Runs a worker until it has acknowledged `acks` steps, kills it, and returns the last acknowledgement of each session.
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
  await using store = openStore(path)
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
  if (path.startsWith("postgres://")) return length
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
export const outside = (
  folder: string
): ReadonlyArray<{ readonly name: string; readonly key: string; readonly call: string }> =>
  existsSync(join(folder, "outside.log"))
    ? readFileSync(join(folder, "outside.log"), "utf8").trimEnd().split("\n").map((line) => {
      const [name, call, key] = line.split(" ")
      return { name: name!, call: call!, key: key! }
    })
    : []

export const inFolder = async <A>(prove: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-crash-"))
  try {
    return await prove(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const lanes = 4

/**
 * Kills `cycles` processes in four lanes while they work: two lanes share a file, each of the others has its own. With
 * an `address` all lanes share that store. Returns how often an idempotent tool was cut short and repeated.
 */
export const killCycles = (cycles: number, address?: string): Promise<number> =>
  inFolder(async (home) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    let left = cycles
    const lane = async (index: number) => {
      // Two lanes share a file, each of the others has its own.
      const path = address ?? join(home, index < 2 ? "shared.db" : `own-${index}.db`)
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
    const sum = (of: (end: typeof ends[number]) => number): number => ends.reduce((all, end) => all + of(end), 0)
    assert.isAbove(sum(({ length }) => length), cycles)
    assert.isAbove(sum(({ ran }) => ran), cycles)
    return sum(({ again }) => again)
  })

/** Two threads open `rounds` new files at the same time: none is refused. */
export const openWhileCreating = (rounds: number): Promise<void> =>
  inFolder(async (folder) => {
    const counter = new SharedArrayBuffer(4)
    const refused = await Promise.all([false, true].map(async (isLate) => {
      const thread = new Worker(new URL("./storeOpener.ts", import.meta.url), {
        workerData: { counter, folder, isLate, rounds },
        execArgv: ["--conditions=@belay/source", "--no-warnings"]
      })
      const [messages] = await once(thread, "message") as [ReadonlyArray<string>]
      return messages
    }))
    assert.deepStrictEqual(refused, [[], []])
  })
