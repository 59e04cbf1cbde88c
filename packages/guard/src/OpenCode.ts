/**
 * The guard inside opencode: a plugin that decides about messages, tool calls and sub-agents with the hooks of Belay.
 *
 * @since 0.2.0
 */
import type { GuardSession } from "@belay/core/Driver"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { type Conversation, Events } from "./internal/openCode/events.ts"
import { checkOptions } from "./internal/options.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of the plugin. @category models @since 0.2.0 */
export type OpenCodeOptions = Pick<ConversationOptions, "agent" | "cwd" | "hints">

/** What the guard uses of the input of a plugin. @category models @since 0.2.0 */
export interface OpenCodeInput {
  readonly client: {
    readonly session: {
      readonly get: (options: { readonly path: { readonly id: string } }) => PromiseLike<unknown>
    }
  }
}

/** The hooks of the plugin. @category models @since 0.2.0 */
export interface OpenCodeHooks {
  readonly "chat.message": Events["message"]
  readonly "tool.execute.before": Events["before"]
  readonly "tool.execute.after": Events["after"]
  readonly "experimental.chat.messages.transform": Events["messages"]
  readonly dispose: () => Promise<void>
}

/** What the guard can do in opencode. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "opencode",
  places: {
    onSessionStart: "enforced",
    preTurn: "enforced",
    onPermission: "enforced",
    preToolCall: "enforced",
    postToolCall: "enforced",
    onToolDenied: "enforced",
    preDelegation: "enforced",
    onSessionEnd: "enforced",
    concealMessages: "absent",
    onSignal: "absent"
  }
}

/**
 * Makes the plugin. Each conversation of opencode has a session with its id, and the sub-agents have theirs below it.
 * Throws a `ConfigError` that names the hooks which must hold at a point that opencode does not have, such as those
 * about requests to the model.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as OpenCode from "@belay/guard/OpenCode"
 *
 * const careful = defineHook({ name: "careful", tools: "bash", preToolCall: () => HookAction.reject("no commands") })
 * export const BelayGuard = OpenCode.make(Guard.make({ hooks: [careful] }))
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (
  guard: Guard,
  options: OpenCodeOptions = {}
): (input: OpenCodeInput) => Promise<OpenCodeHooks> => {
  checkOptions(driver.name, options)
  const { hints = {}, ...rest } = options
  checkVersion("@opencode-ai/plugin", installed("@opencode-ai/plugin"))
  checkCovered(guard, driver)
  const open = (id: string, below?: { readonly parent: GuardSession; readonly agent?: string }): Conversation => ({
    session: guard.session({ ...rest, id, driver: driver.name, seesRequests: false, ...below }),
    context: new Map(),
    failed: new Map()
  })
  return async ({ client }) => {
    const conversations = new Map<string, Promise<Conversation>>()
    const opened: Array<Conversation> = []
    const find = (id: string, agent?: string, below: ReadonlyArray<string> = []): Promise<Conversation> => {
      const known = conversations.get(id)
      if (below.includes(id)) return Promise.reject(new Error(`the session ${id} of opencode is its own parent`))
      if (known !== undefined) return known
      const found = parentOf(client, id).then(async (parentId) => {
        const parent = parentId === undefined ? undefined : await find(parentId, undefined, [...below, id])
        const name = agent === undefined ? {} : { agent }
        const made = open(id, parent === undefined ? undefined : { parent: parent.session, ...name })
        opened.push(made)
        return made
      })
      conversations.set(id, found)
      found.catch(() => conversations.delete(id))
      return found
    }
    const events = new Events((id, agent) => find(id, agent), hints)
    return await Promise.resolve({
      "chat.message": events.message,
      "tool.execute.before": events.before,
      "tool.execute.after": events.after,
      "experimental.chat.messages.transform": events.messages,
      dispose: async () => {
        // Sub-agents have begun later, and end first.
        for (const { session } of opened.toReversed()) await session.end()
      }
    })
  }
}

/**
 * The conversation whose agent has started this one. Without an answer nothing runs, because limits hold in the tree.
 */
const parentOf = async (client: OpenCodeInput["client"], id: string): Promise<string | undefined> => {
  const { data } = Object(await client.session.get({ path: { id } })) as { readonly data?: unknown }
  if (typeof data !== "object" || data === null) throw new Error(`opencode does not know its session ${id}`)
  const { parentID } = data as { readonly parentID?: unknown }
  return typeof parentID === "string" ? parentID : undefined
}
