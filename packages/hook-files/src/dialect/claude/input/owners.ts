/**
 * Decides when entries of skills and agents are active. Entries of an agent are active in that agent. Entries of a
 * skill are active from its first use until the session ends.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import * as Schema from "effect/Schema"
import type { Handler } from "../config/HookConfig.ts"

export interface Owners {
  /** Whether there is an entry of a skill. */
  readonly any: boolean
  readonly isActive: (handler: Handler, ctx: HookContext) => boolean
  /** Activates the entries of a skill if a tool call uses the skill. */
  readonly noteCall: (tool: string, input: Json, ctx: HookContext) => void
}

export const make = (name: string, handlers: ReadonlyArray<Handler>): Owners => {
  const skills = new Set(handlers.flatMap(({ origin }) => origin?.type === "skill" ? [origin.name] : []))
  const active = HookState.key(`${name}/skills`, Schema.Array(Schema.String), [])
  return {
    any: skills.size > 0,
    isActive: ({ origin }, ctx) => {
      if (origin === undefined || origin.type === "plugin") return true
      return origin.type === "agent" ? ctx.agent.name === origin.name : ctx.state.get(active).includes(origin.name)
    },
    noteCall: (tool, input, ctx) => {
      if (skills.size === 0 || tool !== "Skill" || typeof input !== "object" || input === null) return
      const found = Object.entries(input).flatMap(([key, value]) =>
        ["skill", "name", "command"].includes(key) && typeof value === "string"
          ? [value.replace(/^\//, "").split(":").at(-1)!]
          : []
      ).find((one) => skills.has(one))
      if (found !== undefined) ctx.state.update(active, (all) => all.includes(found) ? all : [...all, found])
    }
  }
}
