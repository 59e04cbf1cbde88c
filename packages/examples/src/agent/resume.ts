/**
 * A run that stops to ask, is written to a file, and is finished from that file: the second half may be another
 * process.
 */
import { Approval, createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as z from "zod"

const send = defineTool({
  name: "send_mail",
  description: "Send a mail",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => `sent to ${to}`
})
/** Without `ask` the approval suspends the run. */
const makeAgent = () =>
  createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [send], hooks: [Approval.make({ tools: ["send_mail"] })] })

const folder = await mkdtemp(join(tmpdir(), "belay-resume-"))
const file = join(folder, "run.json")

const first = makeAgent()
const asked = await first.run("Send a mail to ada@example.com")
if (asked.status !== "suspended") throw new Error(`expected a question, got ${asked.status}`)
await writeFile(file, JSON.stringify(asked.snapshot))
console.log(
  "suspended:",
  asked.pending.map(({ args, reason, tool }) => `${tool} ${JSON.stringify(args)} (${reason})`).join(", ")
)

const second = makeAgent()
const decisions = Object.fromEntries(
  asked.pending.map(({ callId }) => [callId, { type: "edit" as const, args: { to: "bob@example.com" } }])
)
const finished = await second.resume(await readFile(file, "utf8"), decisions)
console.log(finished.status)
console.log(finished.text)
await rm(folder, { recursive: true })
await second.close()
await first.close()
