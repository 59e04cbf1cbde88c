/** An MCP server over HTTP with sessions, which forgets them when it is restarted. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"

/**
 * How the server treats calls: it answers, the connection breaks before or within the answer, it reports progress, or it
 * refuses every request.
 */
export type Mode = "answer" | "break" | "break-stream" | "progress" | "refuse"

/** A server that can be stopped and started again on its port. */
export interface SessionServer {
  readonly url: string
  mode: Mode
  /** How a server answers a session that it does not know. */
  unknownSession: 400 | 404
  /** How many calls it has run. */
  readonly ran: () => number
  readonly sessions: () => number
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

export const sessionServer = async (): Promise<SessionServer> => {
  const sockets = new Set<Socket>()
  const known = new Set<string>()
  let count = 0
  let ran = 0
  let port = 0
  let server: Server | undefined

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let text = ""
    for await (const bytes of incoming) text += String(bytes)
    if (incoming.method !== "POST") return void outgoing.writeHead(incoming.method === "DELETE" ? 200 : 405).end()
    const { id, method, params } = JSON.parse(text)
    const send = (status: number, body: object, headers = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers })
      outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, ...body }))
    }
    if (here.mode === "refuse") return void outgoing.writeHead(401).end()
    if (method === "initialize") {
      const session = `session-${++count}`
      known.add(session)
      const { protocolVersion } = params
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
      return send(200, { result }, { "mcp-session-id": session })
    }
    if (!known.has(String(incoming.headers["mcp-session-id"]))) {
      const message = here.unknownSession === 404 ? "Session not found" : "Bad Request: No valid session ID provided"
      return send(here.unknownSession, { error: { code: -32000, message } })
    }
    if (id === undefined) return void outgoing.writeHead(202).end()
    if (method === "tools/list") {
      return send(200, { result: { tools: [{ name: "count", inputSchema: { type: "object" } }] } })
    }
    ran++
    if (here.mode === "break") return void incoming.socket.destroy()
    if (here.mode === "break-stream") {
      outgoing.writeHead(200, { "content-type": "text/event-stream" })
      return void outgoing.write(": working\n\n", () => incoming.socket.destroy())
    }
    const result = { content: [{ type: "text", text: String(ran) }] }
    if (here.mode === "progress") {
      const { progressToken } = params._meta
      const half = { progressToken, progress: 1, total: 2, message: "half" }
      const messages = [{ method: "notifications/progress", params: half }, { id, result }]
      outgoing.writeHead(200, { "content-type": "text/event-stream" })
      const lines = messages.map((one) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...one })}\n\n`)
      return void outgoing.end(lines.join(""))
    }
    send(200, { result })
  }
  const here: SessionServer = {
    get url() {
      return `http://127.0.0.1:${port}/mcp`
    },
    mode: "answer",
    unknownSession: 404,
    ran: () => ran,
    sessions: () => count,
    stop: async () => {
      known.clear()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server?.close(resolve))
      // The client notices that its connections are closed.
      for (let turns = 0; turns < 20; turns++) await turn()
    },
    start: async () => {
      server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
      server.on("connection", (socket) => sockets.add(socket))
      await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve))
      const address = server.address()
      port = typeof address === "object" && address !== null ? address.port : 0
    }
  }
  await here.start()
  return here
}
