/** A process that runs sessions whose only tool never ends, and notes when it begins. Arguments: store, engine, file. */
import { createAgent } from "@belay/core/createAgent"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { planner, tool } from "./hosted.ts"
import { type EngineName, openHost } from "./openStore.ts"

const [where = "", engine = "local", log = ""] = process.argv.slice(2)
const { store, ...rest } = openHost(where, engine as EngineName)
const note = () => appendFileSync(log, `${process.pid} ${performance.timeOrigin + performance.now()}\n`)
const tools = [tool("work", { push: note }, () => Effect.runPromise(Effect.never), true)]
const agent = createAgent({ provider: planner(), store: store.sessions, tools, log: false })
await Host.make({ agent, store, maxAttempts: 1_000, ...rest }).start()
process.stdout.write("ready\n")
