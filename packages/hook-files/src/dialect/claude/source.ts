/**
 * Defines where Claude Code stores hooks: in settings of the machine, of the user and of the project, in plugins, and
 * in the front matter of skills and agents.
 */
import { defined } from "@belay/core/Fields"
import * as Result from "effect/Result"
import { basename, dirname, join } from "node:path"
import { parse as parseYaml } from "yaml"
import { isFields, record } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
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
  trusting,
  type Where
} from "../shared/system.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import * as HookConfig from "./config/HookConfig.ts"
import { claude as guide } from "./guide.ts"
import { enabledFiles, fromManifest } from "./plugin/pluginFiles.ts"
import { enabledPlugins } from "./plugin/plugins.ts"

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

const decode = (file: SourceFile, where: Where): HookConfig.HookConfig => {
  const { format, ofProject, origin, path, text } = file
  const options = defined({ folder: ofProject ? where.cwd : dirname(path), origin })
  if (format === "front matter") return fromFrontMatter(file, options)
  if (format === "plugin" || format === "catalog") return fromManifest(file, options)
  const config = HookConfig.decode(text, path, options)
  return { ...config, warnings: [...config.warnings, ...missing(path, text, where)] }
}

/** Warns about plugins that a settings file enables and that are not installed. */
const missing = (file: string, text: string, where: Where): ReadonlyArray<HookConfig.Warning> => {
  if (!text.includes("enabledPlugins")) return []
  const ids = enabledPlugins(where).flatMap((one) => one.file === file && one.root === undefined ? [one.id] : [])
  if (ids.length === 0) return []
  const [are, they, their] = ids.length === 1 ? ["is", "it is", "its"] : ["are", "they are", "their"]
  const reason = `${
    ids.join(", ")
  } ${are} enabled, but ${they} not installed, so ${their} hooks do not run; install with `
  return [{
    file,
    key: "enabledPlugins",
    reason: `${reason}Claude Code, or name the folder as a source: { plugin: "path" }`
  }]
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
      : below(cwd, "project")),
    ...enabledPlugins({ cwd, home, managed }).flatMap((one) => enabledFiles(one, home))
  ],
  decode,
  about: ({ format, text }) => {
    if (format === "catalog") return picked(record(text), "plugins")
    if (format !== "front matter") return picked(record(text), "hooks", "disableAllHooks", "env")
    const matter = matterOf(text)
    return matter === undefined
      ? undefined
      : picked(Result.getOrUndefined(Result.try((): unknown => parseYaml(matter))), "hooks", "name")
  },
  hooks: (sources, making) => {
    const ofManaged = sources.filter(({ scope }) => scope === "managed")
    const ofOthers = sources.filter(({ scope }) => scope !== "managed")
    const [managed, others] = [trusting<HookConfig.Handler>(ofManaged), trusting<HookConfig.Handler>(ofOthers)]
    // If several files set a variable, the last one counts, and managed settings before all others.
    const env = Object.assign(
      {},
      ...[...ofOthers.filter(({ ofProject }) => !ofProject), ...ofManaged].map(({ config }) =>
        "env" in config ? config.env : {}
      )
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
