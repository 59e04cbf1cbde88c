/** Finds the files that an entry runs. When in doubt it finds more. */
import type { Work } from "../../runner/Runners.ts"
import type { Named } from "./kinds.ts"
import { Line } from "./line.ts"
import type { Where } from "./lineWords.ts"
import { placed } from "./places.ts"

/** `env`: variables that the entry sets. */
export const named = (work: Work, env: { readonly [name: string]: string }, where: Where): ReadonlyArray<Named> => {
  if (work.type !== "command") return []
  const line = new Line(where)
  for (const [name, value] of Object.entries(env)) line.assigned(name, placed(value))
  if (work.args !== undefined) line.program([work.command, ...work.args].map(placed))
  else line.top(placed(work.shell === "powershell" ? work.command.replaceAll("\\", "/") : work.command))
  return line.found
}
