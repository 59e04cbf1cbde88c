/**
 * How a tool says that it is not done, because something inside of it waits for a person.
 *
 * @since 0.2.0
 */

/**
 * The error with which the function of `callTool` rejects if the tool itself waits for a person, for example because an
 * agent inside of it has asked. The call stays open and no hook sees a result. `callTool` with the same call runs the
 * tool again, also in another process, and hooks and people are not asked about it again.
 *
 * @example
 * ```ts
 * import type { GuardSession } from "@belay/core/Driver"
 * import { ToolWaits } from "@belay/core/ToolWaits"
 *
 * const ask = (session: GuardSession, helper: () => Promise<string | undefined>) =>
 *   session.callTool({ id: "1", name: "ask_helper" }, async () => await helper() ?? Promise.reject(new ToolWaits()))
 * ```
 * @category errors
 * @since 0.2.0
 */
export class ToolWaits extends Error {
  override readonly name = "ToolWaits"
  override readonly message = "the tool waits for a person"
}
