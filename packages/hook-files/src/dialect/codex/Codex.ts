/**
 * Runs the entries of Codex's `hooks.json` as one hook. The files are similar to those of Claude Code, but Codex reads
 * answers more strictly.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import { makeFor, type Options } from "../claude/ClaudeCode.ts"
import * as HookConfig from "../claude/config/HookConfig.ts"
import { codex } from "./flavor.ts"

export type { Options } from "../claude/ClaudeCode.ts"

/**
 * Reads the text of a `hooks.json`. A malformed part becomes a warning that names its key, and the rest is used. It
 * never throws. `folder` is the folder to which `/` refers in rules such as `Edit(/docs/**)`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Codex.decode",
  ["text", "file", "folder"],
  (text: string, file: string, folder?: string): HookConfig.HookConfig =>
    HookConfig.decode(text, file, defined({ flavor: "codex" as const, folder }))
)

/**
 * Makes a hook that runs the entries of Codex's files. It works like `ClaudeCode.make`, with these differences:
 *
 * - Shell lines run in the login shell of the user.
 * - JSON counts only after exit code 0, and exit code 2 blocks only with a reason on standard error.
 * - An answer with an unknown key is ignored. So is a `PreToolUse` answer with `ask`, or with `allow` and no
 *   `updatedInput`.
 *
 * Throws a `ConfigError` if a number is out of its range.
 *
 * @example
 * ```ts
 * import * as Codex from "@belay/hook-files/Codex"
 *
 * const text =
 *   `{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh", "timeout": 30 }] }] } }`
 * const { handlers } = Codex.decode(text, ".codex/hooks.json")
 * const hook = Codex.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => makeFor({ name: "codex-hooks", ...options }, codex, "codex")
