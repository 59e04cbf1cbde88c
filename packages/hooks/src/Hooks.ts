/**
 * Ready-made hooks in one line.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookContext } from "@belay/core/HookContext"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as PromptInjection from "./guardrail/PromptInjection.ts"
import * as Redaction from "./guardrail/Redaction.ts"
import * as Secrets from "./guardrail/Secrets.ts"
import * as TextNormalizer from "./guardrail/TextNormalizer.ts"
import * as Budget from "./limit/Budget.ts"
import * as LoopDetector from "./limit/LoopDetector.ts"
import * as AuditLog from "./operations/AuditLog.ts"
import * as Approval from "./permission/Approval.ts"
import * as DestructiveCommands from "./permission/DestructiveCommands.ts"
import * as EgressGuard from "./permission/EgressGuard.ts"
import * as ProtectedPaths from "./permission/ProtectedPaths.ts"
import * as ToolErrors from "./resilience/ToolErrors.ts"

/** @category models @since 0.1.0 */
export interface Options {
  /** Answers questions in place. Without it a question suspends the run. */
  readonly ask?: Approval.Options["ask"]
  /** What a run may use. Default: 200 model calls and an hour. */
  readonly limits?: Budget.Options["limits"]
  /** With a limit on money. */
  readonly prices?: NonNullable<Budget.Options["prices"]>
  /** Puts placeholders in place of personal data, which the user alone gets back. Default false. */
  readonly personalData?: boolean
  /** Writes down what the agent does. Default: nowhere. */
  readonly audit?: AuditLog.Sink
}

/**
 * Makes the hooks that an agent should not be without: hidden characters are stripped from messages; instructions in
 * tool results are marked as data; secrets go neither to the
 * model nor to a tool; protected paths are not written; destructive commands, and tools that say they are destructive,
 * are asked about; private addresses are not reached;
 * loops are noticed, steered and stopped; a run has a budget; raw tool errors become feedback. Leave one out, or put
 * another in its place, by its name.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { Hooks, TerminalApproval } from "@belay/hooks"
 * import { OpenAiCompatible } from "@belay/providers"
 *
 * const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), hooks: Hooks.safeDefaults({ ask: TerminalApproval.ask() }) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const safeDefaults = (options: Options = {}): ReadonlyArray<AgentHook> => {
  const { ask, audit, limits = [{ scope: "run", calls: 200, time: "1 hour" }], personalData = false, prices } = options
  return [
    TextNormalizer.make(),
    PromptInjection.make({ input: "warn", toolResults: "rewrite" }),
    ...(personalData ? [Redaction.make()] : []),
    Secrets.make(),
    ProtectedPaths.make(),
    EgressGuard.make(),
    approval(ask),
    LoopDetector.make(),
    Budget.make({ limits, ...(prices === undefined ? {} : { prices }) }),
    ToolErrors.make(),
    ...(audit === undefined ? [] : [AuditLog.make({ sink: audit })])
  ]
}

/** Asks about tools that say they are destructive, and about commands that are. */
const approval = (ask: Options["ask"]): AgentHook => {
  const commands = DestructiveCommands.make({ onMatch: "ask" })
  const why = (call: PreToolCallEvent, ctx: HookContext): string | undefined => {
    const found = commands.preToolCall?.(call, ctx)
    if (typeof found === "object" && found !== null && "_tag" in found && found._tag === "Ask") return found.reason
    return call.tool.destructive === true ? `${call.name} may destroy something` : undefined
  }
  return Approval.make({
    tools: "*",
    when: (call, ctx) => why(call, ctx) !== undefined,
    reason: (call, ctx) => why(call, ctx) ?? `${call.name} needs approval`,
    ...(ask === undefined ? {} : { ask })
  })
}
