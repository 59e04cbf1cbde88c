/** Finds the plugins that settings of Claude Code enable, in the folders where Claude Code installs them. */
import * as Result from "effect/Result"
import { statSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { type Fields, isFields, isText, record } from "../../../internal/fields.ts"
import { isInside, read, real } from "../../../internal/files.ts"
import { filesOf, list, type Where } from "../../shared/system.ts"

/** A plugin that a settings file enables. */
export interface Enabled {
  /** The name of the plugin and of its marketplace, such as `formatter@team`. */
  readonly id: string
  readonly name: string
  /** Who enables it. */
  readonly scope: "managed" | "user" | "project"
  /** The settings file that enables it. */
  readonly file: string
  /** Its folder. Absent if it is not installed. */
  readonly root?: string
  /** The catalog of its marketplace, if it has hooks for the plugin. */
  readonly catalog?: string
}

/** Returns the plugin's entry in a catalog. */
export const entryIn = (catalog: Fields, name: string): Fields | undefined => {
  const { plugins } = catalog
  return Array.isArray(plugins)
    ? plugins.find((one: unknown): one is Fields => isFields(one) && one["name"] === name)
    : undefined
}

/**
 * Returns the plugins that somebody enables. What an administrator says counts most. A project can enable plugins for
 * itself, and cannot disable plugins of the user.
 */
export const enabledPlugins = (where: Where): ReadonlyArray<Enabled> => {
  const { cwd, home, managed } = where
  const atHome = real(home) === real(cwd)
  const read = (paths: ReadonlyArray<string>) => paths.map((path) => ({ path, settings: readFields(path) }))
  const local = join(cwd, ".claude", "settings.local.json")
  const ofManaged = read([
    join(managed, "managed-settings.json"),
    ...filesOf(join(managed, "managed-settings.d"), ".json")
  ])
  const ofUser = read([...(atHome ? [local] : []), join(home, ".claude", "settings.json")])
  const ofProject = atHome ? [] : read([local, join(cwd, ".claude", "settings.json")])
  const refused = new Set(ofManaged.flatMap(({ settings }) => saying(settings, false)))
  const found = new Map<string, Enabled>()
  const add = (scope: Enabled["scope"], all: ReadonlyArray<Settings>) => {
    const decided = new Set<string>()
    for (const { path, settings } of all) {
      for (const id of saying(settings, true)) {
        const parts = /^([\w.-]*\w[\w.-]*)@([\w.-]*\w[\w.-]*)$/.exec(id)
        if (decided.has(id) || found.has(id) || refused.has(id) || parts === null) continue
        const plugin = { id, name: parts[1]!, market: parts[2]!, scope }
        found.set(id, { id, name: plugin.name, scope, file: path, ...placeOf(plugin, all, where) })
      }
      for (const id of saying(settings, false)) decided.add(id)
    }
  }
  add("managed", ofManaged)
  add("user", ofUser)
  add("project", ofProject)
  return [...found.values()]
}

interface Settings {
  readonly path: string
  readonly settings: Fields
}

interface Named extends Pick<Enabled, "id" | "name" | "scope"> {
  readonly market: string
}

/** Returns the plugins that settings enable (`true`) or disable (`false`). */
const saying = (settings: Fields, value: boolean): ReadonlyArray<string> =>
  Object.entries(fieldsOf(settings["enabledPlugins"])).flatMap(([id, said]) => said === value ? [id] : [])

/** Finds a plugin: where it was installed, then in its marketplace on disk, then its newest version in the cache. */
const placeOf = (
  plugin: Named,
  settings: ReadonlyArray<Settings>,
  where: Where
): Pick<Enabled, "root" | "catalog"> => {
  const plugins = join(where.home, ".claude", "plugins")
  const { market, name } = plugin
  const { catalog, root: offered } = offer(plugin, marketOf(market, settings, plugins, where))
  const cache = join(plugins, "cache", market, name)
  const newest = list(cache).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1)
  const root = [installed(plugin, plugins, where), offered, newest === undefined ? undefined : join(cache, newest)]
    .find(
      (path) => path !== undefined && isFolder(path)
    )
  return {
    ...(root === undefined ? {} : { root }),
    ...(root === undefined || catalog === undefined ? {} : { catalog })
  }
}

/** Returns the folder in which Claude Code installed a plugin: for its user, for this project, or for another one. */
const installed = ({ id, scope }: Named, plugins: string, { cwd }: Where): string | undefined => {
  const recorded = own(fieldsOf(readFields(join(plugins, "installed_plugins.json"))["plugins"]), id)
  const all = (Array.isArray(recorded) ? recorded : [recorded]).filter(isFields)
  const here = all.find(({ projectPath }) => isText(projectPath) && real(projectPath) === real(cwd))
  const everywhere = all.find(({ projectPath }) => projectPath === undefined)
  const [one] = (scope === "project" ? [here, everywhere, ...all] : [everywhere, here, ...all]).filter(isFields)
  const path = one?.["installPath"]
  return isText(path) && path !== "" ? resolve(plugins, path) : undefined
}

/** Returns the folder of a marketplace, or the path of its catalog. */
const marketOf = (
  market: string,
  settings: ReadonlyArray<Settings>,
  plugins: string,
  { cwd, home }: Where
): string | undefined => {
  const known = fieldsOf(own(readFields(join(plugins, "known_marketplaces.json")), market))["installLocation"]
  if (isText(known) && isAbsolute(known)) return known
  const named = settings.map(({ settings: { extraKnownMarketplaces } }) =>
    fieldsOf(fieldsOf(own(fieldsOf(extraKnownMarketplaces), market))["source"])["path"]
  ).find(isText)
  return named === undefined ? join(plugins, "marketplaces", market) : resolve(cwd, named.replace(/^~(?=\/)/, home))
}

/** Returns what a marketplace says about a plugin: its folder, if the marketplace contains it, and its catalog. */
const offer = ({ name }: Named, market: string | undefined): Pick<Enabled, "root" | "catalog"> => {
  if (market === undefined) return {}
  const isFile = market.endsWith(".json")
  const folder = isFile ? dirname(dirname(market)) : market
  const path = isFile ? market : join(market, ".claude-plugin", "marketplace.json")
  const catalog = readFields(path)
  const entry = entryIn(catalog, name)
  if (entry === undefined) return {}
  const about = "hooks" in entry ? { catalog: path } : {}
  const { pluginRoot } = fieldsOf(catalog["metadata"])
  const { source } = entry
  if (!isText(source)) return about
  const root = [resolve(folder, isText(pluginRoot) ? pluginRoot : ".", source), resolve(folder, source)].find((one) =>
    isInside(real(folder), real(one)) && isFolder(one)
  )
  return root === undefined ? about : { ...about, root }
}

const own = (fields: Fields, key: string): unknown => Object.hasOwn(fields, key) ? fields[key] : undefined

const fieldsOf = (value: unknown): Fields => isFields(value) ? value : {}

const readFields = (path: string): Fields => {
  const content = read(path, 1_048_576)
  return content === "absent" || "problem" in content ? {} : record(content.bytes.toString("utf8")) ?? {}
}

const isFolder = (path: string): boolean =>
  Result.getOrElse(Result.try(() => statSync(path).isDirectory()), () => false)
