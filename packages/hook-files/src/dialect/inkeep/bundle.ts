/** Puts the packages that stored code imports into its definition, when it is saved. */
import { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import { nearest } from "@belay/core/NamePattern"
import * as Result from "effect/Result"
import type { Package, Packages, Stored } from "./types.ts"

/**
 * Puts the packages in `dependencies` of a definition into its field `bundled`. Call it when a definition is saved, so
 * that what runs later is what was allowed then, whatever happens to the list. Throws a `ConfigError` if a package or
 * its version is not in the list. A dependency is an exact version, or `*` for the one in the list.
 *
 * @example
 * ```ts
 * import * as Inkeep from "@belay/hook-files/Inkeep"
 *
 * const allowed = { "to-title": { version: "1.0.0", code: `export default (text) => text.toUpperCase()` } }
 * const definition = Inkeep.bundle({
 *   id: "title",
 *   dependencies: { "to-title": "1.0.0" },
 *   executeCode: `import title from "to-title"
 *     export default async ({ result }) => ({ action: "proceed", result: title(result) })`
 * }, allowed)
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const bundle = checked(
  "Inkeep.bundle",
  ["definition", "allowed"],
  (definition: Stored, allowed: Packages): Stored => {
    const bundled: { [name: string]: Package } = {}
    /** Adds a package with those that it imports; returns why it cannot. */
    const add = (name: string, version: string, by: string): string | undefined => {
      const found = Object.hasOwn(allowed, name) ? allowed[name] : undefined
      if (found === undefined) {
        const near = nearest(name, Object.keys(allowed))
        return `${by} the package ${name}, which is not allowed${near === undefined ? "" : `; did you mean ${near}?`}`
      }
      if (version !== "*" && version !== found.version) {
        return `${by} ${name} ${version}, and ${found.version} is allowed`
      }
      if (Object.hasOwn(bundled, name)) return undefined
      bundled[name] = found
      return firstOf(importsOf(found.code), (other) => add(other, "*", `${name} imports`))
    }
    const dependencies = Object.entries(definition.dependencies ?? {})
    const why = firstOf(dependencies, ([name, version]) => add(name, version, "it needs"))
    if (why !== undefined) Result.getOrThrow(Result.fail(wrong(definition, why)))
    return { ...definition, bundled }
  }
)

/** The first problem of some things. */
const firstOf = <A>(some: ReadonlyArray<A>, problemOf: (one: A) => string | undefined): string | undefined => {
  for (const one of some) {
    const problem = problemOf(one)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The packages that a module imports. */
const importsOf = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"'\n]+)["']/gm)].map(([, name]) => name!)

const wrong = ({ id }: Stored, why: string): ConfigError =>
  new ConfigError({ key: `${id}.dependencies`, message: `${id}.dependencies: ${why}` })

/** Why a definition with dependencies cannot run; `undefined` if it can. */
export const whyNotBundled = ({ bundled, dependencies }: Stored): string | undefined => {
  const missing = Object.entries(dependencies ?? {}).filter(([name, version]) => {
    const found = bundled !== undefined && bundled !== null && Object.hasOwn(bundled, name) ? bundled[name] : undefined
    return found === undefined || typeof found.code !== "string" || (version !== "*" && version !== found.version)
  })
  return missing.length === 0
    ? undefined
    : `needs ${missing.map(([name]) => name).join(", ")}: add packages with Inkeep.bundle when the definition is saved`
}
