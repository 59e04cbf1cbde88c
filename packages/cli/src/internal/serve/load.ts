/** Loads what is to be served. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { messageOf } from "@belay/core/ErrorMessage"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { usageError } from "../flags.ts"
import { plain } from "../screen.ts"
import { type CommandError, commandError, type Usage } from "../usage.ts"

/** A host, or the options of an agent. */
export type Served =
  | {
    readonly host: Host.Host
    /** Closes what the host uses. Absent if that is not known. */
    readonly close?: () => Promise<void>
  }
  | { readonly agent: AgentConfig }

/**
 * Loads a module. Its default export is a host, the options of a host (`{ agent, store }`), or the options of an agent.
 */
export const loadServed = (path: string): Effect.Effect<Served, Usage | CommandError> =>
  Effect.gen(function*() {
    const file = resolve(path)
    if (!existsSync(file)) return yield* usageError(`there is no file ${plain(path)}`)
    const module: unknown = yield* Effect.tryPromise({
      try: () => import(pathToFileURL(file).href),
      catch: (error) => {
        const message = `${plain(path)} could not be loaded: ${plain(messageOf(error))}`
        return Object(error)._tag === "StoreError" ? commandError(message) : usageError(message)
      }
    })
    const exported: unknown = Object(module).default
    if (isHost(exported)) return { host: exported }
    if (has(exported, "agent") && has(exported, "store")) {
      return yield* Effect.try({
        // `Host.make` checks them.
        try: () => ({ host: Host.make(exported as unknown as Host.Options), close: () => closeAll(exported) }),
        catch: (error) => usageError(`${plain(path)}: ${plain(messageOf(error))}`)
      })
    }
    // `createAgent` checks them.
    if (has(exported, "provider")) return { agent: exported as unknown as AgentConfig }
    return yield* usageError(
      `${plain(path)} has no default export that can be served: ` +
        "export default a host, { agent, store }, or the options of createAgent"
    )
  })

/** Closes the agent, then the store. */
const closeAll = async (options: object): Promise<void> => {
  const { agent, store } = options as { readonly [name: string]: { readonly close?: () => unknown } }
  await agent?.close?.()
  await store?.close?.()
}

const has = (value: unknown, field: string): value is object =>
  typeof value === "object" && value !== null && field in value

const isHost = (value: unknown): value is Host.Host =>
  ["send", "decide", "events", "start"].every((name) => typeof Object(value)[name] === "function")
