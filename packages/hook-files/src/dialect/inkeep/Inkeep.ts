/**
 * Runs stored hooks. A definition contains code, and an attachment connects it to a project or an agent at one hook
 * point, with an order. Stored code runs in a sandbox.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { checkOptions } from "@belay/core/OptionCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { changingPriority, methodsOf } from "../../engine/effects.ts"
import * as Engine from "../../engine/runEntries.ts"
import * as Runners from "../../runner/Runners.ts"
import type { Mcp } from "./capabilities.ts"
import { attached } from "./config.ts"
import * as Dialect from "./dialect.ts"
import * as Effects from "./effects.ts"
import { relation } from "./effects.ts"
import type { Attachment, Definition } from "./types.ts"

export { bundle } from "./bundle.ts"
export type { Mcp } from "./capabilities.ts"
export type { HookPoint } from "./response.ts"
export type { Attachment, Context, Definition, InProcess, Package, Packages, Scope, Stored } from "./types.ts"

/** A text, or a function that returns it for the conversation of `ctx`. @category models @since 0.2.0 */
export type OfConversation = string | ((ctx: HookContext) => Eventual<string>)

/** Options of the hook that runs definitions of Inkeep. @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  readonly definitions: ReadonlyArray<Definition>
  readonly attachments: ReadonlyArray<Attachment>
  /** The id of the agent in `scope.agentId`. Sub-agents are identified by their names. Default: the agent's name. */
  readonly agentId?: string
  /**
   * The id of the tenant in `conversation.tenantId`, or a function that returns it for a conversation: `ctx.root` has
   * its id. A function that fails blocks what the hooks would have decided. Default: empty.
   */
  readonly tenantId?: OfConversation
  /** The id of the project in `conversation.projectId`, in the same way. */
  readonly projectId?: OfConversation
  /** The MCP tools of the project, including tools that the agent does not have. Default: the tools of `ctx.mcp`. */
  readonly mcp?: (ctx: HookContext) => Mcp
  /** Looks up a secret. Hooks and the conversation receive a token instead of the secret. */
  readonly secrets?: (name: string, ctx: HookContext) => Eventual<string | undefined>
  /**
   * Returns the type of a tool. Default: `mcp__…` is `mcp`, `delegate_to_…` and `transfer_to_…` are `relation`,
   * and all others are `function`.
   */
  readonly toolType?: (name: string) => "mcp" | "function" | "relation"
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  definitions: "list",
  attachments: "list",
  agentId: "text",
  tenantId: "any",
  projectId: "any",
  mcp: "function",
  secrets: "function",
  toolType: "function"
}

/**
 * Makes one hook that runs all attachments. At each point the hooks of the project run first, then the hooks of the
 * agent. Each hook reads the changes of the hooks before it. After `block` or `abort` no other hook runs. Throws a
 * `ConfigError` if a definition or an attachment is invalid.
 *
 * @example
 * ```ts
 * import * as Inkeep from "@belay/hook-files/Inkeep"
 *
 * const hook = Inkeep.make({
 *   definitions: [{
 *     id: "first-rows",
 *     executeCode:
 *       `export default async ({ result, config }) => ({ action: "proceed", result: result.slice(0, config.rows) })`
 *   }],
 *   attachments: [{
 *     hookDefinitionId: "first-rows",
 *     scope: { _tag: "project" },
 *     hookPoint: "after-result",
 *     order: 1,
 *     config: { rows: 20 }
 *   }]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("stored-hooks", options, optionKinds, ["definitions", "attachments"])
  const { agentId, attachments, definitions, mcp, name = "stored-hooks", secrets } = options
  const all = Result.getOrThrow(attached(name, definitions, attachments)).map((one): Dialect.Entry => ({
    event: one.hookPoint,
    file: "",
    key: one.name,
    work: { type: "code" },
    attached: one
  }))
  const isFor: Dialect.Options["isFor"] = ({ scope }, { agent }) =>
    scope._tag === "project" || scope.agentId === (agent.depth === 0 ? agentId ?? agent.name : agent.name)
  const engine = Engine.make(Dialect.make({ name, providers: { mcp, secrets }, isFor }), {
    name,
    entries: () => all,
    runners: Runners.make()
  })
  const { projectId = "", tenantId = "", toolType = typeOf } = options
  const isOfConversation = (value: unknown) => typeof value === "string" || typeof value === "function"
  const expected = "a text, or a function of ctx that returns a text"
  Result.getOrThrow(
    checkOptions(name, ["tenantId", tenantId, isOfConversation, expected], [
      "projectId",
      projectId,
      isOfConversation,
      expected
    ])
  )
  const setup = { name, engine, projectId, tenantId, toolType, hasSecrets: secrets !== undefined }
  const { confidential, ...effects } = Effects.make(setup)
  return HookDefaults.apply(options, {
    name,
    priority: changingPriority,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    ...confidential,
    ...methodsOf(effects, engine.has)
  })
}

const typeOf = (name: string): "mcp" | "function" | "relation" =>
  name.startsWith("mcp__") ? "mcp" : relation.test(name) ? "relation" : "function"
