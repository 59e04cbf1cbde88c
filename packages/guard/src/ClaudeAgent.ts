/**
 * The guard inside the Claude Agent SDK: the agent keeps its loop and its tools, and the hooks of Belay decide about
 * messages, tool calls and sub-agents in its hook callbacks.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { denied, Events, failedGuard } from "./internal/claudeAgent/events.ts"
import type { Callback, CanUseTool, HookOutput } from "./internal/claudeAgent/payloads.ts"
import { checkCovered } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { checkOptions } from "./internal/options.ts"
import { Place } from "./internal/place.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type ClaudeAgentOptions = ConversationOptions

/** The options of `query` that the guard reads. */
interface Settings {
  readonly hooks?: { readonly [event: string]: unknown }
  // oxlint-disable-next-line typescript/no-explicit-any -- its types belong to the SDK
  readonly canUseTool?: any
}

/** One guarded conversation. @category models @since 0.2.0 */
export interface ClaudeAgent {
  readonly session: GuardSession
  /** Adds the guard to the `options` of `query`. Their types stay the same. Use them for one query at a time. */
  readonly options: <O extends object>(options: O) => O
}

/** What the guard can do in the Claude Agent SDK. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "claude-agent-sdk",
  places: {
    onSessionStart: "enforced",
    preTurn: "enforced",
    onPermission: "enforced",
    preToolCall: "enforced",
    postToolCall: "enforced",
    onToolDenied: "enforced",
    preDelegation: "enforced",
    preStop: "enforced",
    onSessionEnd: "enforced",
    // The user has read the answer when this runs.
    postTurn: "observed",
    concealMessages: "absent",
    onSignal: "absent"
  }
}

/** A person may take a day. After that, the SDK blocks the call. */
const personSeconds = 86_400

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that the SDK does not
 * have, such as those about requests to the model.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as ClaudeAgent from "@belay/guard/ClaudeAgent"
 *
 * const careful = defineHook({ name: "careful", tools: "Bash", preToolCall: () => HookAction.reject("no commands") })
 * const guarded = ClaudeAgent.make(Guard.make({ hooks: [careful] }))
 * const options = guarded.options({ model: "claude-sonnet-5" })
 * // query({ prompt: "Tidy up", options })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: ClaudeAgentOptions = {}): ClaudeAgent => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("@anthropic-ai/claude-agent-sdk", installed("@anthropic-ai/claude-agent-sdk"))
  checkCovered(guard, driver)
  const common = { driver: driver.name, seesRequests: false }
  const session = guard.session({ ...rest, ...common })
  const place = new Place({ guard, session, hints, approvedBy, describe: () => Promise.resolve({}) })
  const child = (id: string, agent: string): GuardSession =>
    guard.session({ id: `${session.id}/${id}`, agent, parent: session, ...common })
  return {
    session,
    options: (given) => {
      // The types of the SDK say the same in more words.
      const { canUseTool, hooks = {} } = given as Settings
      for (const event of ["PreToolUse", "PostToolUse"]) checkAlone(guard, hooks, event)
      const other: CanUseTool | undefined = canUseTool
      const events = new Events(place, other, child)
      const own = (Object.keys(failures) as Array<keyof typeof failures>).map((event) => {
        const before: unknown = hooks[event]
        const matcher = { hooks: [safe(events[event], failures[event])], timeout: personSeconds, onFailure: "block" }
        return [event, [...Array.isArray(before) ? before : [], matcher]]
      })
      return {
        ...given,
        hooks: { ...hooks, ...Object.fromEntries(own) },
        ...(other === undefined ? {} : { canUseTool: unchanged(other) })
      }
    }
  }
}

/** Hooks run side by side on the same call, and the last change wins. So nothing else may change calls or results. */
const checkAlone = ({ allowUnguarded }: Guard, hooks: { readonly [event: string]: unknown }, event: string): void => {
  if (hooks[event] === undefined || allowUnguarded.includes(event)) return
  throw new ConfigError({
    key: `hooks.${event}`,
    message: `hooks.${event}: another hook can change what the guard has allowed. Make it a hook of Belay, ` +
      `or accept the gap: allowUnguarded: ["${event}"]`
  })
}

/** What is answered if the guard itself fails. */
const failures = {
  UserPromptSubmit: (reason: string): HookOutput => ({ decision: "block", reason }),
  PreToolUse: denied,
  PostToolUse: (reason: string): HookOutput => ({
    continue: false,
    stopReason: reason,
    hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: reason } as never
  }),
  PostToolUseFailure: (stopReason: string): HookOutput => ({ continue: false, stopReason }),
  PostToolBatch: (stopReason: string): HookOutput => ({ continue: false, stopReason }),
  Stop: (stopReason: string): HookOutput => ({ continue: false, stopReason }),
  SubagentStart: (stopReason: string): HookOutput => ({ continue: false, stopReason }),
  SubagentStop: (stopReason: string): HookOutput => ({ continue: false, stopReason }),
  SessionEnd: (stopReason: string): HookOutput => ({ continue: false, stopReason })
}

const safe = (run: Callback, failed: (reason: string) => HookOutput): Callback => async (input, id, options) =>
  await run(input, id, options).catch((error: unknown) => failed(failedGuard(error)))

/** The SDK asks about calls that the guard has allowed. Whoever answers cannot change them any more. */
const unchanged = (other: CanUseTool): CanUseTool => async (name, input, options) => {
  const answer: unknown = await other(name, input, options)
  const { updatedInput } = Object(answer) as { readonly updatedInput?: unknown }
  return updatedInput === undefined || JSON.stringify(updatedInput) === JSON.stringify(input)
    ? answer
    : { behavior: "deny", message: "not run: its arguments were changed after the guard had allowed it" }
}
