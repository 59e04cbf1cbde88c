/** The tools of coding agents, by their names in Claude Code, with what is known about them. */
import type { GuardedTool } from "@belay/core/Driver"
import { all } from "@belay/hook-files/Wires"

const reading = [
  "Read",
  "Glob",
  "Grep",
  "LS",
  "WebSearch",
  "NotebookRead",
  "TodoRead",
  "ListAgents",
  "ToolSearch",
  "get_goal",
  "list_background_processes",
  "view_image"
]
const others = [
  "Bash",
  "BashOutput",
  "KillShell",
  "Write",
  "Edit",
  "MultiEdit",
  "NotebookEdit",
  "WebFetch",
  "Agent",
  "TodoWrite",
  "Skill",
  "AskUserQuestion",
  "EnterPlanMode",
  "ExitPlanMode",
  "apply_patch"
]

const tools: ReadonlyArray<GuardedTool> = [
  ...reading.map((name) => ({ name, readOnly: true })),
  ...Array.from(new Set([...others, ...all.flatMap(({ own = [] }) => own)]), (name) => ({ name }))
]

/**
 * The tools that the config describes, and these. What the config says about a tool counts. Throws if a tool has a
 * schema that would have to be converted: the command leaves that out, because it is large.
 */
export const withTools = (own: ReadonlyArray<GuardedTool> = []): ReadonlyArray<GuardedTool> => {
  const other = own.find(({ input }) => input !== undefined && !("~standard" in Object(input)))
  if (other !== undefined) {
    throw new Error(`guard.tools.${other.name}.input: a command checks arguments with a Standard Schema (zod, valibot, \
arktype) only: put a JSON Schema into inputSchema, and leave out input, because the agent checks its own calls`)
  }
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...tools.filter(({ name }) => !names.has(name))]
}
