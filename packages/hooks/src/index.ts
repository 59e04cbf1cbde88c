/**
 * Ready-made hooks. Each `make` returns a plain object, so that its name, its place or its mode can be changed by
 * spreading it.
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
export * as ContextEditing from "./context/ContextEditing.ts"
export * as ContextInjector from "./context/ContextInjector.ts"
export * as Projection from "./context/Projection.ts"
export * as ResultOffloader from "./context/ResultOffloader.ts"
export * as SessionRotation from "./context/SessionRotation.ts"
export * as SlidingWindow from "./context/SlidingWindow.ts"
export * as Summarizer from "./context/Summarizer.ts"
export * as DataFlow from "./flow/DataFlow.ts"
export * as ArgumentSchema from "./guardrail/ArgumentSchema.ts"
export * as InputGuardrail from "./guardrail/InputGuardrail.ts"
export * as OutputGuardrail from "./guardrail/OutputGuardrail.ts"
export * as Pattern from "./guardrail/Pattern.ts"
export * as PromptInjection from "./guardrail/PromptInjection.ts"
export * as Redaction from "./guardrail/Redaction.ts"
export * as RegexFilter from "./guardrail/RegexFilter.ts"
export * as Secrets from "./guardrail/Secrets.ts"
export * as TextNormalizer from "./guardrail/TextNormalizer.ts"
export * as ToolArguments from "./guardrail/ToolArguments.ts"
export * as HookDefaults from "./HookDefaults.ts"
export * as Hooks from "./Hooks.ts"
export * as Address from "./http/Address.ts"
export * as HttpGuard from "./http/HttpGuard.ts"
export * as Budget from "./limit/Budget.ts"
export * as CostTracker from "./limit/CostTracker.ts"
export * as Ledger from "./limit/Ledger.ts"
export * as LoopDetector from "./limit/LoopDetector.ts"
export * as ModelCallLimit from "./limit/ModelCallLimit.ts"
export * as Timeouts from "./limit/Timeouts.ts"
export * as TokenLimit from "./limit/TokenLimit.ts"
export * as ToolCallLimit from "./limit/ToolCallLimit.ts"
export * as UsageReport from "./limit/UsageReport.ts"
export * as ErrorKnowledge from "./memory/ErrorKnowledge.ts"
export * as SessionMemory from "./memory/SessionMemory.ts"
export * as AuditFile from "./operations/AuditFile.ts"
export * as AuditLog from "./operations/AuditLog.ts"
export * as HostEvents from "./operations/HostEvents.ts"
export * as Approval from "./permission/Approval.ts"
export * as Condition from "./permission/Condition.ts"
export * as DestructiveCommands from "./permission/DestructiveCommands.ts"
export * as EgressGuard from "./permission/EgressGuard.ts"
export * as PermissionRules from "./permission/PermissionRules.ts"
export * as ProtectedPaths from "./permission/ProtectedPaths.ts"
export * as TerminalApproval from "./permission/TerminalApproval.ts"
export * as ModelRetry from "./resilience/ModelRetry.ts"
export * as ProviderFallback from "./resilience/ProviderFallback.ts"
export * as Shadow from "./resilience/Shadow.ts"
export * as ToolErrors from "./resilience/ToolErrors.ts"
export * as ToolRetry from "./resilience/ToolRetry.ts"
