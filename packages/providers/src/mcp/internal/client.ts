/** The part of a connected MCP client that Belay uses. */
import * as Deadline from "@belay/core/Deadline"
import { defined } from "@belay/core/Fields"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { McpError } from "./error.ts"
import { fateOf, messageOf } from "./lost.ts"

/** A connected client, such as that of `@modelcontextprotocol/client`. @category models @since 0.1.0 */
export interface Client {
  readonly listTools: (
    params: { cursor: string } | undefined,
    options: { cacheMode: "refresh"; signal: AbortSignal; timeout: number }
  ) => PromiseLike<{ readonly tools: ReadonlyArray<unknown>; readonly nextCursor?: unknown }>
  readonly callTool: (
    params: { name: string; arguments: { [key: string]: unknown } },
    options: { signal: AbortSignal; timeout: number; onprogress?: (progress: Progress) => void }
  ) => PromiseLike<unknown>
  readonly readResource?: (
    params: { uri: string },
    options: { cacheMode: "refresh"; signal: AbortSignal; timeout: number }
  ) => PromiseLike<unknown>
}

/** How far a call is, as the server reports it. @category models @since 0.2.0 */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A server with more pages than this does not stop listing. */
const maxPages = 1_000

/** A server with more tools than this is refused. */
const maxTools = 5_000

/** How many milliseconds a server has to list its tools. */
const listTimeoutMs = 30_000

/** Lists all tools of a server, page by page. Fails if that takes longer than `timeoutMs` milliseconds. */
export const list = (
  client: Client,
  server: string,
  timeoutMs = listTimeoutMs
): Effect.Effect<ReadonlyArray<unknown>, McpError> =>
  Effect.flatMap(Deadline.now, (start) =>
    Deadline.until(
      pages(client, server),
      () => start + timeoutMs,
      () => {
        const message = `${server} cannot list its tools: it took longer than ${timeoutMs} ms`
        return Effect.fail(new McpError({ server, message }))
      }
    ))

const pages = (client: Client, server: string): Effect.Effect<ReadonlyArray<unknown>, McpError> =>
  Effect.gen(function*() {
    const all: Array<unknown> = []
    const cursors = new Set<string>()
    let cursor: string | undefined
    do {
      const page = yield* Effect.tryPromise({
        try: async (signal) =>
          client.listTools(cursor === undefined ? undefined : { cursor }, {
            cacheMode: "refresh",
            signal,
            timeout: never
          }),
        catch: (error) =>
          new McpError({
            server,
            message: `${server} cannot list its tools: ${messageOf(error)}`,
            ...defined({ fate: fateOf(error) })
          })
      })
      const decoded = Schema.decodeUnknownResult(Page)(page)
      if (Result.isFailure(decoded)) {
        return yield* new McpError({ server, message: `${server} cannot list its tools: ${decoded.failure.message}` })
      }
      const { tools } = decoded.success
      if (all.length + tools.length > maxTools) {
        const message = `${server} cannot list its tools: it has more than ${maxTools}`
        return yield* new McpError({ server, message })
      }
      all.push(...tools)
      cursor = decoded.success.nextCursor
      if (cursor === undefined) {
        continue
      }
      if (cursors.has(cursor) || cursors.size >= maxPages) {
        return yield* new McpError({ server, message: `${server} cannot list its tools: the list has no end` })
      }
      cursors.add(cursor)
    } while (cursor !== undefined)
    return all
  })

const Page = Schema.Struct({ tools: Schema.Array(Schema.Unknown), nextCursor: Schema.optional(Schema.String) })

/** A timeout that is so long that the timer of the client never fires before the agent's. */
export const never = 2_147_483_647
