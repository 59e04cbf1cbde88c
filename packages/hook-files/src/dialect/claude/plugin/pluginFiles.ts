/** Lists and reads the files of a plugin of Claude Code: its hooks, its manifest, and its skills. */
import { basename, dirname, join, resolve } from "node:path"
import { isFields, record } from "../../../internal/fields.ts"
import { isInside, read, real } from "../../../internal/files.ts"
import { whyNoObject } from "../../../internal/jsonError.ts"
import { list, type Place, type Scope, type SourceFile } from "../../shared/system.ts"
import * as HookConfig from "../config/HookConfig.ts"
import { type Enabled, entryIn } from "./plugins.ts"

/** Returns the files in which a plugin can have hooks. */
export const plugin = (root: string, home: string): ReadonlyArray<Place> =>
  below({ id: basename(root), name: nameOf(root), root }, home, "user")

/** Returns the files of a plugin that settings enable. There are none if it is not installed. */
export const enabledFiles = ({ catalog, id, name, root, scope }: Enabled, home: string): ReadonlyArray<Place> =>
  root === undefined ? [] : below({ id, name, root, ...(catalog === undefined ? {} : { catalog }) }, home, scope)

interface Known {
  readonly id: string
  readonly name: string
  readonly root: string
  readonly catalog?: string
}

const below = ({ catalog, id, name, root }: Known, home: string, scope: Scope): ReadonlyArray<Place> => {
  const data = join(home, ".claude", "plugins", "data", id.replaceAll(/[^\w-]/g, "-"))
  const origin = { type: "plugin" as const, name, root, data }
  return [
    { scope, path: join(root, "hooks", "hooks.json"), origin },
    { scope, path: join(root, ".claude-plugin", "plugin.json"), origin, format: "plugin" },
    ...(catalog === undefined ? [] : [{ scope, path: catalog, origin, format: "catalog" }]),
    ...list(join(root, "skills")).map((skill) => ({
      scope,
      path: join(root, "skills", skill, "SKILL.md"),
      format: "front matter",
      origin: { type: "skill" as const, name: skill, root: join(root, "skills", skill), plugin: { root, data } }
    }))
  ]
}

/** Returns the place of a file that belongs to a plugin, if its path says so. */
export const placeInPlugin = (path: string, home: string): Place | undefined => {
  const folder = basename(dirname(path))
  const isOwn = (folder === "hooks" && basename(path) === "hooks.json") ||
    (folder === ".claude-plugin" && basename(path) === "plugin.json")
  return isOwn ? plugin(dirname(dirname(path)), home).find((place) => place.path === path) : undefined
}

/** Returns the name in the manifest of a plugin. Default: the name of its folder. */
const nameOf = (root: string): string => {
  const content = read(join(root, ".claude-plugin", "plugin.json"), 1_048_576)
  const manifest = content === "absent" || "problem" in content ? undefined : record(content.bytes.toString("utf8"))
  const name = manifest?.["name"]
  return typeof name === "string" && /^[\w.-]{1,100}$/.test(name) ? name : basename(root)
}

const empty: HookConfig.HookConfig = {
  handlers: [],
  warnings: [],
  disableAllHooks: false,
  allowManagedHooksOnly: false
}

const problem = (file: string, key: string, reason: string): HookConfig.HookConfig => ({
  ...empty,
  warnings: [{ file, key, reason }]
})

/**
 * Reads `hooks` of a manifest, or of the plugin's entry in the catalog of its marketplace: an object of events, the
 * path of a file with such an object, or a list of both.
 */
export const fromManifest = (
  { format, origin, path, text }: SourceFile,
  options: HookConfig.ReadOptions
): HookConfig.HookConfig => {
  const whole = record(text)
  if (whole === undefined) return problem(path, "", whyNoObject(text))
  const { hooks } = (format === "catalog" ? entryIn(whole, origin!.name) : whole) ?? {}
  if (hooks === undefined) return empty
  const { root } = origin!
  const all = (Array.isArray(hooks) ? hooks : [hooks]).map((one: unknown, index): HookConfig.HookConfig => {
    const key = Array.isArray(hooks) ? `hooks[${index}]` : "hooks"
    if (isFields(one)) return HookConfig.fromValue("hooks" in one ? one : { hooks: one }, path, options)
    if (typeof one !== "string") return problem(path, key, "expected a path or an object of events")
    const other = resolve(root, one)
    if (!isInside(real(root), real(other))) {
      return problem(path, key, "names a file outside of the plugin, which is never read")
    }
    // This file is read anyway.
    if (real(other) === real(join(root, "hooks", "hooks.json"))) return empty
    const content = read(other, 1_048_576)
    if (content === "absent" || "problem" in content) return problem(path, key, `${one} cannot be read`)
    return HookConfig.decode(content.bytes.toString("utf8"), other, options)
  })
  return {
    ...empty,
    handlers: all.flatMap(({ handlers }) => handlers),
    warnings: all.flatMap(({ warnings }) => warnings)
  }
}
