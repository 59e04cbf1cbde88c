/**
 * Checks where the values of tool calls come from, so that a model that was talked over by a mail, a page or a file
 * does nothing that nobody asked for.
 *
 * @since 0.2.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import type { ToolMeta } from "@belay/core/Tool"
import { buildFlow, type Options } from "./internal/buildFlow.ts"
import { codingCheck, commandCheck } from "./internal/coding.ts"
import { configure, type Labelling } from "./internal/configure.ts"
import { explainChecks, type Explained, type ExplainedSession } from "./internal/explain.ts"
import { understand, type UnderstoodTool } from "./internal/understand.ts"

export type { ArgumentClass } from "./internal/argumentClass.ts"
export type { Options } from "./internal/buildFlow.ts"
export type { Labelling, Rank } from "./internal/configure.ts"
export type { Explained, ExplainedSession } from "./internal/explain.ts"
export type { Confidentiality, Integrity, Label, ToolKind } from "./internal/toolKind.ts"
export type { UnderstoodTool } from "./internal/understand.ts"

/**
 * Asks before a tool acts with a value that nobody whom you trust has named.
 *
 * A model that was talked over makes the calls of whoever wrote the text that it read. So this hook looks at values and
 * not at wording. When a tool acts, every argument that decides something (who, where, which, how much, what is run)
 * has to be grounded by the first of these:
 *
 * 1. the words of the person
 * 2. a call that was made before anything untrusted was read
 * 3. an id of what the agent made itself
 * 4. the approval of a person in this turn
 * 5. a directory, or a constant of the tool's schema
 * 6. for ids and amounts: the one record that the person named by another field
 *
 * Of the commands of a shell, the parts decide that reach the network, install, publish or destroy.
 *
 * It needs no configuration: hints, schemas and names say what tools and arguments are, and what is unknown is checked.
 * It keeps hashes in `ctx.state` and no text. It holds for all agents of a tree, and it fails closed. Throws a
 * `ConfigError` for an invalid option; a label of a tool that the agent does not have ends the start of the session.
 *
 * @example
 * ```ts
 * import * as DataFlow from "@belay/hooks/DataFlow"
 *
 * const flow = DataFlow.make({
 *   sources: { "find_person_*": "directory", read_vault: "secret" },
 *   sinks: { "basket_*": "local" }
 * })
 * const unattended = DataFlow.make({ ungrounded: "deny" })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: Options = {}): AgentHook => buildFlow(options, { special: commandCheck })

/**
 * As `make`, for agents that write code: files of the project are written freely, except those that run by themselves
 * (hooks of git, profiles of the shell, workflows) or from which agents take orders. Code that the agent writes and
 * then runs is not checked: give it a sandbox without a network.
 *
 * @category constructors
 * @since 0.2.0
 */
export const coding = (options: Options = {}): AgentHook => buildFlow(options, { special: codingCheck })

/**
 * Returns every argument that was checked in a session, with what grounds it or where it was read: the latest 100.
 *
 * @category reading
 * @since 0.2.0
 */
export const explain = checked(
  "DataFlow.explain",
  ["session"],
  (session: ExplainedSession): ReadonlyArray<Explained> => explainChecks(session)
)

/**
 * Returns what the hook takes tools and their arguments for, and why.
 *
 * @category reading
 * @since 0.2.0
 */
export const describe = checked(
  "DataFlow.describe",
  ["tools", "options"],
  (tools: ReadonlyArray<ToolMeta>, options: Labelling = {}): ReadonlyArray<UnderstoodTool> =>
    understand(configure("data-flow", options), tools)
)
