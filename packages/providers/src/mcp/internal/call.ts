/** Calls a tool of a server for an agent. */
import type { Tool, ToolContext } from "@belay/core/defineTool"
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readAnswer } from "./answer.ts"
import { type Client, never } from "./client.ts"
import { McpError } from "./error.ts"
import { adviceFor, fateOf, isLoginLost, messageOf } from "./lost.ts"
import type { Pool, Used } from "./pool.ts"

/** A call, by the name of the tool on its server. */
export interface Call {
  readonly name: string
  readonly args: JsonObject
  readonly ctx: ToolContext
}

/** Calls a tool once. */
export const call = (client: Client, { args, ctx, name }: Call, server: string): Effect.Effect<unknown, McpError> =>
  Effect.tryPromise({
    try: async () =>
      client.callTool(
        { name, arguments: { ...args } },
        { signal: ctx.signal, timeout: never, onprogress: ctx.progress }
      ),
    catch: (error) => failureOf(server, name, error)
  })

const failureOf = (server: string, tool: string | undefined, error: unknown): McpError => {
  const fate = fateOf(error)
  return new McpError({
    server,
    message: `${messageOf(error)}${adviceFor(fate)}`,
    ...defined({ tool, fate })
  })
}

/** A call of a tool that was listed before. */
export interface LiveCall extends Call {
  /** What the server said about the tool. */
  readonly mark: string
  /** Whether the call may be sent again although it may have run. */
  readonly mayRepeat: boolean
}

/** Calls a tool on the connection of now, if it still is the tool that was listed. */
export const callLive = (pool: Pool, server: string, one: LiveCall): Effect.Effect<unknown, McpError> => {
  const { ctx, mark, mayRepeat, name } = one
  const once = pool.use(server, (used) =>
    Effect.gen(function*() {
      const now = (yield* used.listing).get(name)
      if (now !== mark) return yield* new McpError({ server, tool: name, message: changed(name, now !== undefined) })
      return yield* running(used, name, ctx, call(used.client, one, server))
    }))
  const repeated = Effect.catch(
    once,
    (error) => mayRepeat && error.fate === "unknown" && !ctx.signal.aborted ? once : Effect.fail(error)
  )
  return Effect.tapError(repeated, (error) => Effect.sync(() => isLoginLost(error) && pool.drop(server)))
}

const changed = (tool: string, isThere: boolean): string =>
  `the server ${isThere ? "has changed" : "no longer has"} the tool ${tool} since it was listed, so the call was not ` +
  "sent. The program must list the tools again (McpTools.fromServers) and make the agent with them."

/** Says for which call the server asks something meanwhile. */
const running = <A>(
  { calls }: Used,
  tool: string,
  { llm, sendSignal, sessionId, signal }: ToolContext,
  act: Effect.Effect<A, McpError>
): Effect.Effect<A, McpError> =>
  Effect.suspend(() => {
    const leave = calls.enter({ tool, sessionId, llm, sendSignal, signal, requests: 0 })
    return Effect.onExit(act, () => Effect.sync(leave))
  })

const Contents = Schema.Struct({ contents: Schema.Array(Schema.Unknown) })

/** A tool that reads a resource of the server. */
export const readerOf = (
  pool: Pool,
  server: string,
  name: string,
  { maxResultLength = 1_000_000 }: { readonly maxResultLength?: number }
): Tool<string, JsonObject> => ({
  name,
  description: `Reads a resource of the MCP server "${server}" by its address, such as one that a result links to`,
  input: {
    type: "object",
    properties: { uri: { type: "string", description: "the address of the resource" } },
    required: ["uri"],
    additionalProperties: false
  },
  execute: ({ uri }, { signal }) =>
    pool.use(server, ({ client }) =>
      Effect.gen(function*() {
        if (client.readResource === undefined) {
          return yield* new McpError({ server, message: `the client of "${server}" cannot read resources` })
        }
        const said = yield* Effect.tryPromise({
          try: async () => client.readResource!({ uri: String(uri) }, { signal, timeout: never, cacheMode: "refresh" }),
          catch: (error) => failureOf(server, undefined, error)
        })
        const read = Schema.decodeUnknownResult(Contents)(said)
        if (Result.isFailure(read)) {
          return yield* new McpError({ server, message: `the server's answer is not a resource: ${read.failure.message}` })
        }
        const content = read.success.contents.map((resource) => ({ type: "resource", resource }))
        return yield* Effect.mapError(
          Effect.fromResult(readAnswer({ content }, maxResultLength)),
          (message) => new McpError({ server, message })
        )
      }))
})
