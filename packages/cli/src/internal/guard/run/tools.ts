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

/** The tools that the config describes, and these. What the config says about a tool counts. */
export const withTools = (own: ReadonlyArray<GuardedTool> = []): ReadonlyArray<GuardedTool> => {
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...tools.filter(({ name }) => !names.has(name))]
}
