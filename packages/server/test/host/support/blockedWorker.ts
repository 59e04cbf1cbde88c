/** Blocks its event loop for some time, with a watchdog. Arguments: what the watchdog does, its limit, and how long. */
import * as Watchdog from "@belay/server/Watchdog"

const [onBlocked, limitMs, blockedMs] = process.argv.slice(2)
Watchdog.make({
  onBlocked: onBlocked as "report" | "end",
  limitMs: Number(limitMs),
  host: { running: () => ["ada", "bob\u001b[31m"] }
})
setTimeout(() => {
  process.stdout.write("blocks\n")
  const end = performance.now() + Number(blockedMs)
  while (performance.now() < end);
  setTimeout(() => process.exit(0), 500)
}, 300)
