/** Ends the process if its only thread is blocked at the deadline: nothing that runs in it could do that. */

const source = `
const { workerData: { failure, path, wait } } = require("node:worker_threads")
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
const { appendFileSync, mkdirSync, writeSync } = require("node:fs")
try {
  writeSync(2, failure.reason)
  mkdirSync(require("node:path").dirname(path), { recursive: true, mode: 0o700 })
  appendFileSync(path, JSON.stringify({ time: Date.now(), ...failure }) + "\\n", { mode: 0o600 })
} finally {
  process.kill(process.pid, "SIGKILL")
}`

/** The time in which the process can still answer by itself, in milliseconds. */
const grace = 1_500

/**
 * Returns a function that starts the watchdog, once. It writes the failure to a file before it ends the process, and
 * the entry of the system makes a refusal of that. A thread costs as much as the rest of a call, so only code that can
 * block the process starts it.
 */
export const watchdogFor = (
  deadline: number,
  path: string,
  failure: { readonly reason: string; readonly [field: string]: string }
): () => void => {
  let isStarted = false
  return () => {
    if (isStarted) return
    isStarted = true
    const wait = Math.max(0, deadline - performance.now()) + grace
    // This module of Node loads its streams, so only calls that need the thread load it.
    const { Worker } = process.getBuiltinModule("node:worker_threads")
    new Worker(source, { eval: true, workerData: { failure, path, wait } }).unref()
  }
}
