/**
 * The guard inside pi: an extension that decides about messages and tool calls with the hooks of Belay.
 *
 * @since 0.2.0
 */
import type { JsonObject } from "@belay/core/Json"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { jsonOf } from "./internal/json.ts"
import { checkOptions } from "./internal/options.ts"
import { type Conversation, onCall, onInput, onResult, onSettle, onStart, type Parts } from "./internal/pi/events.ts"
import type { Described } from "./internal/place.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of the extension. @category models @since 0.2.0 */
export type PiOptions = Pick<ConversationOptions, "agent" | "approvedBy" | "cwd" | "hints">

/** What the guard uses of the API of an extension. @category models @since 0.2.0 */
export interface PiApi {
  // oxlint-disable-next-line typescript/no-explicit-any -- each event has a handler of another type
  readonly on: (event: any, handler: any) => unknown
  readonly getAllTools: () => ReadonlyArray<unknown>
}

/** What the guard can do in pi. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "pi",
  places: {
    onSessionStart: "enforced",
    preTurn: "enforced",
    onPermission: "enforced",
    preToolCall: "enforced",
    postToolCall: "enforced",
    onToolDenied: "enforced",
    preStop: "enforced",
    onSessionEnd: "enforced",
    // The user has read the answer when this runs.
    postTurn: "observed",
    // pi has no other agents. Its extensions start processes.
    preDelegation: "absent",
    postDelegation: "absent",
    concealMessages: "absent",
    onSignal: "absent"
  }
}

/**
 * Makes the extension. Each conversation of pi has a session with its id. Throws a `ConfigError` that names the hooks
 * which must hold at a point that pi does not have, such as those about requests to the model.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as Pi from "@belay/guard/Pi"
 *
 * const careful = defineHook({ name: "careful", tools: "bash", preToolCall: () => HookAction.ask("really?") })
 * export default Pi.make(Guard.make({ hooks: [careful] }))
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: PiOptions = {}): (pi: PiApi) => void => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("@earendil-works/pi-coding-agent", installed("@earendil-works/pi-coding-agent"))
  checkCovered(guard, driver)
  return (pi) => {
    const conversations = new Map<string, Conversation>()
    const parts: Parts = {
      approvedBy,
      describe: (name) => ({ ...describedOf(pi, name), ...Object.hasOwn(hints, name) ? hints[name] : {} }),
      find: (id) => {
        const known = conversations.get(id)
        if (known !== undefined) return known
        const session = guard.session({ ...rest, id, driver: driver.name, seesRequests: false })
        const made: Conversation = { session, context: new Map(), opening: "" }
        conversations.set(id, made)
        return made
      }
    }
    pi.on("input", onInput(parts))
    pi.on("before_agent_start", onStart(parts))
    pi.on("tool_call", onCall(parts))
    pi.on("tool_result", onResult(parts))
    pi.on("agent_before_settle", onSettle(parts))
    pi.on("session_shutdown", async ({ reason }: { readonly reason?: unknown }) => {
      // The same conversation goes on after the extensions were read again.
      if (reason === "reload") return
      for (const { session } of conversations.values()) await session.end()
      conversations.clear()
    })
  }
}

/** Returns how pi describes a tool, with what the tool says about itself. */
const describedOf = (pi: PiApi, name: string): Described => {
  const tool = pi.getAllTools().find((one) => Object(one).name === name)
  const { annotations, description, parameters } = Object(tool) as {
    readonly annotations?: { readonly [hint: string]: unknown }
    readonly description?: unknown
    readonly parameters?: unknown
  }
  const { destructiveHint, idempotentHint, openWorldHint, readOnlyHint } = annotations ?? {}
  return {
    ...(typeof description === "string" ? { description } : {}),
    // It is the JSON Schema that the model reads.
    ...(parameters === undefined ? {} : { inputSchema: jsonOf(parameters) as JsonObject }),
    ...(typeof readOnlyHint === "boolean" ? { readOnly: readOnlyHint } : {}),
    ...(typeof destructiveHint === "boolean" ? { destructive: destructiveHint } : {}),
    ...(typeof idempotentHint === "boolean" ? { idempotent: idempotentHint } : {}),
    ...(typeof openWorldHint === "boolean" ? { openWorld: openWorldHint } : {})
  }
}
