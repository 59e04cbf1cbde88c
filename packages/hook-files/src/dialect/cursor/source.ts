/** Finds the hook files of Cursor: of the machine, of the project and of the user. */
import { dirname, join } from "node:path"
import { parseCommented } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import { called, folderOfMachine, picked, type System, trusting } from "../shared/system.ts"
import * as Cursor from "./Cursor.ts"
import { cursor as guide } from "./guide.ts"

export const cursor: System = {
  dialect: "cursor",
  guide,
  folders: [".cursor/hooks"],
  // Files with a higher priority come first.
  places: ({ cwd, home, managed }) => [
    { scope: "managed", path: join(folderOfMachine(managed, "Cursor"), "hooks.json") },
    ...(real(home) === real(cwd) ? [] : [{ scope: "project" as const, path: join(cwd, ".cursor", "hooks.json") }]),
    { scope: "user", path: join(home, ".cursor", "hooks.json") }
  ],
  decode: ({ path, scope, text }) => Cursor.decode(text, path, scope === "project" ? undefined : dirname(path)),
  about: ({ text }) => picked(parseCommented(text), "version", "hooks"),
  hooks: (sources, making) => {
    const of = (isManaged: boolean) =>
      trusting<Cursor.Handler>(sources.filter(({ scope }) => (scope === "managed") === isManaged))
    const [managed, others] = [of(true), of(false)]
    return [
      ...(managed.length === 0
        ? []
        : [
          Cursor.make({ ...called("cursor-managed", making, Cursor.optionKinds), handlers: managed, tier: "managed" })
        ]),
      ...(others.length === 0
        ? []
        : [Cursor.make({ ...called("cursor", making, Cursor.optionKinds), handlers: others })])
    ]
  }
}
