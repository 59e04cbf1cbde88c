/**
 * Serves an agent as an MCP server with one tool, which sends it a message. A question to a person is an elicitation.
 * Needs the package `@modelcontextprotocol/server`.
 *
 * @since 0.1.0
 */
import { assertArguments } from "@belay/core/ArgumentCheck"
import type { McpHttpHandler, Server } from "@modelcontextprotocol/server"
import { loadPeer, passOn } from "../foreign/internal/peer.ts"
import { checkOrigin } from "./internal/checkSite.ts"
import { endpoint } from "./internal/endpoint.ts"
import { askAgent } from "./internal/mcp/askAgent.ts"
import { withEnd } from "./internal/sse.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Options of the MCP server. @category models @since 0.1.0 */
export interface Options {
  /** The name of the tool. Default `ask_agent`. */
  readonly tool?: string
  /** What the tool does, for the model that calls it. */
  readonly description?: string
}

/** How many values a body may have: the tool takes two texts, and the SDK checks each value. */
const maxValues = 5_000

const load = () => loadPeer("@modelcontextprotocol/server", () => import("@modelcontextprotocol/server").catch(passOn))

/**
 * Makes the handler of streamable HTTP. Questions need a client of protocol revision 2026-07-28; older clients are
 * served without a session, where a server cannot ask. It can be mounted under any path.
 *
 * @category constructors
 * @since 0.1.0
 */
export const handler = (serve: Serve, options: Options = {}): Handler => {
  let made: Promise<McpHttpHandler> | undefined
  const make = async (): Promise<McpHttpHandler> => {
    const { createMcpHandler } = await load()
    // The client knows why its request was refused.
    const onerror = (error: Error) =>
      error.name === "ProtocolError" || error.message.startsWith("Rejected inbound")
        ? undefined :
        serve.onError(error, "an error of the protocol")
    return createMcpHandler(({ authInfo }) => server(serve, authInfo?.clientId ?? "", options), { onerror })
  }
  return endpoint(
    serve,
    ({ message }) => ({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } }),
    async (call) => {
      // The protocol asks for it, also where a request only reads.
      checkOrigin(serve, call.request)
      const { fetch } = await (made ??= make())
      const { principal, request } = call
      const authInfo = { token: "", clientId: principal, scopes: [] }
      return withEnd(
        await fetch(
          request,
          request.method === "POST" ? { authInfo, parsedBody: await call.body(maxValues) } : { authInfo }
        )
      )
    }
  )
}

/**
 * Makes a server for one principal, for any transport of the SDK: `await (await Mcp.server(serve,
 * "ada")).connect(transport)`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const server = async (serve: Serve, principal: string, options: Options = {}): Promise<Server> => {
  const areRight = typeof Object(serve).model === "string" && typeof principal === "string" && options !== null
  assertArguments(areRight, "Mcp.server", ["serve", "principal", "options"], [serve, principal, options])
  const { tool = "ask_agent", description = "Sends a message to the agent and returns its answer." } = options
  const { Server: SdkServer } = await load()
  const made = new SdkServer({ name: serve.model, version: "1.0.0" }, { capabilities: { tools: {} } })
  made.setRequestHandler("tools/list", () => ({ tools: [{ name: tool, description, inputSchema, outputSchema }] }))
  made.setRequestHandler("tools/call", async ({ params }, context) =>
    params.name === tool
      ? await askAgent(serve, { principal, args: params.arguments, context })
      : { content: [{ type: "text", text: `there is no tool ${params.name}` }], isError: true })
  return made
}

const inputSchema = {
  type: "object" as const,
  properties: {
    message: { type: "string", description: "The message" },
    session: { type: "string", description: "The session of an earlier answer, to continue it. Default: a new one" }
  },
  required: ["message"]
}

const outputSchema = {
  type: "object" as const,
  properties: { text: { type: "string" }, session: { type: "string" } },
  required: ["text", "session"]
}
