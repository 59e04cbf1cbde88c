/**
 * Finds settings files with hooks. It reads them, and runs nothing.
 *
 * @since 0.1.0
 */
import { dirname, join, resolve } from "node:path"
import * as HookConfig from "./HookConfig.ts"
import { isInside, read, real } from "./internal/files.ts"

/** Whose file it is. @category models @since 0.1.0 */
export type Scope = "user" | "project" | "local" | "explicit"

/** Where to look. @category models @since 0.1.0 */
export interface Places {
  /** The folder of the project. */
  readonly cwd: string
  /** The user's home folder. */
  readonly home: string
  /** Default: `user` (`~/.claude/settings.json`), `project` (`.claude/settings.json`) and `local` (`.claude/settings.local.json`). */
  readonly sources?: ReadonlyArray<Exclude<Scope, "explicit">>
  /** More files, relative to `cwd`. */
  readonly files?: ReadonlyArray<string>
}

/** A file that was found. @category models @since 0.1.0 */
export interface Source {
  readonly scope: Scope
  readonly path: string
  /** The project could have written it: it counts when it is trusted. */
  readonly ofProject: boolean
  readonly text: string
  readonly config: HookConfig.HookConfig
}

/** Most bytes of a settings file. @category limits @since 0.1.0 */
export const maxBytes = 1_048_576

/**
 * Reads the files of the user, the project, and this checkout, then the others, in this order. A file that is not there is skipped, unless it was named; one that cannot be read is a warning.
 *
 * @example
 * ```ts
 * import * as Discovery from "@belay/hooks/Discovery"
 *
 * const { sources } = Discovery.find({ cwd: "/srv/app", home: "/srv/ada" })
 * sources.flatMap(({ config, path }) => config.handlers.map(({ command, event }) => `${path}: ${event} ${command.command}`))
 * ```
 * @category reading
 * @since 0.1.0
 */
export const find = (
  { cwd, files = [], home, sources = ["user", "project", "local"] }: Places
): { readonly sources: ReadonlyArray<Source>; readonly warnings: ReadonlyArray<HookConfig.Warning> } => {
  const known: { readonly [K in Exclude<Scope, "explicit">]: string } = {
    user: join(home, ".claude", "settings.json"),
    project: join(cwd, ".claude", "settings.json"),
    local: join(cwd, ".claude", "settings.local.json")
  }
  const wanted: ReadonlyArray<readonly [Scope, string]> = [
    ...(["user", "project", "local"] as const).filter((scope) => sources.includes(scope)).map((scope) => [scope, known[scope]] as const),
    ...files.map((file) => ["explicit", resolve(cwd, file)] as const)
  ]
  const found: Array<Source> = []
  const warnings: Array<HookConfig.Warning> = []
  const seen = new Set<string>()
  // The home folder is the user's own.
  const atHome = real(cwd) === real(home)
  for (const [scope, path] of wanted) {
    if (seen.has(real(path))) continue
    seen.add(real(path))
    const content = read(path, maxBytes)
    if (content === "absent") {
      if (scope === "explicit") warnings.push({ file: path, key: "", reason: "is not there" })
      continue
    }
    if ("problem" in content) {
      warnings.push({ file: path, key: "", reason: `cannot be read: ${content.problem}` })
      continue
    }
    const text = content.bytes.toString("utf8")
    const inProject = isInside(cwd, path) || isInside(real(cwd), real(path))
    const ofProject = !atHome && (scope === "project" || scope === "local" || (scope === "explicit" && inProject))
    const config = HookConfig.decode(text, path, ofProject ? cwd : dirname(path))
    found.push({ scope, path, ofProject, text, config })
    warnings.push(...config.warnings)
  }
  return { sources: found, warnings }
}

/** Reads the text of a file that was found once more. What it means stays as it was. @category reading @since 0.1.0 */
export const again = (source: Source): Source => {
  const content = read(source.path, maxBytes)
  return { ...source, text: content === "absent" || "problem" in content ? "" : content.bytes.toString("utf8") }
}
