/**
 * Checks where the values of tool calls come from, so that a model that was talked over by a mail, a page or a file does
 * nothing that nobody asked for.
 *
 * @since 0.2.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { codingCheck } from "./internal/coding.ts"
import { configure, type Labelling } from "./internal/configure.ts"
import { explainChecks, type Explained, type ExplainedSession } from "./internal/explain.ts"
import { flowHook, type Special } from "./internal/flowHook.ts"
import { understand, type UnderstoodTool } from "./internal/understand.ts"

export type { ArgumentClass } from "./internal/argumentClass.ts"
export type { Labelling, Rank } from "./internal/configure.ts"
export type { Explained, ExplainedSession } from "./internal/explain.ts"
export type { Confidentiality, Integrity, Label, ToolKind } from "./internal/toolKind.ts"
export type { UnderstoodTool } from "./internal/understand.ts"

/** Options of `DataFlow.make`. @category models @since 0.2.0 */
export interface Options extends HookDefaults.HookDefaults, Labelling {
  /**
   * What happens when nothing grounds a value: a person is asked, or the call is denied with feedback from which the
   * model can go on. Default `ask`.
   */
  readonly ungrounded?: "ask" | "deny"
  /**
   * What happens with links and addresses inside of texts that are sent: they have to be grounded, or it is enough that
   * they stand somewhere in what was read. Default `ask`.
   */
  readonly links?: "ask" | "verbatim"
  /** What happens when a value of a secret source would leave. Default `ask`. */
  readonly secrets?: "ask" | "deny"
  /**
   * Names the tools that a request needs, before the agent reads anything. A tool that acts and is not among them needs
   * an approval, which adds it. It gets the words of the person and nothing else; if it fails, no tool is among them.
   */
  readonly plan?: (
    request: { readonly message: string; readonly tools: ReadonlyArray<ToolMeta> },
    ctx: HookContext
  ) => Eventual<ReadonlyArray<string>>
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  ungrounded: "text",
  sources: "object",
  sinks: "object",
  arguments: "object",
  links: "text",
  secrets: "text",
  plan: "function"
}

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
 * It needs no configuration: hints, schemas and names say what tools and arguments are, and what is unknown is checked.
 * It keeps hashes in `ctx.state` and no text. It holds for all agents of a tree, and it fails closed. Throws a
 * `ConfigError` for an invalid option; a label of a tool that does not exist ends the start of the session.
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
export const make = (options: Options = {}): AgentHook => build("data-flow", options)

const build = (owner: string, options: Options, special?: Special): AgentHook => {
  HookDefaults.checkKinds(owner, options, optionKinds)
  const name = options.name ?? owner
  const { arguments: ranks, links = "ask", plan, secrets = "ask", sinks, sources, ungrounded = "ask", ...common } =
    options
  Result.getOrThrow(checkOptions(
    name,
    oneOf("ungrounded", ungrounded, ["ask", "deny"]),
    oneOf("links", links, ["ask", "verbatim"]),
    oneOf("secrets", secrets, ["ask", "deny"])
  ))
  const labelling: Labelling = {
    ...(sources === undefined ? {} : { sources }),
    ...(sinks === undefined ? {} : { sinks }),
    ...(ranks === undefined ? {} : { arguments: ranks })
  }
  const setup = { configuration: configure(name, labelling), links, plan, secrets, special, ungrounded }
  return HookDefaults.apply(common, HookDefaults.identify(options, { name, ...flowHook(setup) }))
}

/**
 * As `make`, for agents that write code. Files of the project are written freely, except those that run by themselves
 * (hooks of git, profiles of the shell, workflows) or from which agents take orders. Commands are read by the grammar of
 * the shell: the network, packages, what is published, and destruction have to be asked for; commands that look, build
 * and test do not. Code that the agent writes and then runs is not checked: give it a sandbox without a network.
 *
 * @category constructors
 * @since 0.2.0
 */
export const coding = (options: Options = {}): AgentHook => build("data-flow", options, codingCheck)

/**
 * Returns every argument that was checked in a session, with what grounds it or where it was read: the latest 100.
 *
 * @category reading
 * @since 0.2.0
 */
export const explain = (session: ExplainedSession): ReadonlyArray<Explained> => explainChecks(session)

/**
 * Returns what the hook takes tools and their arguments for, and why.
 *
 * @category reading
 * @since 0.2.0
 */
export const describe = (tools: ReadonlyArray<ToolMeta>, options: Labelling = {}): ReadonlyArray<UnderstoodTool> =>
  understand(configure("data-flow", options), tools)
