import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"

/** A request as it arrived on a socket. */
export interface RawRequest {
  /** The socket, by its order. */
  readonly socket: number
  /** The request, by its order on this socket. */
  readonly nth: number
  readonly head: string
}

/** A server that answers each complete request with `answer`, which writes and closes as it likes. */
export const rawServer = (
  answer: (socket: Socket, request: RawRequest) => void,
  make: (onSocket: (socket: Socket) => void) => Server = (onSocket) => createServer(onSocket)
): Effect.Effect<{ readonly port: number; readonly requests: ReadonlyArray<RawRequest> }, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const requests: Array<RawRequest> = []
        const sockets = new Set<Socket>()
        const server = make((socket) => {
          sockets.add(socket)
          const number = sockets.size
          let nth = 0
          let text = ""
          socket.on("error", () => {})
          socket.on("data", (bytes: Buffer) => {
            text += bytes.toString("latin1")
            const head = text.indexOf("\r\n\r\n")
            const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
            if (head < 0 || text.length < head + 4 + length) return
            const request = { socket: number, nth: ++nth, head: text.slice(0, head) }
            text = ""
            requests.push(request)
            answer(socket, request)
          })
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        return { port, requests, close }
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port, requests }) => ({ port, requests })
  )

/** An HTTP answer with `text` as its content, on a connection that stays open, as it says. */
export const httpAnswer = (text: string): string => {
  const body = JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }]
  })
  return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\n" +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
