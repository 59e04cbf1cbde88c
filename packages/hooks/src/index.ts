/**
 * Ready-made hooks. Each `make` returns a plain object, so that its name, its place or its mode can be changed by spreading it.
 *
 * @example
 * ```ts
 * import { CostTracker, InputGuardrail } from "@belay/hooks"
 *
 * const hooks = [
 *   { ...InputGuardrail.make({ patterns: ["(?i)password"] }), name: "no-passwords", mode: "shadow" as const },
 *   CostTracker.make({ costPerInputToken: 1e-6, costPerOutputToken: 4e-6, limit: 2 })
 * ]
 * ```
 * @since 0.1.0
 */
export * as Address from "./Address.ts"
export * as Approval from "./Approval.ts"
export * as ArgumentSchema from "./ArgumentSchema.ts"
export * as AuditFile from "./AuditFile.ts"
export * as AuditLog from "./AuditLog.ts"
export * as Budget from "./Budget.ts"
export * as Common from "./Common.ts"
export * as Condition from "./Condition.ts"
export * as ContextEditing from "./ContextEditing.ts"
export * as ContextInjector from "./ContextInjector.ts"
export * as CostTracker from "./CostTracker.ts"
export * as ClaudeCode from "./declarative/dialect/ClaudeCode.ts"
export * as Kodelet from "./declarative/dialect/Kodelet.ts"
export * as Discovery from "./declarative/Discovery.ts"
export * as HookConfig from "./declarative/HookConfig.ts"
export * as HookFiles from "./declarative/HookFiles.ts"
export * as Matcher from "./declarative/Matcher.ts"
export * as Outcome from "./declarative/Outcome.ts"
export * as Command from "./declarative/runner/Command.ts"
export * as Trust from "./declarative/Trust.ts"
export * as DestructiveCommands from "./DestructiveCommands.ts"
export * as EgressGuard from "./EgressGuard.ts"
export * as ErrorKnowledge from "./ErrorKnowledge.ts"
export * as Hooks from "./Hooks.ts"
export * as HttpGuard from "./HttpGuard.ts"
export * as InputGuardrail from "./InputGuardrail.ts"
export * as Ledger from "./Ledger.ts"
export * as LoopDetector from "./LoopDetector.ts"
export * as ModelCallLimit from "./ModelCallLimit.ts"
export * as ModelRetry from "./ModelRetry.ts"
export * as OutputGuardrail from "./OutputGuardrail.ts"
export * as Pattern from "./Pattern.ts"
export * as PermissionRules from "./PermissionRules.ts"
export * as Projection from "./Projection.ts"
export * as PromptInjection from "./PromptInjection.ts"
export * as ProtectedPaths from "./ProtectedPaths.ts"
export * as ProviderFallback from "./ProviderFallback.ts"
export * as Redaction from "./Redaction.ts"
export * as RegexFilter from "./RegexFilter.ts"
export * as ResultOffloader from "./ResultOffloader.ts"
export * as Secrets from "./Secrets.ts"
export * as SessionMemory from "./SessionMemory.ts"
export * as SessionRotation from "./SessionRotation.ts"
export * as Shadow from "./Shadow.ts"
export * as SlidingWindow from "./SlidingWindow.ts"
export * as Summarizer from "./Summarizer.ts"
export * as TerminalApproval from "./TerminalApproval.ts"
export * as TextNormalizer from "./TextNormalizer.ts"
export * as Timeouts from "./Timeouts.ts"
export * as TokenLimit from "./TokenLimit.ts"
export * as ToolArguments from "./ToolArguments.ts"
export * as ToolCallLimit from "./ToolCallLimit.ts"
export * as ToolErrors from "./ToolErrors.ts"
export * as ToolRetry from "./ToolRetry.ts"
export * as UsageReport from "./UsageReport.ts"
