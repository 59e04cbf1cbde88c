/** Code that the agent writes and then runs: no argument is wrong, and the code can do what the process can do. */
import { createAgent, defineTool, Hooks } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { execFileSync } from "node:child_process"
import * as z from "zod"

let file = ""
const write = defineTool({
  name: "write_file",
  description: "Write a file",
  input: z.object({ path: z.string(), content: z.string() }),
  execute: ({ content }) => {
    file = content
    return "written"
  }
})
const runner = (env: NodeJS.ProcessEnv) =>
  defineTool({
    name: "run_tests",
    description: "Run the tests",
    input: z.object({}),
    execute: () => {
      console.log(`the code has ${execFileSync(process.execPath, ["-e", file], { env, encoding: "utf8" }).trim()}`)
      return "passed"
    }
  })
// A hijacked model writes code that sends a key away; here it prints it.
const content = `console.log(process.env["DEPLOY_KEY"] ?? "no key")`
const attempt = async (env: NodeJS.ProcessEnv) => {
  const provider = Scripted.make([
    Scripted.toolCalls({ name: "write_file", args: { path: "sum.test.js", content } }),
    Scripted.toolCalls({ name: "run_tests", args: {} }),
    "Done."
  ])
  const agent = createAgent({ provider, tools: [write, runner(env)], hooks: Hooks.safeDefaults() })
  await agent.run("Write a test into sum.test.js and run the tests")
  await agent.close()
}

await attempt({ DEPLOY_KEY: "a-fake-key" })
// What helps: the tool runs code where there is nothing to take, and in production without a network.
await attempt({})
