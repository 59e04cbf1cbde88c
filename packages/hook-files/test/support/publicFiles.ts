/** Files of a project and of a user, loaded as a host loads them, in an agent with a scripted model. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import type { Dialect } from "@belay/hook-files/Discovery"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import { calls, type Line, scripted } from "../../../../test/support/agent.ts"
import { folder, write } from "./processes.ts"

/** Files by path; those that begin with `~/` are of the home. Values other than texts are JSON. */
export type Files = { readonly [path: string]: string | object }

const names = [
  "bash",
  "write_file",
  "read_file",
  "edit",
  "run_shell_command",
  "replace",
  "view",
  "create",
  "mcp__tracker__delete",
  "fail"
]

/** The project is trusted as it is before the agent is made. */
export const start = (
  dialect: Dialect,
  files: Files,
  lines: ReadonlyArray<Line> = [],
  { answers = {}, warnings: expected = [], options = {}, tools: more = [], ...config }: Partial<AgentConfig> & {
    readonly answers?: { readonly [tool: string]: Json }
    /** Warnings of the files. */
    readonly warnings?: ReadonlyArray<RegExp>
    readonly options?: Partial<HookFiles.Options>
  } = {}
) => {
  const [cwd, home] = [join(folder(), "my project"), folder()]
  for (const [path, content] of Object.entries(files)) {
    write(
      path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path),
      typeof content === "string" ? content : JSON.stringify(content)
    )
  }
  const where: HookFiles.Options = {
    projectAllows: true,
    drainMs: 1_000,
    cwd,
    home,
    managed: join(home, "managed"),
    sources: [dialect],
    ...options
  }
  for (const project of HookFiles.load(where).untrusted) project.trust()
  const found = HookFiles.load(where).warnings.map(HookConfig.show)
  assert.lengthOf(found, expected.length, found.join("\n"))
  expected.forEach((one, index) => assert.match(found[index]!, one))
  const did: Array<readonly [tool: string, args: Json]> = []
  const tools = names.map((name) =>
    defineTool({
      name,
      description: name,
      input: { type: "object" },
      execute: (args) => {
        did.push([name, args as Json])
        if (name === "fail") throw new Error("the disk is full")
        return answers[name] ?? "done"
      }
    })
  )
  const { provider, requests } = scripted(lines)
  const agent = createAgent({
    provider,
    cwd,
    ...config,
    tools: [...tools, ...more],
    hookSources: [HookFiles.source(where)]
  })
  const heard = { warnings: [] as Array<string>, notices: [] as Array<string> }
  agent.on((event) => {
    if (event.type === "warning") heard.warnings.push(event.message)
    if (event.type === "notice") heard.notices.push(event.message)
  })
  const read = (path: string): string => {
    const full = path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path)
    return existsSync(full) ? readFileSync(full, "utf8") : ""
  }
  return { cwd, home, agent, did, requests, heard, read }
}

/** What the model read of tools. */
export const said = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.filter(({ role }) => role === "tool").map(text)

/** What became of a call: `runs` as it was, with other arguments, with another answer, or not at all and why. */
type Fate = "runs" | { readonly with: Json } | { readonly reads: string | RegExp } | RegExp

export type Step = readonly [tool: string, args: Json, fate: Fate]

/** Has the model make calls, one after the other, and holds against each what became of it. */
export const judge = async (
  dialect: Dialect,
  files: Files,
  steps: ReadonlyArray<Step>,
  more: Parameters<typeof start>[3] = {}
) => {
  const world = start(dialect, files, steps.map(([tool, args]) => calls([tool, args])), more)
  await using agent = world.agent
  const result = await agent.run("go")
  assert.strictEqual(result.status, "completed", world.heard.warnings.join("\n"))
  const answers = said(result.messages)
  const ran = steps.flatMap(([tool, args, fate]) =>
    fate instanceof RegExp ? [] : [[tool, typeof fate === "object" && "with" in fate ? fate.with : args]]
  )
  const context = [...answers, ...world.heard.warnings].join("\n")
  assert.deepEqual(world.did.map((one) => [...one]), ran, context)
  steps.forEach(([, , fate], index) => {
    const answer = answers[index]!
    if (fate instanceof RegExp) assert.match(answer, fate)
    else if (typeof fate === "object" && "reads" in fate) {
      if (typeof fate.reads === "string") assert.strictEqual(answer, fate.reads)
      else assert.match(answer, fate.reads)
    }
  })
  return { ...world, result, answers }
}
