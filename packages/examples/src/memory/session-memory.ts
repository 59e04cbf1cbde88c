/** What one agent writes down, the next one begins with: the memory is a folder of JSON files, one for each key. */
import { createAgent, OpenAiCompatible, SessionMemory } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = await mkdtemp(join(tmpdir(), "belay-memory-"))
const memory = () =>
  SessionMemory.make({ keys: ["repo:acme/app", "branch:acme/app/main"], store: SessionMemory.folder(folder) })

{
  const writes = Scripted.toolCalls({
    name: "remember",
    args: { kind: "blocker", text: "the staging key has expired" }
  })
  const agent = createAgent({
    provider: Scripted.make([writes, "noted"]),
    tools: [SessionMemory.remember()],
    hooks: [memory()]
  })
  await agent.run("Deploy to staging")
  await agent.close()
}

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), hooks: [memory()] })
const { messages, status } = await agent.run("Say hello")
console.log(status)
console.log(messages[0]?.content)
await rm(folder, { recursive: true })
await agent.close()
