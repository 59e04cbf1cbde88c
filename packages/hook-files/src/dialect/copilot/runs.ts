/**
 * Runs the hooks of an event of GitHub Copilot, one after another in the order of the configuration, and puts together
 * what they say.
 */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import * as Entries from "../../engine/entries.ts"
import { labelOf } from "../../engine/record.ts"
import { environment } from "../../process/internal/environment.ts"
import * as Output from "./answer.ts"
import { type EventName, fieldOf, type Handler } from "./config.ts"

/** An event about a tool says it twice: as Copilot knows it, and as Claude does. */
interface Told {
  readonly camel: JsonObject
  readonly pascal: JsonObject
}

/** Nothing where no hook fits. What is told in camel case alone is put in snake case for the others. */
export type Fire = (
  event: EventName,
  told: JsonObject | Told,
  ctx: HookContext
) => Effect.Effect<Output.Verdict> | undefined

export interface Setup {
  readonly handlers: ReadonlyArray<Handler>
  readonly entries: Entries.Entries<Handler>
  readonly projectDir: string
  readonly home: string | undefined
  readonly passEnv: ReadonlyArray<string>
  /** Whether a hook that broke denies a prompt, a tool call or a permission. */
  readonly blockOnError: boolean
}

export const make = ({ blockOnError, entries, handlers, home, passEnv, projectDir }: Setup): Fire => {
  const base = {
    COPILOT_PROJECT_DIR: projectDir,
    CLAUDE_PROJECT_DIR: projectDir,
    ...(home === undefined ? {} : { HOME: home })
  }
  const warned = new Set<string>()

  /** The variables of an entry; one that names what no command sees says so once. */
  const variables = ({ env = {}, file, key }: Handler, ctx: HookContext): { readonly [name: string]: string } => {
    const seen = environment(passEnv, base)
    const filled = Object.entries(env).map(([name, value]) => {
      const unseen = namesIn(value).filter((one) => !Object.hasOwn(seen, one))
      const id = `${file} ${key} ${name}`
      if (unseen.length > 0 && !warned.has(id)) {
        warned.add(id)
        ctx.warn(
          `${file}: ${key}.env.${name}: ${
            unseen.join(", ")
          } is empty, because commands do not see it: \`passEnv\` names what they see`
        )
      }
      return [name, expanded(value, seen)] as const
    })
    return { ...base, ...Object.fromEntries(filled) }
  }

  const one = (handler: Handler, { camel, pascal }: Told, ctx: HookContext): Effect.Effect<Output.Said> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { sessionId } = ctx.root
      const input: JsonObject = handler.pascal
        ? {
          ...snake(pascal),
          hook_event_name: handler.event,
          session_id: sessionId,
          timestamp: new Date(now).toISOString(),
          cwd: ctx.cwd
        }
        : { ...camel, sessionId, timestamp: now, cwd: ctx.cwd }
      const env = variables(handler, ctx)
      const cwd = handler.cwd === undefined ? projectDir : resolve(projectDir, handler.cwd)
      const said = yield* entries.run(
        handler,
        { input, cwd, env, timeoutMs: handler.timeoutMs },
        Output.read(handler, blockOnError),
        ctx
      )
      const label = labelOf(handler)
      for (const progress of said.progress) {
        ctx.events.emit("hook-progress", { event: handler.event, key: handler.key, ...progress })
      }
      if (said.problem !== undefined) ctx.warn(`${label} ${said.problem}`)
      for (const problem of said.problems) ctx.warn(`${label}: ${problem}`)
      if (said.message !== undefined) ctx.notifyUser(said.message)
      return said
    })
  return (event, told, ctx) => {
    const both = isTold(told) ? told : { camel: told, pascal: told }
    const field = fieldOf(event)
    const [value, claude] = field === undefined ? ["", ""] : [textOf(both.camel[field]), textOf(both.pascal[field])]
    const fitting = handlers.filter(({ matches, point, work }) =>
      point === event && work.type !== "prompt" && matches(value, claude)
    )
    return fitting.length === 0
      ? undefined
      : Effect.map(Effect.forEach(fitting, (handler) => one(handler, both, ctx)), Output.merge)
  }
}

/** What no hook says. */
export const none: Effect.Effect<Output.Verdict> = Effect.succeed({ contexts: [] })

const isTold = (told: JsonObject | Told): told is Told => "camel" in told

const textOf = (value: Json | undefined): string => typeof value === "string" ? value : ""

/** Names that are not only written otherwise. */
const others: { readonly [name: string]: string } = { toolArgs: "tool_input", response: "last_assistant_message" }

const snake = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      Object.hasOwn(others, name) ? others[name]! : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === "toolResult" ? snake(value as JsonObject) : value
    ])
  )

const reference = /\$(?:\{(\w+)\}|([A-Za-z_]\w*))/g

const namesIn = (value: string): ReadonlyArray<string> =>
  [...value.matchAll(reference)].map(([, braced, bare]) => braced ?? bare ?? "")

/** Fills in `$NAME` and `${NAME}` of what a command sees anyway; what it does not see is empty. */
const expanded = (value: string, seen: { readonly [name: string]: string }): string =>
  value.replaceAll(reference, (_, braced?: string, bare?: string) => {
    const wanted = braced ?? bare ?? ""
    return Object.hasOwn(seen, wanted) ? seen[wanted]! : ""
  })
