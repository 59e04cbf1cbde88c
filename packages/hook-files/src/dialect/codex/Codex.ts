/**
 * Hooks of Codex as one hook: its files look like those of Claude Code, and are read more strictly.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { makeFor, type Options } from "../claude/ClaudeCode.ts"
import * as HookConfig from "../claude/HookConfig.ts"
import { codex } from "./flavor.ts"

export type { Options } from "../claude/ClaudeCode.ts"

/**
 * Reads the text of a `hooks.json`. What is malformed becomes a warning that names the key, and the rest counts.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string, folder?: string): HookConfig.HookConfig =>
  HookConfig.decode(text, file, { flavor: "codex", ...(folder === undefined ? {} : { folder }) })

/**
 * Makes a hook of commands. As with `ClaudeCode.make` all that fit an event run at once; but each line runs in the
 * user's own login shell, an answer with a key that is not known does not count at
 * all, neither does one that asks or allows without changing the input, JSON counts after exit code 0 only, and code 2
 * blocks only with a reason on standard error.
 *
 * @example
 * ```ts
 * import * as Codex from "@belay/hook-files/Codex"
 *
 * const text = `{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh", "timeout": 30 }] }] } }`
 * const { handlers } = Codex.decode(text, ".codex/hooks.json")
 * const hook = Codex.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => makeFor({ name: "codex-hooks", ...options }, codex)
