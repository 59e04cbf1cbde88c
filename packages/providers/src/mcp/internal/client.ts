/** The part of a connected MCP client that Belay uses. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { McpError } from "./error.ts"

/** A connected client, such as that of `@modelcontextprotocol/client`. @category models @since 0.1.0 */
export interface Client {
  readonly listTools: (
    params: { cursor: string } | undefined,
    options: { cacheMode: "refresh" }
  ) => PromiseLike<{ readonly tools: ReadonlyArray<unknown>; readonly nextCursor?: unknown }>
  readonly callTool: (
    params: { name: string; arguments: { [key: string]: unknown } },
    options: { signal: AbortSignal; timeout: number }
  ) => PromiseLike<unknown>
}

/** A server with more pages than this does not stop listing. */
const maxPages = 1_000

/** Lists all tools of a server, page by page. */
export const list = (client: Client, server: string): Effect.Effect<ReadonlyArray<unknown>, McpError> =>
  Effect.gen(function*() {
    const all: Array<unknown> = []
    const cursors = new Set<string>()
    let cursor: string | undefined
    do {
      const page = yield* Effect.tryPromise({
        try: async () => client.listTools(cursor === undefined ? undefined : { cursor }, { cacheMode: "refresh" }),
        catch: (error) => new McpError({ server, message: `${server} cannot list its tools: ${messageOf(error)}` })
      })
      const decoded = Schema.decodeUnknownResult(Page)(page)
      if (Result.isFailure(decoded)) {
        return yield* new McpError({ server, message: `${server} cannot list its tools: ${decoded.failure.message}` })
      }
      all.push(...decoded.success.tools)
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

export const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
