/** HTTP transport over `node:http` with reused connections. */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, RequestOptions } from "node:http"
import { urlToHttpOptions } from "node:url"
import type { HeaderMap } from "../request/headers.ts"
import { type Content, readContent } from "./content.ts"
import { ofProxy, type ProxyVariables } from "./proxy.ts"
import { graceMs, type Handle, type Incoming, type Listener, type Method, type Transport } from "./transport.ts"

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
  const line: Line = {
    hasBody: method !== "GET",
    listOf,
    request,
    target,
    spare: () => given ?? makeAgent(isSecure, proxies, false),
    proxies: given === undefined ? proxies : undefined
  }
  return (headers, body, listener) => {
    const sending = new Sending(line, headers, body, listener)
    sending.send(agent, true)
    return sending
  }
}

/** What all requests to an address share. */
interface Line {
  readonly hasBody: boolean
  /** Returns headers as a flat list. */
  readonly listOf: (headers: Readonly<Record<string, string>>) => ReadonlyArray<string>
  readonly request: typeof import("node:http").request
  readonly target: RequestOptions
  /** Returns an agent that opens a new connection. */
  readonly spare: () => HttpAgent
  readonly proxies: ProxyVariables | undefined
}

/** A request and the start of its answer. A class, because thousands of requests wait at once. */
class Sending implements Handle, Incoming {
  status = 0
  headers: HeaderMap = noHeaders
  private readonly line: Line
  private readonly ownHeaders: Readonly<Record<string, string>>
  private readonly body: string
  private listener: Listener
  private outgoing: ClientRequest | undefined = undefined
  private content: Content | undefined = undefined
  private isOver = false
  /** The bytes that the connection had received before this request. */
  private readBefore = 0

  constructor(line: Line, headers: Readonly<Record<string, string>>, body: string, listener: Listener) {
    this.line = line
    this.ownHeaders = headers
    this.body = body
    this.listener = listener
  }

  send(agent: HttpAgent, isRepeatable: boolean): void {
    const { body, line: { hasBody, listOf, request, target }, ownHeaders } = this
    const list = listOf(ownHeaders)
    const headers = hasBody ? [...list, "content-length", String(Buffer.byteLength(body))] : list
    const sent = request({ ...target, agent, headers })
    this.outgoing = sent
    if (isRepeatable) sent.once("socket", (socket) => (this.readBefore = socket.bytesRead))
    sent.on("error", (error) => {
      // The server closed a kept connection while this request was on its way, so it has not seen the request.
      const isStale = isRepeatable && sent.reusedSocket && this.content === undefined &&
        sent.socket?.bytesRead === this.readBefore
      if (isStale && !this.isOver) this.send(this.line.spare(), false)
      else this.onError(ofProxy(this.line.proxies, error))
    })
    sent.on("response", (response) => this.receive(response))
    sent.end(body)
  }

  private receive(response: IncomingMessage): void {
    if (this.isOver) return void response.resume()
    this.content = readContent(response, this)
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    this.listener.onHeaders(this)
  }
  pause(): void {
    this.content?.pause()
  }
  resume(): void {
    this.content?.resume()
  }

  onData(bytes: Uint8Array): void {
    if (!this.isOver) this.listener.onData(bytes)
  }
  onEnd(): void {
    this.end()?.onEnd()
  }
  onError(error: Error): void {
    if (this.isOver) return
    this.content?.stop()
    this.end()?.onError(error)
  }

  abort(): void {
    this.end()
    this.content?.stop()
    this.outgoing?.destroy()
  }
  release(): void {
    this.end()
    if (this.content?.drain() !== true) return
    const timer = setTimeout(() => this.outgoing?.destroy(), graceMs)
    timer.unref()
    this.outgoing?.once("close", () => clearTimeout(timer))
  }

  /**
   * Returns the listener, for its last callback. V8 can put the lists of listeners of `node:events` into its old space,
   * where they would keep the whole run in memory until the next full collection.
   */
  private end(): Listener | undefined {
    if (this.isOver) return undefined
    this.isOver = true
    const { listener } = this
    this.listener = nobody
    return listener
  }
}

const noHeaders: HeaderMap = {}

/** Ignores everything. */
const nobody: Listener = { onHeaders: () => {}, onData: () => {}, onEnd: () => {}, onError: () => {} }

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
