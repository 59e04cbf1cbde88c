/** The types for entries of settings files. */
import type * as Condition from "@belay/hooks/Condition"
import type { Entry, Warning } from "../../../engine/Dialect.ts"
import type { Origin } from "../../shared/system.ts"
import type { EventName } from "../event/events.ts"
import type * as Matcher from "./Matcher.ts"

/** One entry of a settings file, with the conditions under which it runs. @category models @since 0.1.0 */
export interface Handler extends Entry {
  readonly event: EventName
  readonly matcher: Matcher.Matcher
  /** The compiled `if`. `never` if it is invalid, so that it never matches. */
  readonly rule?: Condition.Rule | "never"
  /** The timeout in seconds. Default: the timeout of the event. */
  readonly timeout?: number
  readonly async?: boolean
  /** Exit code 2 wakes the agent. The entry is then also `async`. */
  readonly rewake?: boolean
  /** The entry runs only once in a session. Read in the front matter of skills only. */
  readonly once?: boolean
  readonly origin?: Origin
  /** More environment variables for the command. */
  readonly env?: { readonly [name: string]: string }
}

/** The rules of a settings file about tool calls. @category models @since 0.1.0 */
export interface Permissions {
  /** Not loaded: a settings file can only tighten what the agent may do. */
  readonly allow: ReadonlyArray<string>
  readonly ask: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
  /** The folder to which `/` refers in rules. */
  readonly folder?: string
}

/** The content of a settings file. @category models @since 0.1.0 */
export interface HookConfig {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
  /** If this is true in a managed file, only hooks of managed files run. */
  readonly allowManagedHooksOnly: boolean
  /** The URLs to which entries of type `http` may send requests. `*` matches any characters. */
  readonly allowedHttpHookUrls?: ReadonlyArray<string>
  /** The environment variables that the headers of entries of type `http` may contain. */
  readonly httpHookAllowedEnvVars?: ReadonlyArray<string>
  /** Environment variables for commands. Those in a project's files are only for entries of the project. */
  readonly env?: { readonly [name: string]: string }
  /** The rules of `permissions`. Absent if there are none. */
  readonly permissions?: Permissions
}

/** Options for reading a settings file. @category models @since 0.1.0 */
export interface ReadOptions {
  /** The folder to which `/` refers in rules such as `Edit(/docs/**)`. */
  readonly folder?: string
  /** The system whose rules are used. Default `claude`. */
  readonly flavor?: "claude" | "codex"
  readonly origin?: Origin
  /** A text before the key of each warning, such as `plugin.json: `. */
  readonly prefix?: string
}
