/** Reads `permissions` of Claude Code's settings files, and makes hooks of the rules that tighten. */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Condition from "@belay/hooks/Condition"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import * as Result from "effect/Result"
import { isFields } from "../../../internal/fields.ts"
import { knownCall, toolNameOf } from "../../shared/delegation.ts"
import type { ToolNames } from "../../shared/toolNames.ts"
import { own, type Warn } from "./entry.ts"
import type { Permissions, ReadOptions } from "./handler.ts"

/** Reads the rules. Each rule that cannot be read is a warning. Returns undefined if there are no rules. */
export const readPermissions = (
  value: unknown,
  { flavor, folder, origin }: ReadOptions,
  warn: Warn
): Permissions | undefined => {
  if (value === undefined || flavor === "codex" || origin !== undefined) return undefined
  if (!isFields(value)) return warn("permissions", "expected an object with lists of rules")
  const rulesOf = (list: "allow" | "ask" | "deny"): ReadonlyArray<string> => {
    const key = `permissions.${list}`
    const rules = own(value, list)
    if (rules === undefined) return []
    if (!Array.isArray(rules)) return warn(key, "expected a list of rules") ?? []
    // Rules that allow are only counted.
    if (list === "allow") return rules.filter((rule) => typeof rule === "string")
    return rules.flatMap((rule: unknown, index) => {
      const at = `${key}[${index}]`
      if (typeof rule !== "string") {
        return warn(at, "expected a rule such as Bash(git push *), so it never applies") ?? []
      }
      const parsed = Condition.parseAll([rule], at, folder)
      if (Result.isSuccess(parsed)) return [rule]
      return warn(at, `${parsed.failure.message.slice(`${at}[0]: `.length)}, so it never applies`) ?? []
    })
  }
  const permissions = { allow: rulesOf("allow"), ask: rulesOf("ask"), deny: rulesOf("deny") }
  return Object.values(permissions).every((rules) => rules.length === 0)
    ? undefined
    : { ...permissions, ...defined({ folder }) }
}

/**
 * Returns the rules in `permissions` of a settings file. Files of other systems have none.
 *
 * @category reading
 * @since 0.1.0
 */
export const permissionsOf = checked(
  "HookConfig.permissionsOf",
  ["source"],
  ({ config }: { readonly config: object }): Permissions | undefined =>
    // Only the decoder of Claude Code's settings sets this field.
    "permissions" in config ? config.permissions as Permissions | undefined : undefined
)

const hookNames = { managed: "claude-managed-permissions", others: "claude-permissions" } as const

/** The names of the hooks that `permissionHooks` makes. */
export const ruleHooks: ReadonlyArray<string> = Object.values(hookNames)

/**
 * Makes hooks of the rules that deny and ask: one of managed files, and one of all others. A call is also checked as
 * the tool that the host named for it in `toolNames`.
 */
export const permissionHooks = (
  sources: ReadonlyArray<{ readonly config: object; readonly path: string; readonly scope: string }>,
  { home, toolNames = {} }: { readonly home: string; readonly toolNames?: ToolNames }
): ReadonlyArray<AgentHook> =>
  (["managed", "others"] as const).flatMap((owner) => {
    const sets = sources.filter(({ scope }) => (scope === "managed") === (owner === "managed")).flatMap((source) => {
      const rules = permissionsOf(source)
      if (rules === undefined || rules.ask.length + rules.deny.length === 0) return []
      return [{ ask: rules.ask, deny: rules.deny, source: source.path, ...defined({ folder: rules.folder }) }]
    })
    if (sets.length === 0) return []
    const rules = PermissionRules.make({
      name: hookNames[owner],
      ...(owner === "managed" ? { tier: "managed" as const } : {}),
      sources: sets,
      otherwise: "allow",
      // These systems run what a rule does not clearly match.
      unreadable: "ask",
      home
    })
    return [alsoAs(toolNames, rules)]
  })

/** Checks a delegation, or a tool with a configured name, under both names. The stricter answer counts. */
const alsoAs = (toolNames: ToolNames, rules: AgentHook): AgentHook => {
  const check = rules.preToolCall
  if (check === undefined) return rules
  const named = (event: PreToolCallEvent, ctx: HookContext): PreToolCallEvent | undefined => {
    const isDelegation = event.name !== "Agent" && toolNameOf(event, {}, ctx) === "Agent"
    if (!isDelegation && !Object.hasOwn(toolNames, event.name)) return undefined
    const { input, name } = knownCall(event, toolNames, ctx)
    return { ...event, name, args: input }
  }
  return {
    ...rules,
    preToolCall: (event, ctx) => {
      const other = named(event, ctx)
      // `PermissionRules` answers with plain values.
      const answers = [event, ...(other === undefined ? [] : [other])].map((one) =>
        check(one, ctx) as { readonly _tag: string } | undefined
      )
      const strictest = answers.find((answer) => answer?._tag === "Reject") ??
        answers.find((answer) => answer !== undefined)
      return strictest as ReturnType<typeof check>
    }
  }
}
