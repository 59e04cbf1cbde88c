/**
 * The modules that a config can import. They are part of the command, so that a config needs no installation. Modules
 * that only a host can use are not among them.
 */

/** The exports of a module. */
export type Exports = { readonly [name: string]: unknown }

/** Loads each module when a config imports it. */
export const modules: { readonly [specifier: string]: () => Promise<Exports> } = {
  "@belay/core/AgentError": () => import("@belay/core/AgentError"),
  "@belay/core/AgentHook": () => import("@belay/core/AgentHook"),
  "@belay/core/Approvals": () => import("@belay/core/Approvals"),
  "@belay/core/ArgumentCheck": () => import("@belay/core/ArgumentCheck"),
  "@belay/core/Artifact": () => import("@belay/core/Artifact"),
  "@belay/core/ArtifactStore": () => import("@belay/core/ArtifactStore"),
  "@belay/core/Awaitable": () => import("@belay/core/Awaitable"),
  "@belay/core/Cost": () => import("@belay/core/Cost"),
  "@belay/core/Deadline": () => import("@belay/core/Deadline"),
  "@belay/core/ErrorMessage": () => import("@belay/core/ErrorMessage"),
  "@belay/core/Eventual": () => import("@belay/core/Eventual"),
  "@belay/core/Fields": () => import("@belay/core/Fields"),
  "@belay/core/GuardSession": () => import("@belay/core/GuardSession"),
  "@belay/core/HookAction": () => import("@belay/core/HookAction"),
  "@belay/core/HookChain": () => import("@belay/core/HookChain"),
  "@belay/core/HookPoint": () => import("@belay/core/HookPoint"),
  "@belay/core/HookRecord": () => import("@belay/core/HookRecord"),
  "@belay/core/HookState": () => import("@belay/core/HookState"),
  "@belay/core/Json": () => import("@belay/core/Json"),
  "@belay/core/LlmCall": () => import("@belay/core/LlmCall"),
  "@belay/core/LlmProvider": () => import("@belay/core/LlmProvider"),
  "@belay/core/Message": () => import("@belay/core/Message"),
  "@belay/core/NamePattern": () => import("@belay/core/NamePattern"),
  "@belay/core/OptionCheck": () => import("@belay/core/OptionCheck"),
  "@belay/core/ProviderError": () => import("@belay/core/ProviderError"),
  "@belay/core/RunState": () => import("@belay/core/RunState"),
  "@belay/core/SchemaCost": () => import("@belay/core/SchemaCost"),
  "@belay/core/SessionStore": () => import("@belay/core/SessionStore"),
  "@belay/core/TaggedError": () => import("@belay/core/TaggedError"),
  "@belay/core/Text": () => import("@belay/core/Text"),
  "@belay/core/Tokenizer": () => import("@belay/core/Tokenizer"),
  "@belay/core/Tool": () => import("@belay/core/Tool"),
  "@belay/core/ToolDefinition": () => import("@belay/core/ToolDefinition"),
  "@belay/core/Turn": () => import("@belay/core/Turn"),
  "@belay/core/TurnPartial": () => import("@belay/core/TurnPartial"),
  "@belay/core/Usage": () => import("@belay/core/Usage"),
  "@belay/core/Waiting": () => import("@belay/core/Waiting"),
  "@belay/hooks/Address": () => import("@belay/hooks/Address"),
  "@belay/hooks/Approval": () => import("@belay/hooks/Approval"),
  "@belay/hooks/ArgumentSchema": () => import("@belay/hooks/ArgumentSchema"),
  "@belay/hooks/AuditFile": () => import("@belay/hooks/AuditFile"),
  "@belay/hooks/AuditLog": () => import("@belay/hooks/AuditLog"),
  "@belay/hooks/Budget": () => import("@belay/hooks/Budget"),
  "@belay/hooks/Condition": () => import("@belay/hooks/Condition"),
  "@belay/hooks/ContextEditing": () => import("@belay/hooks/ContextEditing"),
  "@belay/hooks/ContextInjector": () => import("@belay/hooks/ContextInjector"),
  "@belay/hooks/CostTracker": () => import("@belay/hooks/CostTracker"),
  "@belay/hooks/DataFlow": () => import("@belay/hooks/DataFlow"),
  "@belay/hooks/DestructiveCommands": () => import("@belay/hooks/DestructiveCommands"),
  "@belay/hooks/EgressGuard": () => import("@belay/hooks/EgressGuard"),
  "@belay/hooks/ErrorKnowledge": () => import("@belay/hooks/ErrorKnowledge"),
  "@belay/hooks/HookDefaults": () => import("@belay/hooks/HookDefaults"),
  "@belay/hooks/Hooks": () => import("@belay/hooks/Hooks"),
  "@belay/hooks/HttpGuard": () => import("@belay/hooks/HttpGuard"),
  "@belay/hooks/InputGuardrail": () => import("@belay/hooks/InputGuardrail"),
  "@belay/hooks/Ledger": () => import("@belay/hooks/Ledger"),
  "@belay/hooks/LoopDetector": () => import("@belay/hooks/LoopDetector"),
  "@belay/hooks/ModelCallLimit": () => import("@belay/hooks/ModelCallLimit"),
  "@belay/hooks/ModelRetry": () => import("@belay/hooks/ModelRetry"),
  "@belay/hooks/OutputGuardrail": () => import("@belay/hooks/OutputGuardrail"),
  "@belay/hooks/Pattern": () => import("@belay/hooks/Pattern"),
  "@belay/hooks/PermissionRules": () => import("@belay/hooks/PermissionRules"),
  "@belay/hooks/Projection": () => import("@belay/hooks/Projection"),
  "@belay/hooks/PromptInjection": () => import("@belay/hooks/PromptInjection"),
  "@belay/hooks/ProtectedPaths": () => import("@belay/hooks/ProtectedPaths"),
  "@belay/hooks/ProviderFallback": () => import("@belay/hooks/ProviderFallback"),
  "@belay/hooks/Redaction": () => import("@belay/hooks/Redaction"),
  "@belay/hooks/RegexFilter": () => import("@belay/hooks/RegexFilter"),
  "@belay/hooks/ResultOffloader": () => import("@belay/hooks/ResultOffloader"),
  "@belay/hooks/Secrets": () => import("@belay/hooks/Secrets"),
  "@belay/hooks/SessionMemory": () => import("@belay/hooks/SessionMemory"),
  "@belay/hooks/SessionRotation": () => import("@belay/hooks/SessionRotation"),
  "@belay/hooks/Shadow": () => import("@belay/hooks/Shadow"),
  "@belay/hooks/Shell": () => import("@belay/hooks/Shell"),
  "@belay/hooks/SlidingWindow": () => import("@belay/hooks/SlidingWindow"),
  "@belay/hooks/Summarizer": () => import("@belay/hooks/Summarizer"),
  "@belay/hooks/TerminalApproval": () => import("@belay/hooks/TerminalApproval"),
  "@belay/hooks/TextNormalizer": () => import("@belay/hooks/TextNormalizer"),
  "@belay/hooks/Timeouts": () => import("@belay/hooks/Timeouts"),
  "@belay/hooks/TokenLimit": () => import("@belay/hooks/TokenLimit"),
  "@belay/hooks/ToolArguments": () => import("@belay/hooks/ToolArguments"),
  "@belay/hooks/ToolCallLimit": () => import("@belay/hooks/ToolCallLimit"),
  "@belay/hooks/ToolErrors": () => import("@belay/hooks/ToolErrors"),
  "@belay/hooks/ToolRetry": () => import("@belay/hooks/ToolRetry"),
  "@belay/hooks/UsageReport": () => import("@belay/hooks/UsageReport"),
  "@belay/guard/Guard": () => import("@belay/guard/Guard"),
  "@belay/guard/Coverage": () => import("@belay/guard/Coverage")
}

/** A name that a package exports: a module as a whole, or an export of a module. */
type Source = readonly [specifier: string, name?: string]

const ofCore: { readonly [name: string]: Source } = {
  defineHook: ["@belay/core/AgentHook", "defineHook"],
  ...Object.fromEntries(
    "AgentError HookAction HookPoint HookRecord HookState Json LlmCall LlmProvider Message ProviderError RunState Usage"
      .split(" ").map((name) => [name, [`@belay/core/${name}`]])
  )
}

const ofHooks: { readonly [name: string]: Source } = Object.fromEntries(
  Object.keys(modules).flatMap((specifier) =>
    specifier.startsWith("@belay/hooks/") ? [[specifier.slice("@belay/hooks/".length), [specifier]]] : []
  )
)

/** What the packages export that are modules of other modules. */
export const barrels: { readonly [specifier: string]: { readonly [name: string]: Source } } = {
  "@belay/core": ofCore,
  "@belay/hooks": ofHooks,
  "@belay/sdk": { ...ofCore, ...ofHooks },
  "@belay/guard": { Guard: ["@belay/guard/Guard"], Coverage: ["@belay/guard/Coverage"] }
}
