/** A thread that opens new files at about the same moment as another one does, and says what it was refused. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import { join } from "node:path"
import { parentPort, workerData } from "node:worker_threads"

const { counter, folder, isLate, rounds } = workerData as {
  /** How many times the two have arrived at a file. */
  readonly counter: SharedArrayBuffer
  readonly folder: string
  /** Comes up to six milliseconds after the other. */
  readonly isLate: boolean
  readonly rounds: number
}

const arrivals = new Int32Array(counter)
const refused: Array<string> = []
for (let round = 0; round < rounds; round++) {
  Atomics.add(arrivals, 0, 1)
  while (Atomics.load(arrivals, 0) < 2 * (round + 1)) { /* the other is on its way */ }
  for (const until = performance.now() + (isLate ? Math.random() * 6 : 0); performance.now() < until;) {
    /* the other is making the file */
  }
  try {
    using _store = SqliteStore.make({ path: join(folder, `made-${round}.db`) })
  } catch (error) {
    refused.push(String(error))
  }
}
parentPort!.postMessage(refused)
