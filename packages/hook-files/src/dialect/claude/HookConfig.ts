/**
 * Reads the hooks of settings files, such as `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type":
 * "command", "command": "…" }] }] } }`.
 *
 * @since 0.1.0
 */
export { showWarning as show, type Warning } from "../../Dialect.ts"
export { codexEvents } from "../codex/events.ts"
export { decode, fromValue } from "./config.ts"
export type { EventName } from "./events.ts"
export type { Handler, HookConfig, Origin, Permissions, ReadOptions } from "./handler.ts"
export { permissionsOf } from "./permission/permissionRules.ts"
