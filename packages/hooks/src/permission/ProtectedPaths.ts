/**
 * Protects files from tools: by globs that no tool may write or read, and by folders outside of which nothing may be
 * written.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import { isAbsolute, resolve } from "node:path"
import * as HookDefaults from "../HookDefaults.ts"
import * as Condition from "./Condition.ts"
import { operationsOf } from "./internal/callOperations.ts"
import { accessesFile, type FileQuery } from "./internal/fileAccess.ts"
import { spellings } from "./internal/pathSpellings.ts"
import { decompose } from "./internal/shell/decompose.ts"
import { callOf, guardSetting, rejectOrAsk, type ToolReadingOptions } from "./internal/toolGuard.ts"

/** Options of `ProtectedPaths.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, ToolReadingOptions {
  /**
   * Globs of files that no tool may change: a name at any depth, a path below any folder, `/…`, or `~/…`. Default
   * `ProtectedPaths.defaults`.
   */
  readonly write?: ReadonlyArray<string>
  /** Globs of files that no tool may read. Default none. */
  readonly read?: ReadonlyArray<string>
  /**
   * Folders, absolute or relative to the working folder. A tool may change only files inside of them; symbolic links
   * are resolved. Default: files anywhere may be changed.
   */
  readonly roots?: ReadonlyArray<string>
  /** Whether a call that touches a protected file is rejected, or a person is asked about it. Default `reject`. */
  readonly onMatch?: "reject" | "ask"
}

/**
 * Files with secrets, the agent's own settings, and files that other programs run without asking.
 *
 * @category defaults
 * @since 0.1.0
 */
export const defaults: ReadonlyArray<string> = [
  ...[
    ".env*",
    "**/*.pem",
    "**/*.key",
    "**/id_rsa",
    "**/id_ed25519",
    "~/.ssh/**",
    "~/.gnupg/**",
    "~/.aws/**",
    "~/.kube/**",
    "~/.netrc",
    "~/.npmrc"
  ],
  ...[".git/**", ".gitmodules", ".husky/**", ".github/workflows/**", ".vscode/**", ".idea/**", ".envrc"],
  ...[".belay/**", ".claude/**", ".cursor/**", ".codex/**", ".gemini/**", ".mcp.json"],
  ...[
    "~/.bashrc",
    "~/.bash_profile",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.gitconfig",
    "~/.config/**",
    "/etc/**"
  ]
]

const optionKinds: HookDefaults.OwnKinds<Options> = {
  write: "textList",
  read: "textList",
  roots: "textList",
  onMatch: "text",
  home: "text",
  ignoreCase: "flag",
  kinds: "any",
  realpath: "function"
}

/**
 * Rejects calls that change or read protected files, whichever tool makes them: by any spelling of the path, through
 * symbolic links, and in a shell line. A call that cannot be read is rejected too. Throws a `ConfigError` for an
 * invalid glob.
 *
 * It does not see what a program does by itself. Use a sandbox against that.
 *
 * @example
 * ```ts
 * import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
 *
 * const paths = ProtectedPaths.make({
 *   write: [...ProtectedPaths.defaults, "migrations/**"],
 *   read: [".env*", "~/.ssh/**"],
 *   roots: ["output"]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("protected-paths", options, optionKinds)
  const name = options.name ?? "protected-paths"
  const { read, write } = Result.getOrThrow(compileOptions(options, name))
  const { onMatch = "reject", roots } = options
  return HookDefaults.apply(options, {
    name,
    priority: 2,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event, ctx) => {
      const call = callOf(event)
      // Most calls have nothing to do with files, and then no rule matches.
      if (operationsOf(call, options.kinds).length === 0) return undefined
      const setting = guardSetting(options, ctx)
      for (const [rules, verb] of [[write, "change"], [read, "read"]] as const) {
        for (const rule of rules) {
          const verdict = Condition.evaluate(rule, call, setting)
          if (verdict === "no-match") continue
          const auxiliary = verdict === "match" ? "would" : "might"
          const reason = `${event.name} ${auxiliary} ${verb} ${rule.spec ?? "files"}, which is protected`
          return rejectOrAsk(onMatch, reason)
        }
      }
      if (roots !== undefined && mayWriteOutside(roots, event, setting)) {
        return rejectOrAsk(onMatch, `${event.name} might change files outside of ${roots.join(", ")}`)
      }
      return undefined
    }
  })
}

/** Whether a call changes, or may change, a file outside of all roots. */
const mayWriteOutside = (
  roots: ReadonlyArray<string>,
  event: PreToolCallEvent,
  setting: Condition.Setting
): boolean => {
  const exact = { ...setting, ignoreCase: false }
  const folders = roots.flatMap((root) => spellings(`${resolve(setting.cwd, root)}`, exact) ?? [])
  const isInside = (path: string) =>
    folders.some((folder) => path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`))
  const isAlwaysInside = (path: string, places: ReadonlyArray<string>) =>
    spellings(path, exact, places)?.every(isInside) ?? false
  const outside: FileQuery["glob"] = {
    test: (path) => !isInside(path),
    below: () => false,
    intersects: (glob, _place, places) => {
      const parts = glob.split("/")
      const start = parts.slice(0, parts.findIndex((part) => /[*?[{]/.test(part)))
      return parts.includes("..", start.length) || /\{[^}]*\//.test(glob) ||
        !isAlwaysInside(start.length === 0 ? "." : start.join("/") || "/", places)
    }
  }
  const query: FileQuery = { access: "write", glob: outside, onlyKnownPrograms: true }
  return operationsOf(callOf(event), setting.kinds).some(({ kind, value }) => {
    if (kind !== "write" && kind !== "shell") return false
    if (value === undefined) return true
    return kind === "write"
      ? !isAlwaysInside(value, [setting.cwd])
      : accessesFile(decompose(value), query, exact) !== "no-match"
  })
}

interface CompiledOptions {
  readonly read: ReadonlyArray<Condition.Rule>
  readonly write: ReadonlyArray<Condition.Rule>
}

const isRoot = (root: string): boolean => root !== "" && (isAbsolute(root) || !root.startsWith("~"))

const compileOptions = (
  { onMatch, read = [], roots, write = defaults }: Options,
  name: string
): Result.Result<CompiledOptions, ConfigError> =>
  Result.gen(function*() {
    yield* checkOptions(name, oneOf("onMatch", onMatch, ["reject", "ask"]), [
      "roots",
      roots,
      (folders: ReadonlyArray<string>) => folders.length > 0,
      "at least one folder, because without any nothing could be changed"
    ])
    const expected = "folders that are absolute or relative to the working folder"
    yield* checkOptions(name, ...(roots ?? []).map((root) => ["roots", root, isRoot, expected] as const))
    return {
      read: yield* Condition.parseAll(read.map((glob) => `read(${glob})`), `${name}.read`),
      write: yield* Condition.parseAll(write.map((glob) => `write(${glob})`), `${name}.write`)
    }
  })
