/** Gives the entries of a project the variables that its settings files set. */
import type { Source } from "../dialect/shared/system.ts"

/**
 * Adds `env` of the project's files to the entries of the project, and only to them, so that a project cannot change
 * how hooks of the user run. If several files set a variable, the last one counts, such as `settings.local.json`.
 */
export const withProjectEnvironment = (sources: ReadonlyArray<Source>): ReadonlyArray<Source> => {
  const own = Map.groupBy(sources.filter(({ ofProject }) => ofProject), ({ dialect }) => dialect)
  return sources.map((source) => {
    if (!source.ofProject || source.config.handlers.length === 0) return source
    const env = Object.assign({}, ...(own.get(source.dialect) ?? []).map(({ config }) => config.env ?? {}))
    if (Object.keys(env).length === 0) return source
    const handlers = source.config.handlers.map((handler) => ({ ...handler, env: { ...env, ...handler.env } }))
    return { ...source, config: { ...source.config, handlers } }
  })
}
