/** The program of the thread that watches the event loop of its process. It is a text, so that bundles need no file. */
export const program = String.raw`
const { workerData: { beats, ends, limitMs, names, pid } } = require("node:worker_threads")
const { writeSync } = require("node:fs")
const everyMs = Math.max(20, limitMs / 10)
const say = (line) => { try { writeSync(2, "belay: " + line + "\n") } catch {} }
let seen = -1
let since = performance.now()
let last = since
const loop = "the event loop of process " + pid
const seconds = (ms) => (ms / 1000).toFixed(1) + " s"
let isBlocked = false
setInterval(() => {
  const now = performance.now()
  // This thread was stopped too: the whole process was frozen, or its machine.
  const wasFrozen = now - last > limitMs / 2
  last = now
  const count = Atomics.load(beats, 0)
  if (count !== seen || wasFrozen) {
    if (isBlocked && count !== seen) say(loop + " goes on after " + seconds(now - since))
    if (count !== seen) isBlocked = false
    seen = count
    since = now
    return
  }
  if (isBlocked || now - since < limitMs) return
  isBlocked = true
  const running = Buffer.from(names.slice(0, Atomics.load(beats, 1))).toString()
  const what = running === "" ? "" : "; sessions that ran here: " + running.replace(/[^\x20-\x7e]/g, "?")
  say(loop + " has been blocked for " + seconds(now - since) + what + (ends ? ". The process ends now" : ""))
  if (ends) process.kill(pid, "SIGKILL")
}, everyMs)
`
