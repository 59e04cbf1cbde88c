/** Finds the hook files of Factory's Droid: a `hooks.json`, or the settings file if there is none. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { record } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import * as ClaudeCode from "../claude/ClaudeCode.ts"
import type * as HookConfig from "../claude/config/HookConfig.ts"
import { called, picked, type Place, type Scope, type System, trusting } from "../shared/system.ts"
import * as Factory from "./Factory.ts"
import { factory as guide } from "./guide.ts"

const below = (root: string, scope: Scope): ReadonlyArray<Place> => {
  const folder = join(root, ".factory")
  const own = [join(folder, "hooks.json"), join(folder, "hooks", "hooks.json")].find((path) => existsSync(path))
  return [
    { scope, path: own ?? join(folder, "settings.json") },
    ...(scope === "project" ? [{ scope: "local" as const, path: join(folder, "settings.local.json") }] : [])
  ]
}

export const factory: System = {
  dialect: "factory",
  guide,
  folders: [".factory/hooks"],
  places: ({ cwd, home }) => [...below(home, "user"), ...(real(home) === real(cwd) ? [] : below(cwd, "project"))],
  decode: ({ ofProject, path, text }, { cwd }) =>
    Factory.decode(text, path, { folder: ofProject ? cwd : dirname(path) }),
  about: ({ text }) => picked(record(text), "hooks", "hooksDisabled", ...Factory.events),
  hooks: (sources, making) => {
    const handlers = trusting<HookConfig.Handler>(sources)
    return handlers.length === 0
      ? []
      : [Factory.make({ ...called("factory", making, ClaudeCode.optionKinds), handlers })]
  }
}
