/** Opens a connection to a target. A name is resolved once, and only addresses that were checked are connected to. */
import * as Deadline from "@belay/core/Deadline"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { lookup } from "node:dns/promises"
import { connect as connectTcp, isIP } from "node:net"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import * as Address from "../Address.ts"
import { HttpRefused } from "./errors.ts"
import type { Target } from "./target.ts"

/** One address that a resolver returns. @category models @since 0.1.0 */
export interface Resolved {
  readonly address: string
  /** 4 or 6. */
  readonly family: number
}

/** The other end of a connection: an address, never a name. @category models @since 0.1.0 */
export interface Peer {
  readonly address: string
  readonly port: number
  /** Aborts when the connection is no longer needed. */
  readonly signal: AbortSignal
}

/** Returns the addresses of a name. */
export type Resolve = (name: string) => Eventual<ReadonlyArray<Resolved>>

/** Opens a connection, and returns it when it is open. */
export type Connect = (peer: Peer) => Eventual<Duplex>

/** The resolver of the platform. */
export const platformResolver: Resolve = (name) => lookup(name, { all: true, order: "verbatim" })

/** Opens a TCP connection to an address. */
export const connectByTcp: Connect = ({ address, port, signal }) =>
  Effect.callback<Duplex, Error>((resume) => {
    const socket = connectTcp({ host: address, port, noDelay: true, signal, lookup: noLookup })
    socket.once("connect", () => resume(Effect.succeed(socket)))
    socket.on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => void socket.destroy())
  })

/** An address needs no lookup. Anything else is not connected to. */
const noLookup = (_host: string, _options: unknown, done: (error: Error, address: string) => void): void =>
  done(new Error("a name is never connected to"), "")

/** The open connections of a request. They are closed together; one that opens later is closed at once. */
export interface Connections {
  readonly add: (stream: Duplex) => void
  readonly close: () => void
}

export const makeConnections = (): Connections => {
  const all = new Set<Duplex>()
  let isClosed = false
  return {
    add: (stream) => {
      if (all.has(stream)) return
      all.add(stream)
      // The user of the stream handles its errors too. This listener is for errors after that.
      stream.on("error", () => {})
      if (isClosed) stream.destroy()
    },
    close: () => {
      isClosed = true
      for (const stream of all) stream.destroy()
    }
  }
}

/** Returns the addresses of a target. All of them must be allowed. */
export const addressesOf = (target: Target, resolve: Resolve): Effect.Effect<ReadonlyArray<string>, unknown> => {
  if (target.kind === "address") return Effect.succeed([target.host])
  if (target.kind === "loopback") {
    return Effect.succeed(target.host === "localhost" ? ["127.0.0.1", "::1"] : [target.host])
  }
  return Effect.flatMap(
    eventual(() => resolve(target.host)),
    (answers: unknown): Effect.Effect<ReadonlyArray<string>, unknown> => {
      if (!Array.isArray(answers) || answers.length === 0) return Effect.fail("no addresses")
      const all = answers as ReadonlyArray<Partial<Resolved> | null | undefined>
      const areAllowed = all.length <= maxAddresses &&
        all.every((answer) => isPublic(answer?.address) && isIP(answer?.address ?? "") === answer?.family)
      return areAllowed
        ? Effect.succeed([...new Set(all.map((answer) => answer?.address ?? ""))])
        : new HttpRefused({
          reason: "address",
          message: `${target.origin} may not be requested: its name has an address that may not be reached`
        })
    }
  )
}

const maxAddresses = 64

const isPublic = (address: unknown): boolean =>
  typeof address === "string" && isIP(address) !== 0 && Address.classify(address) === "public"

/** Connects to the first address that answers. The time that is left is shared by the remaining addresses. */
export const openConnection = (
  target: Target,
  addresses: ReadonlyArray<string>,
  deadline: number,
  connect: Connect,
  connections: Connections
) =>
  Effect.gen(function*() {
    for (const [index, address] of addresses.entries()) {
      // Checked again directly before the connection, so that no code in between can change the destination.
      if (!isPublic(address) && !(target.kind === "loopback" && (address === "127.0.0.1" || address === "::1"))) break
      const now = yield* Deadline.now
      const share = now + (deadline - now) / (addresses.length - index)
      const connected = yield* Effect.exit(
        Deadline.until(connectTracked(connect, { address, port: target.port }, connections), () =>
          share, () =>
          Effect.fail("too slow"))
      )
      if (Exit.isSuccess(connected)) {
        return target.scheme === "https"
          ? yield* startTls(connected.value, target, connections)
          : connected.value
      }
    }
    return yield* Effect.fail("no connection")
  })

/** Connects, and makes sure that the connection is closed with the others, even if it opens late. */
const connectTracked = (
  connect: Connect,
  peer: Omit<Peer, "signal">,
  connections: Connections
): Effect.Effect<Duplex, unknown> =>
  Effect.onExit(
    eventual<Duplex, never>((signal) => {
      const connection = connect({ ...peer, signal })
      if (connection instanceof Promise) connection.then(connections.add, () => {})
      return connection
    }),
    (exit) => Effect.sync(() => Exit.isSuccess(exit) && connections.add(exit.value))
  )

/** Starts TLS. The certificate must be for the host of the URL, whatever the address is. */
const startTls = (
  socket: Duplex,
  { host, kind }: Target,
  connections: Connections
): Effect.Effect<TLSSocket, unknown> =>
  Effect.callback((resume) => {
    const isNamed = kind === "name" || host === "localhost"
    const options = { socket, host, ALPNProtocols: ["http/1.1"], rejectUnauthorized: true }
    // Most programs start without TLS.
    const { connect } = process.getBuiltinModule("node:tls")
    const tls = connect(isNamed ? { ...options, servername: host } : options)
    connections.add(tls)
    tls.once("secureConnect", () => resume(Effect.succeed(tls)))
    tls.once("error", (error) => resume(Effect.fail(error)))
    tls.once("close", () => resume(Effect.fail("closed")))
  })
