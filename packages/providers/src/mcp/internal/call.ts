/** Calls a tool of a server for an agent. */
import type { Tool, ToolContext } from "@belay/core/defineTool"
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readAnswer } from "./answer.ts"
import { type Client, never } from "./client.ts"
import { answerQuestion } from "./elicit.ts"
import { McpError } from "./error.ts"
import { adviceFor, fateOf, messageOf } from "./lost.ts"
import type { Pool, Used } from "./pool.ts"
import type { RunningCall } from "./runningCalls.ts"

/** A call, by the name of the tool on its server. */
export interface Call {
  readonly name: string
  readonly args: JsonObject
  readonly ctx: ToolContext
}

/** Calls a tool once. */
export const call = (client: Client, { args, ctx, name }: Call, server: string): Effect.Effect<unknown, Failed> =>
  Effect.tryPromise({
    try: async () =>
      client.callTool(
        { name, arguments: { ...args } },
        { signal: ctx.signal, timeout: never, onprogress: ctx.progress }
      ),
    catch: (error) => failureOf(server, name, error)
  })

const failureOf = (server: string, tool: string | undefined, error: unknown): Failed => {
  const fate = fateOf(error)
  const elicitations = elicitationsOf(error)
  const urls = elicitations.map(({ url }) => url).join(", ")
  const first = urls === "" ? "" : ` (the user must open ${urls} first)`
  const failed: Failed = new McpError({
    server,
    message: `${messageOf(error)}${first}${adviceFor(fate)}`,
    ...defined({ tool, fate })
  })
  failed.elicitations = elicitations
  return failed
}

/** An error, and the addresses that the user must open before the call can run. */
interface Failed extends McpError {
  elicitations?: ReadonlyArray<Elicitation>
}

type Elicitation = typeof Elicitations.Type[number]

const Elicitations = Schema.Array(Schema.Struct({
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  elicitationId: Schema.String
}))

/** The code of an error that asks the user to open addresses. */
const urlRequired = -32_042

const elicitationsOf = (error: unknown): ReadonlyArray<Elicitation> => {
  const { code, data } = error as { readonly code?: unknown; readonly data?: { readonly elicitations?: unknown } }
  if (code !== urlRequired) return []
  const read = Schema.decodeUnknownResult(Elicitations)(data?.elicitations)
  return Result.isSuccess(read) ? read.success.slice(0, 10) : []
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
      return yield* running(used, one, (running) => callOrAsk(pool, server, used, one, running))
    }))
  return Effect.catch(
    once,
    (error) => mayRepeat && error.fate === "unknown" && !ctx.signal.aborted ? once : Effect.fail(error)
  )
}

const changed = (tool: string, isThere: boolean): string =>
  `the server ${isThere ? "has changed" : "no longer has"} the tool ${tool} since it was listed, so the call was not ` +
  "sent. The program must list the tools again (McpTools.fromServers) and make the agent with them."

/** Says for which call the server asks something meanwhile. */
const running = <A>(
  { calls }: Used,
  { ctx: { llm, sendSignal, sessionId, signal }, name: tool }: Call,
  act: (running: RunningCall) => Effect.Effect<A, McpError>
): Effect.Effect<A, McpError> =>
  Effect.suspend(() => {
    const one = { tool, sessionId, llm, sendSignal, signal, requests: 0 }
    const leave = calls.enter(one)
    return Effect.onExit(act(one), () => Effect.sync(leave))
  })

/** Calls a tool. If the server wants the user to open addresses first, it is called again when they have. */
const callOrAsk = (
  { rights: { onElicit } }: Pool,
  server: string,
  { client }: Used,
  one: Call,
  running: RunningCall
): Effect.Effect<unknown, McpError> =>
  Effect.catch(call(client, one, server), (error) => {
    const { elicitations = [] } = error
    if (elicitations.length === 0 || onElicit === undefined) return Effect.fail(error)
    const asked = Effect.forEach(elicitations, (question) => answerQuestion(server, question, onElicit, running))
    return Effect.flatMap(Effect.result(asked), (answers) => {
      const hasAll = Result.isSuccess(answers) && answers.success.every(({ action }) => action === "accept")
      return hasAll ? call(client, one, server) : Effect.fail(error)
    })
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
          // The schema has checked that it is a text.
          try: async () =>
            client.readResource!({ uri: uri as string }, { signal, timeout: never, cacheMode: "refresh" }),
          catch: (error) => failureOf(server, undefined, error)
        })
        const read = Schema.decodeUnknownResult(Contents)(said)
        if (Result.isFailure(read)) {
          return yield* new McpError({
            server,
            message: `the server's answer is not a resource: ${read.failure.message}`
          })
        }
        const content = read.success.contents.map((resource) => ({ type: "resource", resource }))
        return yield* Effect.mapError(
          Effect.fromResult(readAnswer({ content }, maxResultLength)),
          (message) => new McpError({ server, message })
        )
      }))
})
