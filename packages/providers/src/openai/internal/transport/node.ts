/** HTTP transport over `node:http` with reused connections. */
import type { Agent as HttpAgent, ClientRequest, RequestOptions } from "node:http"
import { urlToHttpOptions } from "node:url"
import { type Content, readContent } from "./content.ts"
import type { ProxyVariables } from "./proxy.ts"
import { graceMs, type Method, type Transport } from "./transport.ts"

export type { HttpAgent }

/** How a transport connects: an agent of the user, or proxies. */
export interface Route {
  readonly agent?: HttpAgent
  /** Default: direct connections. */
  readonly proxies?: ProxyVariables | undefined
}

/** Creates a transport. All providers of the process with the same proxies share its connections. */
export const overNode = (
  address: string,
  { agent: given, proxies }: Route = {},
  method: Method = "POST"
): Transport => {
  const url = new URL(address)
  const isSecure = url.protocol === "https:"
  const agent = given ?? sharedAgent(isSecure, proxies)
  const { request } = moduleFor(isSecure)
  const { auth, hostname, path, port } = urlToHttpOptions(url)
  const target: RequestOptions = {
    hostname,
    path,
    method,
    ...(port === undefined ? {} : { port })
  }
  const listOf = lister({
    host: url.host,
    ...(auth === undefined || auth === null ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` })
  })
  return (headers, body, listener) => {
    let outgoing: ClientRequest | undefined
    let content: Content | undefined
    let isOver = false
    const length = method === "GET" ? [] : ["content-length", String(Buffer.byteLength(body))]
    const list = [...listOf(headers), ...length]
    const fail = (error: Error): void => {
      if (isOver) return
      isOver = true
      content?.stop()
      listener.onError(error)
    }
    const send = (through: HttpAgent, isRepeatable: boolean): void => {
      const sent = request({ ...target, agent: through, headers: list })
      outgoing = sent
      let readBefore = 0
      if (isRepeatable) sent.once("socket", (socket) => (readBefore = socket.bytesRead))
      sent.on("error", (error) => {
        // The server closed a kept connection while this request was on its way, so it has not seen the request.
        const isStale = isRepeatable && sent.reusedSocket && content === undefined &&
          sent.socket?.bytesRead === readBefore
        if (isStale && !isOver) send(given ?? makeAgent(isSecure, proxies, false), false)
        else fail(error)
      })
      sent.on("response", (response) => {
        if (isOver) return void response.resume()
        content = readContent(response, {
          onData: (bytes) => {
            if (!isOver) listener.onData(bytes)
          },
          onEnd: () => {
            if (isOver) return
            isOver = true
            listener.onEnd()
          },
          onError: fail
        })
        const { pause, resume } = content
        listener.onHeaders({ status: response.statusCode ?? 0, headers: response.headers, pause, resume })
      })
      sent.end(body)
    }
    send(agent, true)
    return {
      abort: () => {
        isOver = true
        content?.stop()
        outgoing?.destroy()
      },
      release: () => {
        isOver = true
        if (content?.drain() !== true) return
        const timer = setTimeout(() => outgoing?.destroy(), graceMs)
        timer.unref()
        outgoing?.once("close", () => clearTimeout(timer))
      }
    }
  }
}

const agents = new Map<string, HttpAgent>()

const sharedAgent = (isSecure: boolean, proxies: ProxyVariables | undefined): HttpAgent => {
  const key = `${isSecure} ${JSON.stringify(proxies)}`
  const known = agents.get(key)
  if (known !== undefined) return known
  const made = makeAgent(isSecure, proxies, true)
  agents.set(key, made)
  return made
}

const makeAgent = (isSecure: boolean, proxies: ProxyVariables | undefined, keepAlive: boolean): HttpAgent => {
  // By default, only 256 connections are kept: beyond that, each call would need a new one.
  const options = { keepAlive, maxFreeSockets: 2_048, ...(proxies === undefined ? {} : { proxyEnv: { ...proxies } }) }
  return new (moduleFor(isSecure)).Agent(options)
}

/** An `import` would load everything that the modules offer, such as WebSockets, at the start of every program. */
const moduleFor = (isSecure: boolean): typeof import("node:http") | typeof import("node:https") =>
  isSecure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http")

/**
 * Converts headers to a flat list, which `node:http` writes without checks. The list is cached for the same headers
 * object.
 */
const lister = (
  defaults: Readonly<Record<string, string>>
): (headers: Readonly<Record<string, string>>) => ReadonlyArray<string> => {
  let last: Readonly<Record<string, string>> | undefined
  let list: ReadonlyArray<string> = []
  return (headers) => {
    if (headers === last) return list
    last = headers
    list = Object.entries({ ...defaults, ...headers }).flat()
    return list
  }
}
