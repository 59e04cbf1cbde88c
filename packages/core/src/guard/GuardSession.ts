/**
 * The guard of a conversation: the chain of hooks with its policy, state, questions and records, without a loop and
 * without a model. A driver is what has the loop: another SDK, a command-line agent, or a loop of your own. It tells
 * the guard what is about to happen and what has happened, and does what the verdict says.
 *
 * @since 0.2.0
 */
import * as Result from "effect/Result"
import { defined } from "../data/option/Fields.ts"
import { checkKinds, checkObject, type OptionKinds } from "../data/option/OptionCheck.ts"
import type { GuardOptions, GuardSession, GuardSessionOptions, SessionGuard } from "./Driver.ts"
import { optionKinds as kinds } from "./internal/session/sessionAgent.ts"
import { guardOf, sessionKinds } from "./internal/session/sessionGuard.ts"

export type { GuardOptions, GuardSession, GuardSessionOptions, SessionGuard }

/** The options of a guard, for the `checkKinds` of a function that takes more. @category models @since 0.2.0 */
export const optionKinds: OptionKinds<GuardOptions> = kinds

/**
 * Makes a guard: the compiled chain of hooks, for any number of sessions. Throws a `ConfigError` or a `ChainError` if
 * the options are wrong.
 *
 * @category constructors
 * @since 0.2.0
 */
export const guard = (options: GuardOptions = {}): SessionGuard => Result.getOrThrow(guardOf(options))

/**
 * Makes one session with a guard of its own.
 *
 * @example
 * ```ts
 * import { defineHook } from "@belay/core/AgentHook"
 * import * as GuardSession from "@belay/core/GuardSession"
 * import * as HookAction from "@belay/core/HookAction"
 *
 * const noDeletes = defineHook({
 *   name: "no-deletes",
 *   preToolCall: ({ name }) => name === "delete_file" ? HookAction.reject("files are not deleted here") : undefined
 * })
 * const session = GuardSession.make({ hooks: [noDeletes] })
 * const verdict = await session.toolCall({ id: "1", name: "delete_file", args: { path: "a.txt" } })
 * // { type: "deny", reason: "files are not deleted here", by: "no-deletes", context: [] }
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: GuardOptions & GuardSessionOptions = {}): GuardSession => {
  Result.getOrThrow(checkObject("GuardSession.make", options, "options"))
  Result.getOrThrow(checkKinds("guard", options, { ...kinds, ...sessionKinds }))
  const { agent, cwd, id, parent, parentCall, ...rest } = options
  return guard(defined({ ...rest, cwd })).session(defined({ agent, id, parent, parentCall }))
}
