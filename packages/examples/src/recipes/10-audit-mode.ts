/** In audit mode an agent may look at everything and change nothing. */
import { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

/** A tool that does not say that it only reads is taken to write. */
const auditMode = defineHook({
  name: "audit-mode",
  kind: "policy",
  priority: 1,
  preToolCall: ({ tool }) => tool.readOnly === true ? undefined : HookAction.reject("agent is in read-only mode")
})

const input = z.object({ path: z.string() })
const read = defineTool({
  name: "read_file",
  description: "Read a file",
  input,
  readOnly: true,
  execute: ({ path }) => `contents of ${path}`
})
const remove = defineTool({
  name: "delete_file",
  description: "Delete a file",
  input,
  execute: ({ path }) => console.log(`deleted ${path}`)
})
const count = defineTool({
  name: "count_files",
  description: "Count the files",
  input: z.object({}),
  execute: () => console.log("counted")
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [read, remove, count],
  hooks: [auditMode]
})
const { text } = await agent.run("Read the file notes.txt, then delete the file notes.txt, then count the files")
console.log(text)
await agent.close()
