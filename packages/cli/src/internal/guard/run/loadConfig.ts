/** Runs a config. What runs are the bytes that a person has trusted, also if the file changes at this moment. */
import { createRequire, registerHooks } from "node:module"
import { dirname, extname, isAbsolute, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Configured, configuredBy } from "./configured.ts"
import { type Covered, coveredBy } from "./covered.ts"
import { readJson } from "./jsonConfig.ts"
import { barrels, type Exports, modules } from "./modules.ts"
import { messageOf, Refusal } from "./refusal.ts"
import type { Within } from "./within.ts"

/**
 * Returns what the config exports. Throws a `Refusal` if it cannot be run. `watch` is called if its code can block the
 * process where `within` does not end it.
 */
export const loadConfig = async (
  covered: Covered,
  within: Within,
  watch: () => void = () => {}
): Promise<Configured> => {
  const { entry, files, path } = covered
  if (entry.endsWith(".json")) return await configuredBy(path, await readJson(path, files.get(entry)!))
  const packages = await packagesOf(covered)
  if ([...covered.packages.keys()].some((name) => !packages.has(name) && !/^\.{0,2}\//.test(name))) watch()
  const hooks = registerHooks(hooksFor(covered, packages))
  try {
    const configured = (module: unknown): Promise<Configured> => {
      const exported: unknown = Object(module).default
      if (typeof exported === "function") watch()
      return within(() => configuredBy(path, exported))
    }
    return await within(() => {
      const module = evaluate(entry, watch)
      return module instanceof Promise ? module.then(configured) : configured(module)
    })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`${path} cannot be loaded: ${messageOf(error)}`)
  } finally {
    hooks.deregister()
  }
}

/**
 * Imports a module that nobody has to trust. Where a package of this command is not installed beside it, the one of the
 * command takes its place.
 */
export const importModule = async (path: string): Promise<Exports> => {
  const packages = await packagesOf(coveredBy(path))
  shared.set(scheme, packages)
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context)
      } catch (error) {
        if (!packages.has(specifier)) throw error
        return { url: `${scheme}${specifier}`, format: "module", shortCircuit: true }
      }
    },
    load: (url, context, next) =>
      url.startsWith(scheme)
        ? { format: "module", source: sourceOf(url.slice(scheme.length), packages), shortCircuit: true }
        : next(url, context)
  })
  try {
    return await import(pathToFileURL(path).href) as Exports
  } finally {
    hooks.deregister()
  }
}

/** A module that awaits something at its top, or whose package.json is broken, cannot be required. */
const evaluate = (path: string, watch: () => void): unknown => {
  try {
    return createRequire(path)(path)
  } catch (error) {
    if (!["ERR_INVALID_PACKAGE_CONFIG", "ERR_REQUIRE_ASYNC_MODULE"].includes(Object(error).code)) throw error
    watch()
    return import(pathToFileURL(path).href)
  }
}

/** Loads the modules of this command that the config imports, and no others. */
const packagesOf = async ({ packages }: Covered): Promise<ReadonlyMap<string, Exports>> => {
  const loaded = new Map<string, Exports>()
  for (const [specifier, names] of packages) {
    const barrel = Object.hasOwn(barrels, specifier) ? barrels[specifier] : undefined
    if (barrel !== undefined) loaded.set(specifier, await exportsOf(barrel, names))
    else if (Object.hasOwn(modules, specifier)) loaded.set(specifier, await modules[specifier]!())
  }
  return loaded
}

const exportsOf = async (
  barrel: NonNullable<(typeof barrels)[string]>,
  names: ReadonlySet<string> | "all"
): Promise<Exports> => {
  const wanted = Object.entries(barrel).filter(([name]) => names === "all" || names.has(name))
  const found = await Promise.all(wanted.map(async ([name, [specifier, part]]) => {
    const module = await modules[specifier]!()
    return [name, part === undefined ? module : module[part]] as const
  }))
  return Object.fromEntries(found)
}

const scheme = "belay-guard:"

const hooksFor = (
  { entry, files }: Covered,
  packages: ReadonlyMap<string, Exports>
): Parameters<typeof registerHooks>[0] => {
  shared.set(scheme, packages)
  return {
    resolve: (specifier, context, next) => {
      if (packages.has(specifier)) {
        return { url: `${scheme}${specifier}`, format: "module", shortCircuit: true }
      }
      // Node would look into package.json first, which may be broken while the agent works on it.
      const own = fileOf(specifier, context.parentURL)
      if (own !== undefined && files.has(own)) return { url: pathToFileURL(own).href, shortCircuit: true }
      const found = next(specifier, context)
      const file = found.url.startsWith("file:") ? fileURLToPath(found.url) : undefined
      if (file !== undefined && !files.has(file) && !/[\\/]node_modules[\\/]/.test(file)) {
        throw new Error(
          `it imports ${file}, which the decision of trust does not cover: write its path as a plain text`
        )
      }
      return found
    },
    load: (url, context, next) => {
      if (url.startsWith(scheme)) {
        return { format: "module", source: sourceOf(url.slice(scheme.length), packages), shortCircuit: true }
      }
      const file = url.startsWith("file:") ? fileURLToPath(url) : undefined
      const text = file === undefined ? undefined : files.get(file)
      const format = formats[extname(file ?? "")]
      if (text === undefined || format === undefined) {
        if (file === entry) throw new Error("it has to be a TypeScript or JavaScript module")
        return next(url, context)
      }
      return { format, source: text, shortCircuit: true }
    }
  }
}

/** Returns the file that a path or a URL means. */
const fileOf = (specifier: string, parent: string | undefined): string | undefined => {
  if (isAbsolute(specifier)) return specifier
  if (specifier.startsWith("file:")) return fileURLToPath(specifier)
  if (!/^\.{1,2}\//.test(specifier) || parent?.startsWith("file:") !== true) return undefined
  return resolve(dirname(fileURLToPath(parent)), specifier)
}

const formats: { readonly [extension: string]: string } = {
  ".ts": "module-typescript",
  ".mts": "module-typescript",
  ".js": "module",
  ".mjs": "module",
  ".json": "json"
}

/** The modules that a config has imported. The text of a module reads them from here. */
const shared = new Map<string, ReadonlyMap<string, Exports>>()

// A module that is made of text has no other way to a value.
Object.assign(globalThis, { [Symbol.for("@belay/cli/guard")]: (name: string) => shared.get(scheme)?.get(name) })

const sourceOf = (specifier: string, packages: ReadonlyMap<string, Exports>): string => {
  const names = Object.keys(packages.get(specifier) ?? {}).filter((name) => name !== "default")
  return [
    `const found = globalThis[Symbol.for("@belay/cli/guard")](${JSON.stringify(specifier)})`,
    ...names.map((name, index) => `const it${index} = found[${JSON.stringify(name)}]\nexport { it${index} as ${name} }`)
  ].join("\n")
}
