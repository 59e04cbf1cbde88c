/** Finds the hook files of GitHub Copilot: the hooks folder and the settings file of the user and of the repository. */
import { join } from "node:path"
import { parseCommented } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import { called, filesOf, picked, type System, trusting } from "../shared/system.ts"
import * as Copilot from "./Copilot.ts"
import { copilot as guide } from "./guide.ts"

export const copilot: System = {
  dialect: "copilot",
  guide,
  folders: [".github/hooks"],
  places: ({ cwd, home }) => [
    ...filesOf(join(home, ".copilot", "hooks"), ".json").map((path) => ({ scope: "user" as const, path })),
    ...["settings.json", "config.json"].map((name) => ({
      scope: "user" as const,
      path: join(home, ".copilot", name),
      format: "settings"
    })),
    ...(real(home) === real(cwd) ? [] : [
      ...filesOf(join(cwd, ".github", "hooks"), ".json").map((path) => ({ scope: "project" as const, path })),
      { scope: "project" as const, path: join(cwd, ".github", "copilot", "settings.json"), format: "settings" },
      { scope: "local" as const, path: join(cwd, ".github", "copilot", "settings.local.json"), format: "settings" }
    ])
  ],
  decode: ({ format, path, text }) => {
    const config = Copilot.decode(text, path)
    // `disableAllHooks` in a file of a hooks folder switches off only that file.
    return format === "settings" || !config.disableAllHooks
      ? config
      : { ...config, handlers: [], disableAllHooks: false }
  },
  about: ({ text }) => picked(parseCommented(text), "version", "hooks", "disableAllHooks"),
  hooks: (sources, making) => {
    const handlers = trusting<Copilot.Handler>(sources)
    return handlers.length === 0 ? [] : [Copilot.make({ ...called("copilot", making, Copilot.optionKinds), handlers })]
  }
}
