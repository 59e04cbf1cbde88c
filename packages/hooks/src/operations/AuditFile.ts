/**
 * Appends the audit log to a file, one line of JSON an entry.
 *
 * @since 0.1.0
 */
import { appendFileSync } from "node:fs"
import * as AuditLog from "./AuditLog.ts"

/**
 * Makes a sink that appends to the file at `path`; only its owner may read it. A line is written whole before the agent
 * goes on.
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
