/** Every ready-made hook, with options that make it work on each message, answer, call and result. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as Hooks from "@belay/hooks"
import * as Effect from "effect/Effect"

const price = { costPerInputToken: 1e-6, costPerOutputToken: 2e-6 }
const approve = () => ({ type: "approve" }) as const
const summarizer: LlmProvider = {
  name: "summarizer",
  complete: () => Effect.succeed({ model: "m", text: "a summary", toolCalls: [], finishReason: "stop" })
}

type Ready = { readonly [name: string]: () => ReadonlyArray<AgentHook> }

/** One hook each. */
export const single: Ready = {
  ContextEditing: () => [Hooks.ContextEditing.make()],
  ContextInjector: () => [Hooks.ContextInjector.make({ render: () => "the time is unknown" })],
  Projection: () => [Hooks.Projection.make({ projections: { act: "[0]" } })],
  ResultOffloader: () => [Hooks.ResultOffloader.make()],
  SessionRotation: () => [Hooks.SessionRotation.make()],
  SlidingWindow: () => [Hooks.SlidingWindow.make()],
  Summarizer: () => [Hooks.Summarizer.make({ provider: summarizer })],
  DataFlow: () => [Hooks.DataFlow.make({ ungrounded: "deny" })],
  ArgumentSchema: () => [
    Hooks.ArgumentSchema.make({ tools: "*", deny: { nothing: { oneOf: ["x"] } } })
  ],
  InputGuardrail: () => [Hooks.InputGuardrail.make({ patterns: ["forbidden", "(a+)+!"] })],
  OutputGuardrail: () => [Hooks.OutputGuardrail.make({ patterns: ["sk-[a-z]+forbidden"], toolCalls: true })],
  PromptInjection: () => [Hooks.PromptInjection.make({ input: "warn", toolResults: "rewrite" })],
  Redaction: () => [Hooks.Redaction.make()],
  RegexFilter: () => [Hooks.RegexFilter.make({ presets: ["urls"] })],
  Secrets: () => [Hooks.Secrets.make()],
  TextNormalizer: () => [Hooks.TextNormalizer.make()],
  ToolArguments: () => [Hooks.ToolArguments.make({ tools: "*", rewrite: () => undefined })],
  Budget: () => [Hooks.Budget.make({ ...price, limits: [{ scope: "run", calls: 200, money: 1e6, time: "1 hour" }] })],
  CostTracker: () => [Hooks.CostTracker.make({ ...price, limit: 1e6 })],
  LoopDetector: () => [Hooks.LoopDetector.make()],
  ModelCallLimit: () => [Hooks.ModelCallLimit.make({ perTurn: 100 })],
  Timeouts: () => [Hooks.Timeouts.make({ turn: "1 hour", tool: "1 hour", llmCall: "1 hour", chunk: "1 hour" })],
  TokenLimit: () => [Hooks.TokenLimit.make({ perTurn: { total: 1e12 } })],
  ToolCallLimit: () => [Hooks.ToolCallLimit.make({ perTurn: 1e6 })],
  UsageReport: () => [Hooks.UsageReport.make()],
  ErrorKnowledge: () => [Hooks.ErrorKnowledge.make()],
  SessionMemory: () => [Hooks.SessionMemory.make({ keys: ["k"] })],
  AuditLog: () => [Hooks.AuditLog.make({ sink: () => {}, content: true })],
  Approval: () => [Hooks.Approval.make({ tools: "*", ask: approve })],
  DestructiveCommands: () => [Hooks.DestructiveCommands.make()],
  EgressGuard: () => [Hooks.EgressGuard.make()],
  PermissionRules: () => [Hooks.PermissionRules.make({ allow: ["act"], deny: ["Read(//etc/**)", "Bash(rm *)"] })],
  ProtectedPaths: () => [Hooks.ProtectedPaths.make()],
  ModelRetry: () => [Hooks.ModelRetry.make()],
  ProviderFallback: () => [Hooks.ProviderFallback.make()],
  Shadow: () => [Hooks.Shadow.make(Hooks.Secrets.make())],
  ToolErrors: () => [Hooks.ToolErrors.make()],
  ToolRetry: () => [Hooks.ToolRetry.make()]
}

/** Lists of hooks. */
export const lists: Ready = {
  "the safe defaults": () => Hooks.Hooks.safeDefaults({ ask: approve }),
  "the safe defaults with all options": () =>
    Hooks.Hooks.safeDefaults({ ask: approve, personalData: true, audit: () => {} })
}
