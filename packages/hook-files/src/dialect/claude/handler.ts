/** The entries of settings files, and what a file says. */
import type * as Condition from "@belay/hooks/Condition"
import type { Entry, Warning } from "../../Dialect.ts"
import type { EventName } from "./events.ts"
import type * as Matcher from "./Matcher.ts"

/** One entry with its conditions. @category models @since 0.1.0 */
export interface Handler extends Entry {
  readonly event: EventName
  readonly matcher: Matcher.Matcher
  /** The compiled `if`; `never` where there is none that could match. */
  readonly rule?: Condition.Rule | "never"
  /** Seconds. */
  readonly timeout?: number
  readonly async?: boolean
  /** With `async`: exit code 2 wakes the agent. */
  readonly rewake?: boolean
  /** The entry runs once in a session. */
  readonly once?: boolean
  readonly origin?: Origin
}

/** The plugin, skill or agent that an entry belongs to. @category models @since 0.1.0 */
export interface Origin {
  readonly type: "plugin" | "skill" | "agent"
  readonly name: string
  /** The folder of the plugin, the skill or the agent's file. */
  readonly root: string
  /** Where a plugin keeps what it writes. */
  readonly data?: string
}

/** The contents of a file. @category models @since 0.1.0 */
export interface HookConfig {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
  /** Of a managed file: nobody else's hooks count. */
  readonly allowManagedHooksOnly: boolean
  /** Where entries of type `http` may send to, `*` for any characters. */
  readonly allowedHttpHookUrls?: ReadonlyArray<string>
  /** Variables that headers of such entries may name. */
  readonly httpHookAllowedEnvVars?: ReadonlyArray<string>
  /** Variables for commands. Those of a project do not count. */
  readonly env?: { readonly [name: string]: string }
}

/** How a file is to be read. @category models @since 0.1.0 */
export interface ReadOptions {
  /** Where rules such as `Edit(/docs/**)` start. */
  readonly folder?: string
  /** As Claude Code reads it (the default), or as Codex does. */
  readonly flavor?: "claude" | "codex"
  readonly origin?: Origin
  /** What goes before each key, such as `plugin.json: `. */
  readonly prefix?: string
}
