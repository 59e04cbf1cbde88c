/** How much memory the log of events takes that is in memory. */
import * as EventLog from "@belay/core/EventLog"
import * as Effect from "effect/Effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "vitest"

const run = Effect.runPromise

/** The rows of a streamed answer, as a host writes them: its pieces, and twice the whole. */
const rowsOf = (session: number, pieces: number, size: number): EventLog.EventBatch["rows"] => {
  const each = Array.from({ length: pieces }, (_, index) => `${session} ${index} `.padEnd(size, "x"))
  const text = each.join("")
  const parts = each.map((_, index) => [index + 1, size])
  const body = { events: [{ event: { type: "text-delta", text }, parts }] }
  const whole = (last: number) => ({
    first: last,
    last,
    body: { events: [{ event: { type: "end", text: `${text}` } }] }
  })
  return [{ first: 1, last: pieces, body }, whole(pieces + 1), whole(pieces + 2)]
}

setFlagsFromString("--expose-gc")
// The flag adds the function to contexts that are made later.
const collect = runInNewContext("gc") as () => void

const heap = (): number => {
  for (let n = 0; n < 3; n++) collect()
  return process.memoryUsage().heapUsed
}

describe("the log in memory", () => {
  it("keeps the text of a streamed answer once, and little beside it", async () => {
    const log = EventLog.inMemory()
    const write = (n: number) =>
      run(log.write([{ sessionId: `s${n}`, rows: rowsOf(n, 5_000, 100), begins: 1 }], { keepMs: 0 }))
    await write(0)
    const before = heap()
    for (let n = 1; n <= 20; n++) await write(n)
    const each = (heap() - before) / 20
    assert.isAtLeast(each, 500_000)
    // Three copies of the text alone would be 1,500,000.
    assert.isBelow(each, 800_000)
    assert.deepEqual((await run(log.read("s7", { limit: 10 }))).rows, rowsOf(7, 5_000, 100))
  })

  it("removes what was written longest ago when it has too much, and says so", async () => {
    const log = EventLog.inMemory()
    const text = "x".repeat(1_000_000)
    const write = (sessionId: string, last: number, keepMs = 0) =>
      run(log.write([{ sessionId, rows: [{ first: last, last, body: text }] }], { keepMs }))
    const has = async (sessionId: string) => (await run(log.read(sessionId, { limit: 1 }))).rows.length > 0
    await write("old", 1)
    await write("running", 1)
    // The clock of the machine has to move.
    for (const time = Date.now(); Date.now() === time;) await new Promise(setImmediate)
    for (let n = 0; n < 126; n++) await write(`s${n}`, 1)
    await write("running", 2)
    assert.isFalse(await has("old"))
    assert.isTrue(await has("running"))
    for (let n = 126; n < 300; n++) await write(`s${n}`, 1, 600_000)
    // They are too new.
    assert.isTrue(await has("s126"))
    await write("old", 7)
    assert.deepEqual((await run(log.read("old", { after: 1, limit: 1 }))).removedTo, 6)
  })
})
