/**
 * Stores which projects may run their hooks. A person decides this for exactly the current files.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { homedir } from "node:os"
import type { Source } from "../discovery/Discovery.ts"
import { sha256 } from "../internal/files.ts"
import * as Covered from "./internal/covered.ts"
import * as Files from "./internal/files.ts"

/**
 * Computes what a decision covers, by system: the real path of the project, its settings of hooks, the scripts that
 * entries run, and the files that these scripts can load. It changes if a character or an execute bit of one of them
 * changes, and not if scripts write data.
 *
 * @category reading
 * @since 0.1.0
 */
export const fingerprint = checked(
  "Trust.fingerprint",
  ["cwd", "sources", "home"],
  (cwd: string, sources: ReadonlyArray<Source>, home: string = homedir()): string =>
    Covered.print(cwd, Covered.of(cwd, sources, home, Files.make()))
)

/** A file that a decision covers, in addition to the settings. @category models @since 0.1.0 */
export interface Script {
  readonly path: string
  /** Its execute bits and SHA-256, such as `755 9f86…`; or `absent`; or the reason why it cannot be read. */
  readonly state: string
}

/**
 * Lists the files that a decision covers in addition to the settings, whether they exist or not. Installed packages
 * count as one.
 *
 * @category reading
 * @since 0.1.0
 */
export const scripts = checked("Trust.scripts", ["cwd", "sources", "home"], (
  cwd: string,
  sources: ReadonlyArray<Source>,
  home: string = homedir()
): ReadonlyArray<Script> => {
  const items = [...Covered.of(cwd, sources, home, Files.make()).values()].flatMap((own) => [...own])
  const all = new Map(items.flatMap(([path, { isSource, state }]) => isSource === true ? [] : [[path, state] as const]))
  const installed = Map.groupBy(all.keys(), (path) => /^(.*?[\\/]node_modules)[\\/]/.exec(path)?.[1])
  return [
    ...(installed.get(undefined) ?? []).map((path) => ({ path, state: all.get(path)! })),
    ...[...installed].flatMap(([path, own]) =>
      path === undefined
        ? []
        : [{ path, state: `755 ${sha256(JSON.stringify(own.map((one) => [one, all.get(one)])))}` }]
    )
  ].sort((a, b) => a.path < b.path ? -1 : 1)
})

export type { Change } from "./internal/changes.ts"
export { folder, type Store } from "./TrustStore.ts"
