/**
 * Keeps tools away from files: by globs that nothing may write or read, and by folders that nothing may write outside
 * of.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import { isAbsolute, resolve } from "node:path"
import * as HookDefaults from "../HookDefaults.ts"
import * as Condition from "./Condition.ts"
import { factsOf } from "./internal/facts.ts"
import { type PathGlob, spellings } from "./internal/paths.ts"
import { callOf, type Reading, settingOf, stop } from "./internal/setting.ts"
import { decompose } from "./internal/shell.ts"
import { touches } from "./internal/touched.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Reading {
  /** What no tool may change: a name at any depth, a path below any folder, `/…`, or `~/…`. Default `defaults`. */
  readonly write?: ReadonlyArray<string>
  /** What no tool may read. Default none. */
  readonly read?: ReadonlyArray<string>
  /**
   * Folders, relative to the working folder: only what is inside by every name it has may be changed. Default: no such
   * limit.
   */
  readonly roots?: ReadonlyArray<string>
  /** Whether a call is refused, or a person is asked about it. Default `reject`. */
  readonly onMatch?: "reject" | "ask"
}

/** Secrets, what decides about the agent itself, and what others run unasked. @category defaults @since 0.1.0 */
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

/**
 * Refuses calls that change or read protected files, whatever tool is used: by any spelling of the path, through
 * symbolic links, and in
 * a line of shell. What cannot be told is refused too. What a program does of its own accord is not seen: that takes a
 * sandbox.
 * Throws a `ConfigError` for a glob that is none.
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
  const name = options.name ?? "protected-paths"
  const { read, write } = Result.getOrThrow(check(options, name))
  const { onMatch = "reject", roots } = options
  return HookDefaults.apply(options, {
    name,
    priority: 2,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event, ctx) => {
      const setting = settingOf(options, ctx)
      const call = callOf(event)
      for (const [rules, verb] of [[write, "change"], [read, "read"]] as const) {
        for (const rule of rules) {
          const verdict = Condition.evaluate(rule, call, setting)
          if (verdict === "no-match") continue
          const whether = verdict === "match" ? "would" : "might"
          return stop(onMatch, `${event.name} ${whether} ${verb} ${rule.spec ?? "files"}, which is protected`)
        }
      }
      if (roots !== undefined && leaves(event, roots, setting)) {
        return stop(onMatch, `${event.name} might change files outside of ${roots.join(", ")}`)
      }
      return undefined
    }
  })
}

/** Whether a call changes, or may change, something outside of every root. */
const leaves = (event: PreToolCallEvent, roots: ReadonlyArray<string>, setting: Condition.Setting): boolean => {
  const exact = { ...setting, ignoreCase: false }
  const folders = roots.flatMap((root) => spellings(`${resolve(setting.cwd, root)}`, exact) ?? [])
  const inside = (path: string) =>
    folders.some((folder) => path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`))
  const isInside = (path: string, places: ReadonlyArray<string>) =>
    spellings(path, exact, places)?.every(inside) ?? false
  const outside: PathGlob = {
    text: "",
    test: (path) => !inside(path),
    below: () => false,
    meets: (glob, _place, places) => {
      const parts = glob.split("/")
      const fixed = parts.slice(0, parts.findIndex((part) => /[*?[{]/.test(part)))
      return parts.includes("..", fixed.length) || /\{[^}]*\//.test(glob) ||
        !isInside(fixed.length === 0 ? "." : fixed.join("/") || "/", places)
    }
  }
  return factsOf(callOf(event), setting.kinds).some(({ kind, value }) =>
    kind === "write"
      ? value === undefined || !isInside(value, [setting.cwd])
      : kind === "shell" &&
        (value === undefined || touches(decompose(value), "write", outside, exact, true) !== "no-match")
  )
}

interface Checked {
  readonly read: ReadonlyArray<Condition.Rule>
  readonly write: ReadonlyArray<Condition.Rule>
}

const check = (
  { onMatch, read = [], roots, write = defaults }: Options,
  name: string
): Result.Result<Checked, ConfigError> => {
  const refuse = (key: string, message: string) =>
    Result.fail(new ConfigError({ key: `${name}.${key}`, message: `${name}.${key}: ${message}` }))
  if (onMatch !== undefined && onMatch !== "reject" && onMatch !== "ask") {
    return refuse("onMatch", `expected reject or ask, found ${String(onMatch)}`)
  }
  if (roots?.length === 0) return refuse("roots", "expected a folder: without any, nothing could be changed at all")
  const odd = roots?.find((root) => root === "" || (!isAbsolute(root) && root.startsWith("~")))
  if (odd !== undefined) {
    return refuse("roots", `expected folders, absolute or relative to the working folder, found ${JSON.stringify(odd)}`)
  }
  const rules = (kind: "read" | "write", globs: ReadonlyArray<string>) =>
    Condition.parseAll(globs.map((glob) => `${kind}(${glob})`), `${name}.${kind}`)
  return Result.all({ read: rules("read", read), write: rules("write", write) })
}
