/** A failure that is known: the model reads what helps, and the file remembers whether it did. */
import { createAgent, defineTool, ErrorKnowledge } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as z from "zod"

let cleaned = false
const bash = defineTool({
  name: "bash",
  description: "Run a command",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => {
    if (command.startsWith("rm")) cleaned = true
    else if (!cleaned) throw new Error("archive dist/app.tgz is older than its sources")
    return "done"
  }
})
const runs = (command: string) => Scripted.toolCalls({ name: "bash", args: { command } })
const folder = await mkdtemp(join(tmpdir(), "belay-knowledge-"))
const file = join(folder, "error-knowledge.json")
const known = {
  id: "stale-archive",
  signature: "archive .* is older",
  scope: { tool: "bash", command: "^npm" },
  resolution: ["Remove dist/"]
}

const agent = createAgent({
  provider: Scripted.make([runs("npm run package"), runs("rm -r dist"), runs("npm run package"), "packaged"]),
  tools: [bash],
  hooks: [ErrorKnowledge.make({ store: ErrorKnowledge.file(file), entries: [known] })]
})
const { messages } = await agent.run("Make the package")
for (const message of messages) {
  if (message.role === "user" && message.source === "error-knowledge") console.log(message.content)
}
const [entry] = JSON.parse(await readFile(file, "utf8"))
console.log(`${entry.id}: helped in ${entry.successRate * 100} % of ${entry.attempts} attempt`)
await rm(folder, { recursive: true })
await agent.close()
