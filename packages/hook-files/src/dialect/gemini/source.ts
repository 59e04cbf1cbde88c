/** Finds the files of Gemini CLI: the settings of the user and of the project, and the extensions of the user. */
import { join } from "node:path"
import { parseCommented } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import { called, list, picked, type Source, type System, trusting } from "../shared/system.ts"
import { isDisabled } from "./config.ts"
import * as Gemini from "./Gemini.ts"
import { gemini as guide } from "./guide.ts"

const below = (root: string) => join(root, ".gemini", "settings.json")

/**
 * Names and commands of hooks that files switch off. A file of the project switches off only hooks of the project. The
 * other files switch off hooks of all files.
 */
const switchedOffNames = (sources: ReadonlyArray<Source>) => {
  const of = (ofProject: boolean) =>
    sources.filter((one) => one.ofProject === ofProject).flatMap(({ config }) => (config as Gemini.Decoded).disabled)
  return { everybody: of(false), project: of(true) }
}

export const gemini: System = {
  dialect: "gemini",
  guide,
  folders: [".gemini/hooks"],
  places: ({ cwd, home }) => [
    { scope: "user", path: below(home) },
    ...list(join(home, ".gemini", "extensions")).map((name) => ({
      scope: "user" as const,
      path: join(home, ".gemini", "extensions", name, "hooks", "hooks.json"),
      format: join(home, ".gemini", "extensions", name)
    })),
    ...(real(home) === real(cwd) ? [] : [{ scope: "project" as const, path: below(cwd) }])
  ],
  // Most settings files contain no hooks.
  decode: ({ format, path, text }) => Gemini.decode(text, path, format),
  about: ({ text }) => picked(parseCommented(text), "hooks", "hooksConfig"),
  hooks: (sources, making) => {
    const { everybody, project } = switchedOffNames(sources)
    const handlers = trusting<Gemini.Handler>(sources).filter((handler) =>
      handler.trusted === "user" || !isDisabled(handler, project)
    )
    return handlers.length === 0
      ? []
      : [Gemini.make({ ...called("gemini", making, Gemini.optionKinds), handlers, disabled: everybody })]
  }
}
