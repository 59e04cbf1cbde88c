/**
 * Finds the hook files of Windsurf: of the machine, of the user and of the workspace, in the order in which they run.
 */
import { join } from "node:path"
import { parseCommented } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import { called, folderOfMachine, picked, type System, trusting } from "../shared/system.ts"
import { windsurf as guide } from "./guide.ts"
import * as Windsurf from "./Windsurf.ts"

export const windsurf: System = {
  dialect: "windsurf",
  guide,
  folders: [".windsurf/hooks", ".windsurf/scripts"],
  places: ({ cwd, home, managed }) => [
    { scope: "managed", path: join(folderOfMachine(managed, "Windsurf"), "hooks.json") },
    { scope: "user", path: join(home, ".codeium", "windsurf", "hooks.json") },
    { scope: "user", path: join(home, ".codeium", "hooks.json") },
    ...(real(home) === real(cwd) ? [] : [{ scope: "project" as const, path: join(cwd, ".windsurf", "hooks.json") }])
  ],
  decode: ({ path, text }) => Windsurf.decode(text, path),
  about: ({ text }) => picked(parseCommented(text), "hooks"),
  hooks: (sources, making) => {
    const of = (isManaged: boolean) =>
      trusting<Windsurf.Handler>(sources.filter(({ scope }) => (scope === "managed") === isManaged))
    const [managed, others] = [of(true), of(false)]
    const own = Windsurf.optionKinds
    return [
      ...(managed.length === 0
        ? []
        : [Windsurf.make({ ...called("windsurf-managed", making, own), handlers: managed, tier: "managed" })]),
      ...(others.length === 0 ? [] : [Windsurf.make({ ...called("windsurf", making, own), handlers: others })])
    ]
  }
}
