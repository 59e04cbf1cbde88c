/** Runs tasks inside a real turn of a real agent, in place of a tool call's hook. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import * as Runners from "@belay/hook-files/Runners"
import { type Line, scripted } from "../../../../test/support/agent.ts"

export const event: JsonObject = {
  hook_event_name: "PreToolUse",
  tool_name: "Write",
  tool_input: { file_path: "/p/a.ts", lines: [1, 2], "odd key": true }
}

/** The outcomes of the tasks, which one hook runs before the turn, and what else came of it. */
export const trial = async (
  works: ReadonlyArray<Runners.Work>,
  lines: ReadonlyArray<Line> = [],
  config: Partial<AgentConfig> = {},
  { timeoutMs = 30_000, ...options }: Runners.Options & { readonly timeoutMs?: number } = {}
) => {
  const run = Runners.make(options)
  const outcomes: Array<Command.Finished> = []
  const hook: AgentHook = {
    name: "settings-hooks",
    timeout: "none",
    preTurn: function*(_input, ctx: HookContext) {
      for (const work of works) outcomes.push(yield* run({ work, input: event, cwd: ctx.cwd, timeoutMs }, ctx))
    }
  }
  const { provider, requests } = scripted(lines)
  await using agent = createAgent({ provider, ...config, hooks: [hook, ...config.hooks ?? []] })
  const result = await agent.run("go")
  return { outcomes, requests, result }
}
