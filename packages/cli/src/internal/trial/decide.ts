/** Returns the decision of the hooks as one word. */
import type { Json } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import type { Occasion } from "@belay/hook-files/Guide"
import type { DryRun } from "@belay/testing/TestHook"

export interface Decision {
  readonly decision: "allow" | "deny" | "ask" | "block" | "stop" | "respond" | "continue"
  readonly reason?: string
  readonly updatedInput?: Json
  readonly output?: Json
  readonly context: ReadonlyArray<string>
}

export const decide = (occasion: Occasion, run: DryRun): Decision => {
  const { action, answer, policy, reason, seen, value } = run
  const why = reason === undefined ? {} : { reason }
  const context = [...seen.injected, ...begun(occasion, value)]
  const usual = usualOf(occasion)
  const is = (decision: Decision["decision"], more: Partial<Decision> = {}): Decision => ({
    decision,
    ...more,
    context
  })
  switch (answer) {
    case "Fail":
      return is(
        policy === "open" || policy === undefined
          ? usual
          : occasion === "tool-call" || occasion === "permission"
          ? "deny"
          : "block",
        why
      )
    case "Abort":
      return is("stop", why)
    case "Reject":
      return is(occasion === "tool-call" || occasion === "permission" ? "deny" : "block", why)
    case "Ask": {
      // Arguments of an action are JSON.
      const args = action !== undefined && "args" in action ? action.args as Json : undefined
      return is("ask", { ...why, ...(args === undefined ? {} : { updatedInput: args }) })
    }
    case "Respond":
      // The output of a hook is JSON.
      return is("respond", { output: value as Json })
    case "Replace":
    case "Transform":
      return updatedValue(occasion, value, is)
    default:
      if ((occasion === "stop" || occasion === "subagent-stop") && seen.followUps.length > 0) {
        return is("block", { reason: seen.followUps.join("\n") })
      }
      return is(usual)
  }
}

const updatedValue = (
  occasion: Occasion,
  value: unknown,
  is: (decision: Decision["decision"], more?: Partial<Decision>) => Decision
): Decision => {
  // Arguments of a call are JSON.
  if (occasion === "tool-call") return is("allow", { updatedInput: value as Json })
  if (occasion === "permission") {
    // The value of this point is a decision.
    const { reason, type } = value as { readonly type: "allow" | "deny" | "ask"; readonly reason?: string }
    return is(type, reason === undefined ? {} : { reason })
  }
  if (occasion === "session-start") return is("continue")
  if (occasion === "tool-result" || occasion === "tool-failure") {
    // The value of this point is a tool result.
    const result = value as { readonly ok: boolean; readonly output?: Json; readonly error?: string }
    return is("continue", { output: result.ok ? result.output ?? null : result.error ?? null })
  }
  // The output of a hook is JSON.
  return is("continue", { output: value as Json })
}

/** The context that a session starts with. */
const begun = (occasion: Occasion, value: unknown): ReadonlyArray<string> =>
  occasion !== "session-start" || typeof value !== "object" || value === null || !("context" in value)
    ? []
    // The value of this point has messages.
    : (value.context as ReadonlyArray<Message>).map(text)

/** The decision if no hook decides. */
const usualOf = (occasion: Occasion): Decision["decision"] =>
  occasion === "tool-call" ? "allow" : occasion === "permission" ? "ask" : "continue"

/** Whether an entry decided. */
export const isDecided = (occasion: Occasion, { decision }: Decision): boolean => decision !== usualOf(occasion)

/** Whether the exit code is 1. */
export const isBlocked = ({ decision }: Decision): boolean =>
  decision === "deny" || decision === "block" || decision === "stop"
