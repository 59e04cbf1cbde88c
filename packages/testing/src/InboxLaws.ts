/**
 * Test cases for inboxes of hosts, for any test runner.
 *
 * @since 0.1.0
 */
import type { Inbox } from "@belay/core/Inbox"
import { inboxLaws } from "./internal/laws/inbox.ts"
import type { Law } from "./internal/laws/law.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

/** An empty inbox under test. @category models @since 0.1.0 */
export interface Subject {
  readonly inbox: Inbox
  /**
   * Opens the same content a second time, as another process would. Without it, the laws do not check what survives a
   * process.
   */
  readonly reopen?: () => Promise<Inbox> | Inbox
  /** Closes everything. */
  readonly dispose?: () => Promise<void> | void
}

/**
 * Returns the laws of inboxes. `make` returns an empty inbox for each law.
 *
 * @example
 * ```ts
 * import * as Inbox from "@belay/core/Inbox"
 * import * as InboxLaws from "@belay/testing/InboxLaws"
 * import { test } from "node:test"
 *
 * for (const { name, run } of InboxLaws.cases(async () => ({ inbox: Inbox.inMemory() }))) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (make: () => Promise<Subject>): ReadonlyArray<Case> => inboxLaws(make)
