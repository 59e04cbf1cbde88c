/**
 * What the tests of the HTTP guard share: a network in memory that writes down what is asked of it, and servers on
 * loopback.
 */
import * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Effect from "effect/Effect"
import { createServer, type Server, type Socket } from "node:net"
import { type Duplex, duplexPair } from "node:stream"

/** Handles one connection; `head` is the request's, as it was written. */
export type Handler = (head: string, socket: Duplex) => void

/** Answers with these bytes, and ends. */
export const says = (...parts: ReadonlyArray<string | Uint8Array>): Handler => (_head, socket) => {
  for (const part of parts) socket.write(part)
  socket.end()
}

/** A whole answer. */
export const answer = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = ""
): Handler =>
  says(
    `HTTP/1.1 ${status} Status\r\n${
      Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
    }content-length: ${Buffer.byteLength(body)}\r\n\r\n`,
    body
  )

/** Calls the handler when a request's head, and the body its length promises, have come. */
export const serve = (socket: Duplex, handler: Handler): void => {
  let text = ""
  let isServed = false
  socket.on("error", () => {})
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1")
    const end = text.indexOf("\r\n\r\n")
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
    if (isServed || end < 0 || text.length < end + 4 + length) return
    isServed = true
    handler(text, socket)
  })
}

type Answers = ReadonlyArray<unknown>

/**
 * A network in memory: names with their answers, one after the other, and servers by `address:port`. Nothing is
 * connected to.
 */
export const network = (
  names: Readonly<Record<string, ReadonlyArray<Answers | Error>>>,
  servers: Readonly<Record<string, Handler>> = {}
) => {
  const resolved: Array<string> = []
  const connected: Array<string> = []
  const heads: Array<string> = []
  const resolve = async (name: string): Promise<ReadonlyArray<HttpGuard.Resolved>> => {
    const before = resolved.filter((one) => one === name).length
    resolved.push(name)
    const all = names[name] ?? []
    const found = all[Math.min(before, all.length - 1)] ?? new Error(`no such name: ${name}`)
    if (found instanceof Error) throw found
    return found as ReadonlyArray<HttpGuard.Resolved>
  }
  const connect = async ({ address, port }: HttpGuard.Peer): Promise<Duplex> => {
    const to = `${address}:${port}`
    connected.push(to)
    const handler = servers[to]
    if (handler === undefined) throw new Error(`connection to ${to} refused`)
    const [near, far] = duplexPair()
    serve(far, (head, socket) => {
      heads.push(head)
      handler(head, socket)
    })
    return near
  }
  return { resolved, connected, heads, resolve, connect }
}

export const v4 = (address: string) => ({ address, family: 4 })
export const v6 = (address: string) => ({ address, family: 6 })

/** How a request ended, in a line. */
export const outcome = (
  guard: HttpGuard.HttpGuard,
  url: string,
  init?: HttpGuard.Init
): Effect.Effect<string> =>
  Effect.match(guard.request(url, init), {
    onSuccess: ({ body, status }) => `${status} ${body}`,
    onFailure: (error) => error._tag === "HttpFailed" ? "failed" : `refused: ${error.reason}`
  })

/** A server on loopback, for what is allowed there. */
export const loopback = (handler: Handler | ((socket: Socket) => void), raw = false) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly host: string; readonly sockets: Set<Socket> }>((resume) => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
        socket.on("error", () => {})
        if (raw) (handler as (socket: Socket) => void)(socket)
        else serve(socket, handler as Handler)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          Effect.succeed({ server, sockets, host: `127.0.0.1:${typeof address === "object" ? address?.port : ""}` })
        )
      })
    }),
    ({ server, sockets }) =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )

/** An address of nobody here. */
export const home = "93.184.215.14"

/** A guard in front of one server, which is not really there. */
export const facing = (handler: Handler, options: HttpGuard.Options = {}) => {
  const { connect, resolve, ...net } = network({ "a.example.com": [[v4(home)]] }, { [`${home}:80`]: handler })
  return { ...net, guard: HttpGuard.make({ policy: { allowHttp: true }, resolve, connect, ...options }) }
}

/** The head of an answer. */
export const head = (...lines: ReadonlyArray<string>) => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n")
