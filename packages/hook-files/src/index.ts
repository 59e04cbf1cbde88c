/**
 * Runs the hook files of other systems as they are: Claude Code, Codex, Copilot, Gemini CLI, Kodelet, Base Coat and
 * Inkeep.
 *
 * @since 0.1.0
 */
export * as BaseCoat from "./dialect/BaseCoat.ts"
export * as ClaudeCode from "./dialect/ClaudeCode.ts"
export * as Codex from "./dialect/Codex.ts"
export * as Copilot from "./dialect/Copilot.ts"
export * as Gemini from "./dialect/Gemini.ts"
export * as Inkeep from "./dialect/Inkeep.ts"
export * as Kodelet from "./dialect/Kodelet.ts"
export * as Discovery from "./Discovery.ts"
export * as HookConfig from "./HookConfig.ts"
export * as HookFiles from "./HookFiles.ts"
export { load as loadHooks, source as hookSource } from "./HookFiles.ts"
export * as Matcher from "./Matcher.ts"
export * as Outcome from "./Outcome.ts"
export * as Command from "./process/Command.ts"
export * as Sandbox from "./runner/Sandbox.ts"
export * as Runners from "./Runners.ts"
export * as Trust from "./trust/Trust.ts"
