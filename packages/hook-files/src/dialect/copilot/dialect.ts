/** The rules of GitHub Copilot for the engine. */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import { resolve } from "node:path"
import type { Dialect } from "../../engine/Dialect.ts"
import { cap } from "../../internal/fields.ts"
import { environment } from "../../process/internal/environment.ts"
import { type Answer, merge, silent, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import { type EventName, guards } from "./events.ts"
import { read } from "./readAnswer.ts"

/** An event in both formats: with the camel case fields of Copilot, and with the fields of Claude Code. */
export interface Input {
  readonly camel: JsonObject
  /** The fields with their Copilot names. Entries in Pascal case read them in snake case. */
  readonly pascal: JsonObject
}

export interface Options {
  readonly projectDir: string
  readonly home: string | undefined
  /** Names of variables of the host that commands inherit. */
  readonly passEnv: ReadonlyArray<string>
}

export const make = (options: Options): Dialect<Handler, Input, Answer, Verdict> => {
  const { projectDir } = options
  const variables = variablesOf(options)
  return {
    name: "copilot",
    matches: ({ matches, work }, [value = "", claude = value]) => work.type !== "prompt" && matches(value, claude),
    concurrency: () => 1,
    request: (entry, { camel, pascal }, ctx, { now }) => ({
      input: entry.pascal
        ? {
          ...snake(pascal),
          hook_event_name: entry.event,
          session_id: ctx.root.sessionId,
          timestamp: new Date(now).toISOString(),
          cwd: ctx.cwd
        }
        : { ...camel, sessionId: ctx.root.sessionId, timestamp: now, cwd: ctx.cwd },
      cwd: entry.cwd === undefined ? projectDir : resolve(projectDir, entry.cwd),
      env: variables(entry, ctx),
      timeoutMs: entry.timeoutMs
    }),
    decode: (ending, entry) => ending.type === "finished" ? read(entry, ending.finished) : silent,
    silent,
    guards: ({ point }) => guards.has(point),
    deny: (reason) => ({ denied: cap(reason) }),
    ask: (asks, { point }) => point === "preToolUse" || point === "permissionRequest" ? { asks } : undefined,
    merge,
    report: ({ answer, entry: { event, key } }, ctx) => {
      for (const progress of answer.progress) ctx.events.emit("hook-progress", { event, key, ...progress })
    }
  }
}

/** Returns the camel case name of the event of an entry. */
export const eventOf = ({ point }: Handler): EventName => point

/** Fields that have a different name in the snake case format. */
const renamed: { readonly [name: string]: string } = { toolArgs: "tool_input", response: "last_assistant_message" }

const snake = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      Object.hasOwn(renamed, name) ? renamed[name]! : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      // The field `toolResult` is always an object.
      name === "toolResult" ? snake(value as JsonObject) : value
    ])
  )

/**
 * Returns the variables of an entry. Warns once about a value that refers to a variable which commands do not inherit.
 */
const variablesOf = ({ home, passEnv, projectDir }: Options) => {
  const folders = { COPILOT_PROJECT_DIR: projectDir, CLAUDE_PROJECT_DIR: projectDir }
  const base = home === undefined ? folders : { ...folders, HOME: home }
  const warned = new Set<string>()
  return ({ env = {}, file, key }: Handler, ctx: HookContext): { readonly [name: string]: string } => {
    const visible = environment(passEnv, base)
    const filled = Object.entries(env).map(([name, value]) => {
      const hidden = namesIn(value).filter((one) => !Object.hasOwn(visible, one))
      const id = `${file} ${key} ${name}`
      if (hidden.length > 0 && !warned.has(id)) {
        warned.add(id)
        const names = hidden.join(", ")
        ctx.warn(
          `${file}: ${key}.env.${name}: ${names} is empty, because commands do not inherit it: add it to \`passEnv\``
        )
      }
      return [name, expand(value, visible)] as const
    })
    return { ...base, ...Object.fromEntries(filled) }
  }
}

const reference = /\$(?:\{(\w+)\}|([A-Za-z_]\w*))/g

const namesIn = (value: string): ReadonlyArray<string> =>
  [...value.matchAll(reference)].map(([, braced, bare]) => braced ?? bare ?? "")

/**
 * Replaces `$NAME` and `${NAME}` by the values of variables that commands inherit. Other variables are replaced by an
 * empty text.
 */
const expand = (value: string, visible: { readonly [name: string]: string }): string =>
  value.replaceAll(reference, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? ""
    return Object.hasOwn(visible, name) ? visible[name]! : ""
  })
