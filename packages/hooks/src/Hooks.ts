/**
 * Makes a list of ready-made hooks that suits most agents.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookContext } from "@belay/core/HookContext"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as DataFlow from "./flow/DataFlow.ts"
import { buildFlow } from "./flow/internal/buildFlow.ts"
import { commandCheck } from "./flow/internal/coding.ts"
import * as PromptInjection from "./guardrail/PromptInjection.ts"
import * as Redaction from "./guardrail/Redaction.ts"
import * as Secrets from "./guardrail/Secrets.ts"
import * as TextNormalizer from "./guardrail/TextNormalizer.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import * as Budget from "./limit/Budget.ts"
import * as LoopDetector from "./limit/LoopDetector.ts"
import * as AuditLog from "./operations/AuditLog.ts"
import * as Approval from "./permission/Approval.ts"
import * as DestructiveCommands from "./permission/DestructiveCommands.ts"
import * as EgressGuard from "./permission/EgressGuard.ts"
import * as ProtectedPaths from "./permission/ProtectedPaths.ts"
import * as ToolErrors from "./resilience/ToolErrors.ts"

/** Options of `Hooks.safeDefaults`. @category models @since 0.1.0 */
export interface Options {
  /** Answers the questions of these hooks at once. Default: a question suspends the run. */
  readonly ask?: Approval.Options["ask"]
  /** The limits of the budget. Default: 200 model calls and one hour for a run. */
  readonly limits?: Budget.Options["limits"]
  /** Prices by model, which a limit on money needs. Default none. */
  readonly prices?: NonNullable<Budget.Options["prices"]>
  /**
   * Whether personal data is replaced by placeholders, which become the values again for the user only. Default false.
   */
  readonly personalData?: boolean
  /** Receives the entries of an audit log. Default: no audit log. */
  readonly audit?: AuditLog.Sink
}

const optionKinds: OptionKinds<Options> = {
  ask: "any",
  limits: "list",
  prices: "object",
  personalData: "flag",
  audit: "any"
}

/**
 * Makes the hooks that every agent should have:
 *
 * - A person is asked before a tool acts with a value that stands only in what the agent has read.
 * - Invisible characters are removed from messages, and injected instructions from tool results.
 * - Secrets are sent neither to the model nor to tools.
 * - Protected paths are not written, and private addresses are not reached.
 * - A person is asked about destructive commands and tools that declare to be destructive.
 * - Loops are detected and stopped, and a run has a budget.
 * - The errors of tools are made readable for the model.
 *
 * To leave out or replace a hook, filter the list by its name.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { Hooks, TerminalApproval } from "@belay/hooks"
 * import { OpenAiCompatible } from "@belay/providers"
 *
 * const agent = createAgent({
 *   provider: OpenAiCompatible.fromEnv(),
 *   hooks: Hooks.safeDefaults({ ask: TerminalApproval.ask() })
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const safeDefaults = (options: Options = {}): ReadonlyArray<AgentHook> => {
  Result.getOrThrow(checkKinds("Hooks.safeDefaults", options, optionKinds))
  const { ask, audit, limits = [{ scope: "run", calls: 200, time: "1 hour" }], personalData = false, prices } = options
  return [
    TextNormalizer.make(),
    dataFlow(ask),
    PromptInjection.make({ input: "warn", toolResults: "rewrite" }),
    ...(personalData ? [Redaction.make()] : []),
    Secrets.make(),
    ProtectedPaths.make(),
    EgressGuard.make(),
    approval(ask),
    LoopDetector.make(),
    Budget.make(prices === undefined ? { limits } : { limits, prices }),
    ToolErrors.make(),
    ...(audit === undefined ? [] : [AuditLog.make({ sink: audit })])
  ]
}

/** Asks about values that nobody named. An agent that writes code is better served by `DataFlow.coding`. */
const dataFlow = (ask: Options["ask"]): AgentHook => {
  if (ask === undefined) return DataFlow.make()
  const asker = Approval.make({ tools: "*", ask })
  const hook = buildFlow({}, {
    special: commandCheck,
    answer: (call, ctx) => {
      const question = asker.preToolCall?.(call, ctx)
      return typeof question === "object" && question !== null && "answer" in question ? question.answer : undefined
    }
  })
  return identifiedBy(ask, hook)
}

/** Asks about destructive commands, and about tools that declare to be destructive. */
const approval = (ask: Options["ask"]): AgentHook => {
  const commands = DestructiveCommands.make({ onMatch: "ask" })
  const why = (call: PreToolCallEvent, ctx: HookContext): string | undefined => {
    const found = commands.preToolCall?.(call, ctx)
    if (typeof found === "object" && found !== null && "_tag" in found && found._tag === "Ask") return found.reason
    return call.tool.destructive === true ? `${call.name} may destroy something` : undefined
  }
  const hook = Approval.make(withoutUndefined<Approval.Options>({
    tools: "*",
    when: (call, ctx) => why(call, ctx) !== undefined,
    reason: (call, ctx) => why(call, ctx) ?? `${call.name} needs approval`,
    ask
  }))
  return identifiedBy(ask, hook)
}

/** Two lists with the same `ask` have the same hook, although each has functions of its own. */
const identifiedBy = (ask: Options["ask"], hook: AgentHook): AgentHook => ({
  ...hook,
  identity: { kind: hook.identity?.kind ?? hook.name, options: { preset: "safeDefaults", ask } }
})
