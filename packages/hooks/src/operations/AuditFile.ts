/**
 * Appends the audit log to a file, one line of JSON for each entry.
 *
 * @since 0.1.0
 */
import { appendFileSync } from "node:fs"
import * as AuditLog from "./AuditLog.ts"

/**
 * Makes a sink that appends to the file at `path`. Only the owner may read the file. A line is written completely
 * before the agent continues.
 *
 * @example
 * ```ts
 * import * as AuditFile from "@belay/hooks/AuditFile"
 * import * as AuditLog from "@belay/hooks/AuditLog"
 *
 * const hook = AuditLog.make({ sink: AuditFile.make("audit.jsonl") })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (path: string): AuditLog.Sink => (entry) =>
  appendFileSync(path, `${AuditLog.line(entry)}\n`, { mode: 0o600 })
