/**
 * Runs the hook files of other systems unmodified: Claude Code, Codex, Copilot, Cursor, Factory, Gemini CLI, Kodelet,
 * Base Coat, Inkeep and Windsurf.
 *
 * @since 0.1.0
 */
export * as BaseCoat from "./dialect/basecoat/BaseCoat.ts"
export * as ClaudeCode from "./dialect/claude/ClaudeCode.ts"
export * as HookConfig from "./dialect/claude/config/HookConfig.ts"
export * as Matcher from "./dialect/claude/config/Matcher.ts"
export * as Outcome from "./dialect/claude/Outcome.ts"
export * as Codex from "./dialect/codex/Codex.ts"
export * as Copilot from "./dialect/copilot/Copilot.ts"
export * as Cursor from "./dialect/cursor/Cursor.ts"
export * as Factory from "./dialect/factory/Factory.ts"
export * as Gemini from "./dialect/gemini/Gemini.ts"
export * as Inkeep from "./dialect/inkeep/Inkeep.ts"
export * as Kodelet from "./dialect/kodelet/Kodelet.ts"
export * as Windsurf from "./dialect/windsurf/Windsurf.ts"
export * as Discovery from "./discovery/Discovery.ts"
export * as Dialect from "./engine/Dialect.ts"
export * as Engine from "./engine/Engine.ts"
export * as Guide from "./engine/Guide.ts"
export * as HookFiles from "./HookFiles.ts"
export { load as loadHooks, source as hookSource } from "./HookFiles.ts"
export * as Command from "./process/Command.ts"
export * as Runners from "./runner/Runners.ts"
export * as Sandbox from "./runner/Sandbox.ts"
export * as SkillFiles from "./skill/SkillFiles.ts"
export * as Systems from "./system/Systems.ts"
export * as Trust from "./trust/Trust.ts"
