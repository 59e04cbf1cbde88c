/**
 * The guard inside the Strands Agents SDK: agents keep their loop and their model, and the hooks of Belay decide about
 * messages and tool calls in a plugin.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { checkOptions } from "./internal/options.ts"
import { Place } from "./internal/place.ts"
import { Events, guardedAgents, type Sdk } from "./internal/strands/events.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type StrandsOptions = ConversationOptions

/** A plugin of Strands. @category models @since 0.2.0 */
export interface StrandsPlugin {
  readonly name: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the agent has types of the SDK
  readonly initAgent: (agent: any) => void
}

/** One guarded conversation. @category models @since 0.2.0 */
export interface Strands {
  readonly session: GuardSession
  /**
   * Makes the plugin for one agent. It takes the module `@strands-agents/sdk` of the program. Put it last, so that no
   * other plugin changes a call which the guard has allowed.
   */
  readonly plugin: (sdk: Sdk) => StrandsPlugin
}

/** What the guard can do in Strands. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "strands",
  places: {
    onSessionStart: "enforced",
    preTurn: "enforced",
    onPermission: "enforced",
    preToolCall: "enforced",
    postToolCall: "enforced",
    onToolDenied: "enforced",
    onSessionEnd: "enforced",
    // Another agent is a tool. A program shortens its own messages, has its own memory and its own signals.
    preDelegation: "absent",
    postDelegation: "absent",
    preCompaction: "absent",
    postCompaction: "absent",
    concealMessages: "absent",
    onSignal: "absent"
  }
}

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that the SDK does not
 * have, such as those about answers of the model.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as Strands from "@belay/guard/Strands"
 *
 * const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.reject("not here") })
 * const guarded = Strands.make(Guard.make({ hooks: [careful] }))
 * // new Agent({ model, tools, plugins: [guarded.plugin(sdk)] }), with import * as sdk from "@strands-agents/sdk"
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: StrandsOptions = {}): Strands => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("@strands-agents/sdk", installed("@strands-agents/sdk"))
  checkCovered(guard, driver)
  const session = guard.session({ ...rest, driver: driver.name, seesRequests: false })
  const place = new Place({ guard, session, hints, approvedBy, describe: () => Promise.resolve({}) })
  return {
    session,
    plugin: (given) => {
      const sdk = checked(given)
      const events = new Events(place, sdk)
      return {
        name: "belay-guard",
        initAgent: (agent) => {
          if (guardedAgents.has(agent as object)) {
            throw new ConfigError({ key: "plugins", message: "plugins: the agent is guarded already: attach it once" })
          }
          guardedAgents.add(agent as object)
          agent.addHook(sdk.BeforeModelCallEvent, (event: never) => events.beforeModel(event))
          agent.addHook(sdk.BeforeToolCallEvent, (event: never) => events.beforeTool(event))
          agent.addHook(sdk.AfterToolCallEvent, (event: never) => events.afterTool(event))
        }
      }
    }
  }
}

/** The classes of the SDK that the guard uses. */
const classes = ["BeforeModelCallEvent", "BeforeToolCallEvent", "AfterToolCallEvent", "TextBlock", "ToolResultBlock"]

/** Throws a `ConfigError` if this is not the module of the SDK. Without these classes, the guard would not run. */
const checked = (sdk: Sdk): Sdk => {
  const missing = classes.filter((name) => Object(sdk)[name] === undefined)
  if (missing.length === 0) return sdk
  throw new ConfigError({
    key: "sdk",
    message: `sdk: expected the module @strands-agents/sdk, found one without ${missing.join(", ")}: ` +
      "pass what import * as sdk from \"@strands-agents/sdk\" gives"
  })
}
