/** What guards of tool calls have in common: where they look from, and how they refuse. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { PreToolCallEvent } from "@belay/core/Tool"
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { Setting } from "../Condition.ts"
import type { Call, Kinds } from "./facts.ts"
import { once } from "./paths.ts"

/** Options of everything that reads tool calls. @category models @since 0.1.0 */
export interface Reading {
  /** What the agent's tools do, where their names and arguments do not say it. */
  readonly kinds?: Kinds
  /** What `~` stands for. Default the home folder of the process's user. */
  readonly home?: string
  /** Whether paths that differ in letter case only are one. Default true. */
  readonly ignoreCase?: boolean
  /** The path behind symbolic links, or nothing when there is none. Default the file system's. */
  readonly realpath?: (path: string) => string | undefined
}

/** Where a call is made, as a guard sees it. */
export const settingOf = ({ home, ignoreCase, kinds, realpath }: Reading, ctx: HookContext): Setting =>
  once({
    use: "guard",
    cwd: resolve(ctx.cwd),
    home: home ?? homedir(),
    ...(kinds === undefined ? {} : { kinds }),
    ...(ignoreCase === undefined ? {} : { ignoreCase }),
    ...(realpath === undefined ? {} : { realpath })
  })

/** A call as rules see it. */
export const callOf = ({ args, name, tool }: PreToolCallEvent): Call => ({
  tool: name,
  args,
  readOnly: tool.readOnly ?? false
})

/** Refuses a call, or has a person asked about it. */
export const stop = (how: "reject" | "ask", reason: string): HookAction.Reject | HookAction.Ask =>
  how === "ask" ? HookAction.ask(reason) : HookAction.reject(reason)
