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
    const add = (name: string, version: string, by: string): Result.Result<void, ConfigError> => {
      const found = Object.hasOwn(allowed, name) ? allowed[name]! : undefined
      const near = found === undefined ? nearest(name, Object.keys(allowed)) : undefined
      const hint = near === undefined ? "" : `; did you mean ${near}?`
      if (found === undefined) return wrong(definition, `${by} the package ${name}, which is not allowed${hint}`)
      if (version !== "*" && version !== found.version) {
        return wrong(definition, `${by} ${name} ${version}, and ${found.version} is allowed`)
      }
      if (Object.hasOwn(bundled, name)) return Result.succeed(undefined)
      bundled[name] = found
      return firstFailure(importsOf(found.code).map((other) => () => add(other, "*", `${name} imports`)))
    }
    const needs = Object.entries(definition.dependencies ?? {})
    Result.getOrThrow(firstFailure(needs.map(([name, version]) => () => add(name, version, "it needs"))))
    return { ...definition, bundled }
  }
)

/** The packages that a module imports. */
const importsOf = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"'\n]+)["']/gm)].map(([, name]) => name!)

const firstFailure = (
  steps: ReadonlyArray<() => Result.Result<void, ConfigError>>
): Result.Result<void, ConfigError> => {
  for (const step of steps) {
    const done = step()
    if (Result.isFailure(done)) return done
  }
  return Result.succeed(undefined)
}

const wrong = ({ id }: Stored, why: string): Result.Result<never, ConfigError> =>
  Result.fail(new ConfigError({ key: `${id}.dependencies`, message: `${id}.dependencies: ${why}` }))

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
