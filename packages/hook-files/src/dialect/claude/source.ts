/**
 * Defines where Claude Code stores hooks: in settings of the machine, of the user and of the project, in plugins, and
 * in the front matter of skills and agents.
 */
import { defined } from "@belay/core/Fields"
import * as Result from "effect/Result"
import { basename, dirname, join, resolve } from "node:path"
import { parse as parseYaml } from "yaml"
import { isInside, read, real } from "../../internal/files.ts"
import { isFields, record } from "../shared/fields.ts"
import { whyNoObject } from "../shared/jsonError.ts"
import {
  called,
  type Decoded,
  filesOf,
  list,
  picked,
  type Place,
  type Scope,
  type SourceFile,
  type System,
  trusting
} from "../shared/system.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import { claude as guide } from "./guide.ts"
import * as HookConfig from "./HookConfig.ts"

/**
 * Returns the settings files, skills and agents of a user or a project, in the order in which their answers are merged.
 */
const below = (root: string, scope: Scope): ReadonlyArray<Place> => {
  const folder = join(root, ".claude")
  return [
    { scope, path: join(folder, "settings.json") },
    ...(scope === "project" ? [{ scope: "local" as const, path: join(folder, "settings.local.json") }] : []),
    ...list(join(folder, "skills")).map((name) => {
      const own = join(folder, "skills", name)
      return {
        scope,
        path: join(own, "SKILL.md"),
        format: "front matter",
        origin: { type: "skill" as const, name, root: own }
      }
    }),
    ...filesOf(join(folder, "agents"), ".md").map((path) => ({
      scope,
      path,
      format: "front matter",
      origin: { type: "agent" as const, name: basename(path, ".md"), root: dirname(path) }
    }))
  ]
}

/** Returns the files in which a plugin can have hooks. */
export const plugin = (root: string, home: string): ReadonlyArray<Place> => {
  const scope = "user"
  const origin = {
    type: "plugin" as const,
    name: basename(root),
    root,
    data: join(home, ".claude", "plugins", "data", basename(root))
  }
  return [
    { scope, path: join(root, "hooks", "hooks.json"), origin },
    { scope, path: join(root, ".claude-plugin", "plugin.json"), origin, format: "plugin" }
  ]
}

const decode = (file: SourceFile, { cwd }: { readonly cwd: string }): HookConfig.HookConfig => {
  const { format, ofProject, origin, path, text } = file
  const options = defined({ folder: ofProject ? cwd : dirname(path), origin })
  if (format === "front matter") return fromFrontMatter(file, options)
  return format === "plugin" ? fromManifest(file, options) : HookConfig.decode(text, path, options)
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

const fromFrontMatter = (
  { origin, path, text }: SourceFile,
  options: HookConfig.ReadOptions
): HookConfig.HookConfig => {
  const matter = matterOf(text)
  if (matter === undefined) return empty
  const value = Result.try((): unknown => parseYaml(matter))
  if (Result.isFailure(value)) return problem(path, "", `its front matter is not YAML: ${firstLine(value.failure)}`)
  if (!isFields(value.success)) return problem(path, "", "its front matter is not a mapping")
  const { hooks, name } = value.success
  const called = typeof name === "string" && name.trim() !== "" ? name.trim() : origin!.name
  return HookConfig.fromValue({ hooks }, path, { ...options, origin: { ...origin!, name: called } })
}

/**
 * Returns the front matter if it has hooks. Front matter without hooks is not parsed, because it is often not valid
 * YAML.
 */
const matterOf = (text: string): string | undefined => {
  const matter = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1]
  return matter !== undefined && /^hooks\s*:/m.test(matter) ? matter : undefined
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!

/**
 * Reads the manifest of a plugin. Its `hooks` is an object of events, the path of a file with such an object, or a list
 * of both.
 */
const fromManifest = ({ origin, path, text }: SourceFile, options: HookConfig.ReadOptions): HookConfig.HookConfig => {
  const manifest = record(text)
  if (manifest === undefined) return problem(path, "", whyNoObject(text))
  const { hooks } = manifest
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

export const claude: System = {
  dialect: "claude",
  guide,
  folders: [".claude/hooks"],
  places: ({ cwd, home, managed }) => [
    { scope: "managed", path: join(managed, "managed-settings.json") },
    ...filesOf(join(managed, "managed-settings.d"), ".json").map((path) => ({ scope: "managed" as const, path })),
    ...below(home, "user"),
    ...(real(home) === real(cwd)
      ? [{ scope: "user" as const, path: join(cwd, ".claude", "settings.local.json") }]
      : below(cwd, "project"))
  ],
  decode,
  about: ({ format, text }) => {
    if (format !== "front matter") return picked(record(text), "hooks", "disableAllHooks", "env")
    const matter = matterOf(text)
    return matter === undefined
      ? undefined
      : picked(Result.getOrUndefined(Result.try((): unknown => parseYaml(matter))), "hooks", "name")
  },
  hooks: (sources, making) => {
    const managed = trusting<HookConfig.Handler>(sources.filter(({ scope }) => scope === "managed"))
    const others = trusting<HookConfig.Handler>(sources.filter(({ scope }) => scope !== "managed"))
    // If several files set a variable, the first file wins.
    const env = Object.assign(
      {},
      ...sources.filter(({ ofProject }) => !ofProject).map(({ config }) => "env" in config ? config.env : {}).reverse()
    )
    return [
      ...(managed.length === 0
        ? []
        : [
          ClaudeCode.make({
            ...called("claude-managed", making, ClaudeCode.optionKinds),
            env,
            handlers: managed,
            tier: "managed"
          })
        ]),
      ...(others.length === 0
        ? []
        : [ClaudeCode.make({ ...called("claude", making, ClaudeCode.optionKinds), env, handlers: others })])
    ]
  }
}

/** Returns the lists of allowed URLs and variables in all files that are not part of the project. */
export const lists = (sources: ReadonlyArray<{ readonly config: Decoded; readonly ofProject: boolean }>) => {
  const own = sources.filter(({ ofProject }) => !ofProject).map(({ config }) =>
    config as Partial<HookConfig.HookConfig>
  )
  const all = (key: "allowedHttpHookUrls" | "httpHookAllowedEnvVars"): ReadonlyArray<string> | undefined => {
    const found = own.flatMap((config) => config[key] === undefined ? [] : [config[key]])
    return found.length === 0 ? undefined : found.flat()
  }
  return { urls: all("allowedHttpHookUrls"), variables: all("httpHookAllowedEnvVars") }
}
