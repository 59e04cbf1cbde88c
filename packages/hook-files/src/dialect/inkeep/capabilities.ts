/**
 * The capabilities of attached hooks. They are the same in a sandbox and in process, and the host executes each of
 * them.
 */
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { HttpRequest } from "@belay/core/Http"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import type { Bag } from "./variables.ts"

/**
 * Calls and lists the MCP tools of the project, including tools that the agent does not have.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mcp {
  readonly callTool: (server: string, tool: string, args: JsonObject) => Eventual<Json>
  readonly listTools: () => Eventual<Json>
}

export interface Providers {
  readonly mcp?: ((ctx: HookContext) => Mcp) | undefined
  readonly secrets?: ((name: string, ctx: HookContext) => Eventual<string | undefined>) | undefined
}

/** Maps each token to its secret. A token is valid only for one tool call or one run of a hook. */
export type Tokens = Map<string, string>

export type Capabilities = { readonly [path: string]: (...args: ReadonlyArray<Json>) => Eventual<Json | void> }

const Http = Schema.Struct({
  url: Schema.String,
  method: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  body: Schema.optionalKey(Schema.String)
})

const decodeHttp = Schema.decodeUnknownOption(Http)

export const capabilities = (
  bag: Bag,
  tokens: Tokens,
  callId: string | undefined,
  { mcp = ofAgent, secrets }: Providers,
  ctx: HookContext
): Capabilities => {
  const about = (mimeType: Json | undefined) => ({
    ...(typeof mimeType === "string" ? { mimeType } : {}),
    ...(callId === undefined ? {} : { toolCallId: callId })
  })
  return {
    "variableBag.get": (key = "", scope) => bag.get(key, scope),
    "variableBag.set": (key = "", value = null, scope) => bag.set(key, value, scope),
    "variableBag.about": (key = "", scope) => {
      const about = bag.about(key, scope)
      return about === undefined ? undefined : { ...about }
    },
    "variableBag.delete": (key = "", scope) => bag.delete(key, scope),
    "variableBag.getAll": (scope) => bag.getAll(scope),
    "artifacts.write": (key, content, mimeType) =>
      Effect.map(ctx.artifacts.write(text(key), text(content), about(mimeType)), ({ ref }) => ref),
    "artifacts.append": (key, content, mimeType) =>
      Effect.map(ctx.artifacts.append(text(key), text(content), about(mimeType)), ({ ref }) => ref),
    "artifacts.read": (key) => ctx.artifacts.read(text(key)),
    "http.fetch": (request, init) =>
      Option.match(
        decodeHttp(typeof request === "string" ? { ...(init as object | undefined), url: request } : request),
        {
          onNone: () => Effect.fail("expected { url, method?, headers?, body? }, all texts"),
          onSome: (asked) =>
            Effect.map(
              ctx.http(revealSecrets(asked, tokens) as unknown as HttpRequest),
              (response) => concealSecrets({ ...response, headers: { ...response.headers } }, tokens)
            )
        }
      ),
    "mcp.callTool": (...args) => {
      const [server, tool, input] = args.length > 2 ? args : [...split(text(args[0])), args[1]]
      return mcp(ctx).callTool(text(server), text(tool), (input ?? {}) as JsonObject)
    },
    "mcp.listTools": () => mcp(ctx).listTools(),
    ...(secrets === undefined ? {} : {
      "secrets.get": (name) =>
        Effect.map(eventual(() => secrets(text(name), ctx)), (value) => {
          if (value === undefined) return undefined
          const token = `secret-${randomUUID()}`
          tokens.set(token, value)
          return token
        })
    })
  }
}

/** Uses the MCP servers of the agent's host. */
const ofAgent = (ctx: HookContext): Mcp => ({
  callTool: (server, tool, args) => Effect.map(ctx.mcp.callTool(server, tool, args), (result) => ({ ...result })),
  listTools: () => Effect.map(ctx.mcp.listTools(), (tools) => tools.map((tool) => ({ ...tool })))
})

const text = (value: Json | undefined): string => typeof value === "string" ? value : JSON.stringify(value ?? "")

/** Splits `server.tool` or `server__tool` into the server and the tool. */
const split = (name: string): readonly [string, string] => {
  const [, server = "", tool = ""] = /^(?:mcp__)?(.+?)(?:\.|__)(.+)$/.exec(name) ?? []
  return [server, tool]
}

const mapTexts = (value: Json, change: (text: string) => string): Json => {
  if (typeof value === "string") return change(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => mapTexts(one, change))
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, one]) => [key, mapTexts(one, change)]))
}

/** Replaces tokens by their secrets. */
export const revealSecrets = (value: Json, tokens: Tokens): Json =>
  tokens.size === 0
    ? value
    : mapTexts(value, (text) =>
      text.includes("secret-")
        ? [...tokens].reduce((all, [token, secret]) => all.replaceAll(token, () => secret), text)
        : text)

/** Replaces secrets by their tokens. */
export const concealSecrets = (value: Json, tokens: Tokens): Json =>
  tokens.size === 0
    ? value
    : mapTexts(value, (text) =>
      [...tokens].reduce((all, [token, secret]) => secret === "" ? all : all.replaceAll(secret, token), text))
