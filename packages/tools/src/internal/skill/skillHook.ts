/** The hook that enforces what skills declare, while they are in use. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import type { PreToolCallEvent } from "@belay/core/Tool"
import { folderOf, type ReadySkill } from "@belay/hook-files/SkillFiles"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import { isSearch } from "../search/searchHook.ts"
import { activeUses, addUse, inheritUses, noteText, removeUse, shownTexts, type Until, type Use } from "./uses.ts"

/** What the hook knows. */
export interface SkillSetup {
  readonly skills: ReadonlyMap<string, ReadySkill>
  readonly until: Until
  /** The descriptions of the two tools: a tool with the same name and another description is not one of them. */
  readonly loads: (tool: PreToolCallEvent["tool"]) => boolean
  readonly reads: (tool: PreToolCallEvent["tool"]) => boolean
}

/** Makes the hook. */
export const skillHook = ({ loads, reads, skills, until }: SkillSetup): AgentHook => ({
  name: "skills",
  kind: "policy",
  priority: 2,
  reinvoke: "ifChanged",
  identity: {
    kind: "skills",
    options: { until, skills: [...skills.values()].map(({ digest, path }) => [path, digest]) }
  },
  preTurn: (_input, ctx) => inheritUses(ctx, until),
  preLlmCall: (request, ctx) => {
    const shown = until === "turn" ? shownTexts(ctx) : undefined
    if (shown === undefined) return undefined
    const isEnded = (message: Message) =>
      message.role === "tool" && textTools.has(message.toolName) && !shown.has(message.toolCallId)
    if (!request.messages.some(isEnded)) return undefined
    const messages = request.messages.map((message): Message =>
      message.role === "tool" && isEnded(message) ? { ...message, content: endedNote } : message
    )
    return HookAction.transform({ ...request, messages })
  },
  preToolCall: (event, ctx) => {
    if (loads(event.tool)) return startUse(event, ctx, skills, until)
    const active = activeUses(ctx, until)
    if (reads(event.tool)) {
      const name = textOf(event.args, "skill")
      if (active.every(({ skill }) => skill !== name)) {
        return HookAction.reject(`the skill "${name.slice(0, 80)}" is not in use: call load_skill first`)
      }
      noteText(ctx, event.id)
      return undefined
    }
    if (isSearch(event.tool)) return undefined
    for (const use of active) {
      const why = whyNot(use, event, ctx, skills)
      if (why !== undefined) return HookAction.reject(why)
    }
    return undefined
  },
  postToolCall: ({ call, result, tool }, ctx) => {
    if (!result.ok && loads(tool)) removeUse(ctx, call.id)
  },
  onToolDenied: ({ call }, ctx) => removeUse(ctx, call.id)
})

/** The tools whose results are texts of skills. */
const textTools: ReadonlySet<string> = new Set(["load_skill", "read_skill_resource"])

const endedNote =
  "[This text of a skill is no longer shown, because the turn in which the skill was in use has ended. " +
  "Call load_skill again if the skill is needed.]"

/** The restriction begins before the model reads the skill. If the skill is not loaded after all, it ends. */
const startUse = (
  { args, id }: PreToolCallEvent,
  ctx: HookContext,
  skills: ReadonlyMap<string, ReadySkill>,
  until: Until
): HookAction.Reject | undefined => {
  const skill = skills.get(textOf(args, "name"))
  if (skill === undefined) return undefined
  const rules = skill.allowedTools?.map((rule) => withFolder(rule, skill, ctx.cwd))
  const problem = addUse(ctx, until, { skill: skill.name, call: id, ...(rules === undefined ? {} : { rules }) })
  return problem === undefined ? undefined : HookAction.reject(`${skill.name} is not loaded: ${problem}`)
}

const whyNot = (
  use: Use,
  event: PreToolCallEvent,
  ctx: HookContext,
  skills: ReadonlyMap<string, ReadySkill>
): string | undefined => {
  // Its scripts must be those that a person trusted when a tool may run them.
  const changed = event.tool.readOnly === true ? undefined : skills.get(use.skill)?.refuse()
  if (changed !== undefined) return `${event.name} does not run: ${changed}`
  if (use.rules === undefined) return undefined
  // `PermissionRules` answers with plain values.
  const answer = rulesOf(use.rules).preToolCall!(event, ctx) as HookAction.HookAction | undefined
  if (answer === undefined) return undefined
  const declared = use.rules.length === 0 ? "that it needs no tool" : use.rules.join(", ").slice(0, 500)
  return `${event.name} does not run: the skill ${use.skill} is in use, and its allowed-tools do not cover this ` +
    "call. " +
    `It declares ${declared}`
}

/** Compiling rules takes longer than a call, and the same few skills are used again and again. */
const compiled = new Map<string, AgentHook>()

const rulesOf = (rules: ReadonlyArray<string>): AgentHook => {
  const key = JSON.stringify(rules)
  const known = compiled.get(key)
  if (known !== undefined) return known
  if (compiled.size >= 256) compiled.clear()
  const made = PermissionRules.make({ name: "skill", allow: rules, otherwise: "deny" })
  compiled.set(key, made)
  return made
}

/** Skills name their own folder with a variable of Claude Code. */
export const withFolder = (text: string, skill: ReadySkill, cwd: string): string =>
  text.replaceAll(/\$\{CLAUDE_SKILL_DIR\}|\$CLAUDE_SKILL_DIR\b/g, () => folderOf(skill, cwd))

const textOf = (args: Json, key: string): string => {
  const value = typeof args === "object" && args !== null && Object.hasOwn(args, key)
    ? (args as { readonly [name: string]: Json })[key]
    : undefined
  return typeof value === "string" ? value.trim() : ""
}
