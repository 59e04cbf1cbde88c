/** Finds the hook files of Cursor: of the machine, of the project and of the user. */
import { basename, dirname, join } from "node:path"
import { real } from "../../internal/files.ts"
import { parseCommented } from "../shared/fields.ts"
import { called, picked, type System, trusting } from "../shared/system.ts"
import * as Cursor from "./Cursor.ts"
import { cursor as guide } from "./guide.ts"

export const cursor: System = {
  dialect: "cursor",
  guide,
  folders: [".cursor/hooks"],
  // Files with a higher priority come first.
  places: ({ cwd, home, managed }) => [
    { scope: "managed", path: join(ofMachine(managed), "hooks.json") },
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

/** The folder for all users: that of Cursor beside the usual one of Claude Code, or a folder in another one. */
const ofMachine = (managed: string): string => {
  const name = basename(managed)
  return name === "ClaudeCode"
    ? join(dirname(managed), "Cursor")
    : name === "claude-code"
    ? join(dirname(managed), "cursor")
    : join(managed, "cursor")
}
