/**
 * Sends a message, and prints what happens until it is answered, in whatever process. Starting it again with the same
 * key sends nothing twice: `node client.ts ada "Paris, Rome, Oslo" trip-1`.
 */
import * as Host from "@belay/server/Host"
import config from "./belay.config.ts"

const [session = "ada", message = "Paris, Rome, Oslo", key = "trip-1"] = process.argv.slice(2)

const host = Host.make({ ...config, pollMs: 100 })
const sent = await host.send(session, message, { key })
console.log(`${sent.type} ${key}`)

// The last events of a process that is killed may be lost, but the outcome is not.
const ended = new AbortController()
const outcome = host.result(session, key)
void outcome.then(() => setTimeout(() => ended.abort(), 1_000).unref())

for await (const { event, key: of } of host.events(session, { signal: ended.signal })) {
  if (of !== key) continue
  if (event.type === "turn-start" && event.resumed) console.log("another process continues")
  if (event.type === "tool-end") console.log(event.result.ok ? event.result.output : event.result.error)
  if (event.type === "text-delta") console.log(event.text)
  // A process that stops parks its turns, and another one continues them.
  if (event.type === "turn-end" && event.status !== "parked") break
}
console.log((await outcome).status)

await config.agent.close()
await config.store.close()
