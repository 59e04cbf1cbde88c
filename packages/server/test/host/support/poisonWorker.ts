/**
 * A process that ends in the middle of its work. Its arguments are the store, the file in which model calls are noted,
 * and where it ends: in a tool, in a hook, or when it loads the session `poison`.
 */
import { createAgent } from "@belay/core/createAgent"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { planner, pollMs, tool } from "./hosted.ts"
import { openStore } from "./openStore.ts"

const [where = "", log = "", place = ""] = process.argv.slice(2)

const store = openStore(where)
const sessions: SessionStore = {
  ...store.sessions,
  load: (id) =>
    Effect.andThen(
      Effect.sync(() => void (place === "load" && id === "poison" && process.exit(7))),
      store.sessions.load(id)
    )
}
const agent = createAgent({
  provider: planner(async () => appendFileSync(log, "model\n")),
  store: sessions,
  tools: [tool("bomb", [], () => place === "tool" ? process.exit(7) : "quiet")],
  hooks: [{
    name: "fragile",
    preTurn: ({ message }) => void (place === "hook" && message === "do bomb" && process.exit(7))
  }],
  log: false
})
const host = Host.make({ agent, store: { ...store, sessions }, pollMs, maxAttempts: 3 })
await host.start()
setInterval(() => {}, 1_000)
