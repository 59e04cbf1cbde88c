// Loaded into every process of an instrumented run: notes the parts of the sources that the process reaches.
import { openSync, writeSync } from "node:fs"

const folder = process.env.BELAY_REACHED
const seen = new Set()
let file
globalThis.$belayReached = (id) => {
  if (seen.has(id) || folder === undefined) return
  seen.add(id)
  // At once, because a test may kill its process.
  file ??= openSync(`${folder}/${process.pid}-${Math.floor(performance.timeOrigin)}`, "a")
  writeSync(file, `${id}\n`)
}
