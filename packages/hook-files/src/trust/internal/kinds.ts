/** Classifies a file by its name: a script, a setting of scripts, or data. */
import { basename } from "node:path"
import { isInside } from "../../internal/files.ts"

/**
 * A `script` is run and can load files beside it. A `file` decides what is run. An `operand` is an argument of a
 * program, and counts only if it is executable. In a `folder`, every script counts.
 */
export interface Named {
  readonly path: string
  readonly as: "script" | "file" | "operand" | "folder"
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/))

const scripts = set(
  `sh bash zsh ksh fish py pyw js mjs cjs jsx ts mts cts tsx rb pl pm php lua ps1 psm1 awk sed jq cmd bat exe com so
   dylib dll node wasm jar bin go rs swift java class kts groovy jl r ex exs tcl scala nu mk`
)

const data = set(
  `md txt rst json jsonl ndjson json5 log csv tsv lock pid tmp bak old orig db sqlite sqlite3 yml yaml toml ini cfg
   conf env xml html htm css scss svg png jpg jpeg gif webp ico pdf map woff woff2 ttf gz zip tar pyc pyo snap diff
   patch sample template tpl`
)

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""

export const isScript = (path: string): boolean => scripts.has(extensionOf(path))

export const isData = (path: string): boolean => /\.d\.[cm]?ts$/.test(path) || data.has(extensionOf(path))

/** Beside a script, these files change which code it loads. */
const settings = set(
  "package.json pyproject.toml uv.toml deno.json deno.jsonc bunfig.toml tsconfig.json .npmrc .yarnrc .yarnrc.yml " +
    "Gemfile"
)

export const isSetting = (path: string): boolean => settings.has(basename(path))

/** Names of folders in which scripts store data. */
export const isKept = (name: string): boolean => /^(?:__pycache__|\.git|\.?te?mp|\.?cache|\.\w+_cache)$/i.test(name)

/** A project cannot change files of the system, unless the project itself is there. */
export const isOfSystem = (path: string, cwd: string): boolean =>
  /^\/(?:usr|bin|sbin|lib|lib64|opt|nix|dev|proc|sys)(?:\/|$)/.test(path) && !isInside(cwd, path)
