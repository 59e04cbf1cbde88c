/** Emits an event about each entry that ran, and names entries in warnings. */
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { Finished } from "../process/Command.ts"
import type { Work } from "../runner/Runners.ts"
import type { Answer, Entry } from "./Dialect.ts"

/** Emits the event `hook-run`. `finished` is undefined if the run was cancelled. */
export const recordRun = (
  { event, file, key, name, ...entry }: Entry<unknown>,
  outcome: Answer["outcome"],
  finished: Finished | undefined,
  { events }: HookContext
): void => {
  if (!events.active) return
  // Only entries of the kinds in `Work` end with a `Finished`.
  const work = entry.work as Work
  const { durationMs = null, exitCode = null, stderr = "", stdout = "" } = finished ?? {}
  events.emit("hook-run", {
    event,
    file,
    key,
    ...defined({ name }),
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

/** Returns the name of an entry in warnings: its key and what it runs. */
export const labelOf = ({ key, work }: Pick<Entry<unknown>, "key" | "work">): string =>
  `${key} (${shown(work as Work).slice(0, 80)})`

/** Returns what an entry runs as one line for people. */
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
