/**
 * A tool that writes files is kept in one folder, and away from secrets: `..`, links and absolute paths lead nowhere.
 */
import { createAgent, defineTool, OpenAiCompatible, ProtectedPaths } from "@belay/sdk"
import * as z from "zod"

const write = defineTool({
  name: "write_file",
  description: "Write a file",
  input: z.object({ path: z.string(), text: z.string() }),
  execute: ({ path }) => `wrote ${path}`
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [write],
  hooks: [ProtectedPaths.make({ roots: ["output"] })]
})
for (const path of ["output/report.md", "output/../notes.md", "output/.env.local"]) {
  const { text } = await agent.run(`Write the file ${path}`)
  console.log(text.split("\n").at(-1))
}
await agent.close()
