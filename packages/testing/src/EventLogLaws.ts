/**
 * Test cases for event logs of hosts, for any test runner.
 *
 * @since 0.1.0
 */
import type { EventLog } from "@belay/core/EventLog"
import { eventLogLaws } from "./internal/laws/eventLog.ts"
import type { Law } from "./internal/laws/law.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

/** An empty event log under test. @category models @since 0.1.0 */
export interface Subject {
  readonly log: EventLog
  /**
   * Opens the same content a second time, as another process would. Without it, the laws do not check what survives a
   * process.
   */
  readonly reopen?: () => Promise<EventLog> | EventLog
  /** Closes everything. */
  readonly dispose?: () => Promise<void> | void
}

/**
 * Returns the laws of event logs. `make` returns an empty log for each law.
 *
 * @example
 * ```ts
 * import * as EventLog from "@belay/core/EventLog"
 * import * as EventLogLaws from "@belay/testing/EventLogLaws"
 * import { test } from "node:test"
 *
 * for (const { name, run } of EventLogLaws.cases(async () => ({ log: EventLog.inMemory() }))) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (make: () => Promise<Subject>): ReadonlyArray<Case> => eventLogLaws(make)
