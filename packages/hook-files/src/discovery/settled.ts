/** Decides which of the sources that were found count, and whether they may be malformed. */
import { ConfigError } from "@belay/core/AgentError"
import * as Result from "effect/Result"
import { show, type Warning } from "../dialect/claude/config/HookConfig.ts"
import type * as Discovery from "./Discovery.ts"

export const isOfPolicy = ({ policy }: Warning): boolean => policy === true

/**
 * Fails if a managed entry, or an entry that enforces a policy, is malformed. A misspelled check must not be skipped.
 */
export const malformed = (sources: ReadonlyArray<Discovery.Source>): Result.Result<void, ConfigError> => {
  const wrong = sources.flatMap(({ config, scope }) =>
    // Claude Code installs plugins that an administrator enables when it needs them.
    scope === "managed"
      ? config.warnings.filter(({ key }) => key !== "enabledPlugins")
      : config.warnings.filter(isOfPolicy)
  )
  return wrong.length === 0
    ? Result.succeed(undefined)
    : Result.fail(
      new ConfigError({
        key: wrong[0]!.file,
        message: `managed hooks, and hooks that enforce a policy, must be valid: ${wrong.map(show).join("; ")}`
      })
    )
}

/**
 * Removes files that a setting turns off. Only a managed file can turn off managed files, and a file of the project can
 * turn off only files of the project.
 */
export const withoutSilenced = (sources: ReadonlyArray<Discovery.Source>): ReadonlyArray<Discovery.Source> => {
  const managed = sources.filter(({ scope }) => scope === "managed")
  const isOff = managed.some(({ config }) => config.disableAllHooks)
  const isOnly = managed.some(({ config }) =>
    "allowManagedHooksOnly" in config && config.allowManagedHooksOnly === true
  )
  return sources.filter(({ dialect, ofProject, scope }) => {
    if (scope === "managed") return !isOff
    if (isOff || isOnly) return false
    return !sources.some((other) =>
      other.dialect === dialect && other.scope !== "managed" && other.config.disableAllHooks &&
      (ofProject || !other.ofProject)
    )
  })
}
