/** How a run of an entry is told to whoever listens, and what it ran in a line for people. */
import type { HookContext } from "@belay/core/HookContext"
import type { Outcome } from "../dialect/claude/Outcome.ts"
import type { Finished } from "../process/Command.ts"
import type { Work } from "../Runners.ts"

interface Ran {
  readonly event: string
  readonly file: string
  readonly key: string
  readonly name?: string
  readonly work: Work
}

/** Sends the event `hook-run`. Without `finished` the run was cancelled. */
export const tell = (
  { event, file, key, name, work }: Ran,
  outcome: Outcome["type"],
  finished: Finished | undefined,
  { events }: HookContext
): void => {
  if (!events.active) return
  const { durationMs = null, exitCode = null, stderr = "", stdout = "" } = finished ?? {}
  events.emit("hook-run", {
    event,
    file,
    key,
    ...(name === undefined ? {} : { name }),
    type: work.type,
    command: short(shown(work)),
    outcome,
    exitCode: exitCode ?? null,
    durationMs,
    stdout: short(stdout),
    stderr: short(stderr)
  })
}

const short = (text: string): string => text.slice(0, 500).toWellFormed()

/** What an entry is called in warnings. */
export const labelOf = ({ key, work }: Pick<Ran, "key" | "work">): string => `${key} (${shown(work).slice(0, 80)})`

/** What an entry runs, in a line for people. */
export const shown = (work: Work): string => {
  switch (work.type) {
    case "command":
      return [work.command, ...(work.args ?? [])].join(" ")
    case "http":
      return `POST ${work.url}`
    case "mcp_tool":
      return `${work.server}.${work.tool}`
    default:
      return work.prompt
  }
}
