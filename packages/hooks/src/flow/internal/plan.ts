/** Which tools the request of the person needs, as a plan says before anything is read. */
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import { memoryOf } from "./memory.ts"

/** Names the tools that a request needs. */
export type Plan = (
  turn: { readonly message: string; readonly tools: ReadonlyArray<ToolMeta> },
  ctx: HookContext
) => Eventual<ReadonlyArray<string>>

/** A message of the person, and the plan for it. */
interface Asked {
  readonly message: string
  readonly steer: boolean
  readonly named?: ReadonlyArray<string>
}

/** When the plan is made. */
export interface Planner {
  /** Plans, or waits if no tool is known yet. Until then, every act is asked about. */
  readonly begin: (asked: Asked, ctx: HookContext) => Effect.Effect<undefined, unknown> | undefined
  /** Plans with these tools if the plan has waited for them. */
  readonly go: (tools: ReadonlyArray<ToolMeta>, ctx: HookContext) => Effect.Effect<undefined, unknown> | undefined
}

/** The most sessions whose plans wait. With more, every act of the others is asked about. */
const maxWaiting = 1_000

/** Makes a planner. The tools of a driver are known with its first request, or with its first call. */
export const plannerOf = (plan: Plan): Planner => {
  const waiting = new Map<string, Asked>()
  const planned = (asked: Asked, tools: ReadonlyArray<ToolMeta>, ctx: HookContext) =>
    Effect.map(
      // Without a plan, every act is asked about.
      Effect.catchCause(
        eventual(() => plan({ message: asked.message, tools }, ctx)),
        () => Effect.succeed<ReadonlyArray<string>>([])
      ),
      (named) => {
        if (waiting.has(ctx.sessionId)) waiting.set(ctx.sessionId, { ...asked, named })
        return keep(named, asked.steer, ctx)
      }
    )
  return {
    begin: (asked, ctx) => {
      waiting.delete(ctx.sessionId)
      if (ctx.tools.length > 0) return planned(asked, ctx.tools, ctx)
      if (waiting.size >= maxWaiting) waiting.clear()
      waiting.set(ctx.sessionId, asked)
      return keep([], asked.steer, ctx)
    },
    go: (tools, ctx) => {
      const asked = waiting.get(ctx.sessionId)
      if (asked === undefined) return undefined
      if (asked.named === undefined) return planned(asked, tools, ctx)
      // What the hook has set before counts no longer.
      return ctx.askedAgain ? keep(asked.named, asked.steer, ctx) : undefined
    }
  }
}

const keep = (named: ReadonlyArray<string>, steer: boolean, ctx: HookContext): undefined => {
  const memory = memoryOf(ctx)
  const before = steer ? memory.get("plan") ?? [] : []
  memory.set("plan", [...new Set([...before, ...named])])
  return undefined
}
