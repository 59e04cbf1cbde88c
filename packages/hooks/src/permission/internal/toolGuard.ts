/** Code that the guards of tool calls share: the options to read a call, and its rejection. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { PreToolCallEvent } from "@belay/core/Tool"
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { Setting } from "../Condition.ts"
import type { Call, Kinds } from "./callOperations.ts"
import { withPathCache } from "./pathSpellings.ts"

/** Options of hooks that read the arguments of tool calls. @category models @since 0.1.0 */
export interface ToolReadingOptions {
  /** What the agent's tools do. Default: a guess from their names and arguments. */
  readonly kinds?: Kinds
  /** The absolute folder that `~` stands for. Default the home folder of the user who runs the process. */
  readonly home?: string
  /** Whether paths that differ only in letter case are the same path. Default true. */
  readonly ignoreCase?: boolean
  /**
   * Resolves the symbolic links of an absolute path; returns `undefined` for a path that does not exist. Default: asks
   * the file system.
   */
  readonly realpath?: (path: string) => string | undefined
}

/** The setting in which a guard reads a call. */
export const guardSetting = (
  { home, ignoreCase, kinds, realpath }: ToolReadingOptions,
  ctx: HookContext
): Setting =>
  withPathCache({
    use: "guard",
    cwd: resolve(ctx.cwd),
    home: home ?? homedir(),
    ...(kinds === undefined ? {} : { kinds }),
    ...(ignoreCase === undefined ? {} : { ignoreCase }),
    ...(realpath === undefined ? {} : { realpath })
  })

/** The call in the form that rules are matched against. */
export const callOf = ({ args, name, tool }: PreToolCallEvent): Call => ({
  tool: name,
  args,
  readOnly: tool.readOnly ?? false
})

/** Rejects a call, or asks a person about it. */
export const rejectOrAsk = (how: "reject" | "ask", reason: string): HookAction.Reject | HookAction.Ask =>
  how === "ask" ? HookAction.ask(reason) : HookAction.reject(reason)
