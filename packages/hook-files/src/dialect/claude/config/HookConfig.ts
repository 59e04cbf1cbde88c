/**
 * Reads the hooks of settings files, such as `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type":
 * "command", "command": "…" }] }] } }`.
 *
 * @since 0.1.0
 */
export { showWarning as show, type Warning } from "../../../engine/Dialect.ts"
export type { Origin } from "../../shared/system.ts"
export { codexEvents, type EventName } from "../event/events.ts"
export { decode, fromValue } from "./config.ts"
export type { Handler, HookConfig, Permissions, ReadOptions } from "./handler.ts"
export { permissionsOf } from "./permissionRules.ts"
