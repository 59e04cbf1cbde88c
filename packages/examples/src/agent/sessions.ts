/** A conversation in a SQLite file: another agent continues it; it is forked, listed, exported and read back. */
import { createAgent, defineTool, OpenAiCompatible, SessionFile, SqliteStore } from "@belay/sdk"
import * as Effect from "effect/Effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as z from "zod"

const folder = await mkdtemp(join(tmpdir(), "belay-sessions-"))
const store = SqliteStore.make({ path: join(folder, "agent.db") })
const { sessions } = store
const count = defineTool({ name: "count_notes", description: "Count the notes", input: z.object({}), execute: () => 3 })
const makeAgent = () => createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [count], store: sessions })

const first = makeAgent()
console.log((await (await first.session({ id: "ada" })).run("Count the notes")).text)
await first.close()

const second = makeAgent()
console.log(`another agent goes on after ${(await second.session({ id: "ada" })).messages.length} messages`)
await Effect.runPromise(sessions.fork("ada", "what-if"))
await (await second.session({ id: "what-if" })).run("Say hello")
for (const { id, messages, status } of await Effect.runPromise(sessions.list())) {
  console.log(`${id}: ${messages} messages, ${status}`)
}

const lines = SessionFile.exportJsonl((await Effect.runPromise(sessions.load("ada")))!)
const { state } = await Effect.runPromise(SessionFile.importJsonl(lines))
console.log(`${lines.trimEnd().split("\n").length} lines exported, ${state.messages.length} messages read back`)
store.close()
await rm(folder, { recursive: true })
await second.close()
