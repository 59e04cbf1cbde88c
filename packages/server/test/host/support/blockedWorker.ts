/**
 * Blocks its event loop for some time, with a watchdog. Arguments: what the watchdog does, its limit, and how long: some
 * milliseconds, or until a line comes. In that case the process ends with the next line.
 */
import * as Watchdog from "@belay/server/Watchdog"
import { readSync } from "node:fs"

const [onBlocked, limitMs, blockedMs] = process.argv.slice(2)
Watchdog.make({
  onBlocked: onBlocked as "report" | "end",
  limitMs: Number(limitMs),
  host: { running: () => ["ada", "bob\u001b[31m"] }
})
setTimeout(() => {
  if (blockedMs === "line") {
    readSync(0, new Uint8Array(100))
    return void process.stdin.once("data", () => process.exit(0))
  }
  const end = performance.now() + Number(blockedMs)
  while (performance.now() < end);
  setTimeout(() => process.exit(0), 500)
}, 300)
