/**
 * From a target to a connection: a name is resolved once, all of its addresses are checked, and only these are
 * connected to.
 */
import { until } from "@belay/core/Deadline"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { lookup } from "node:dns/promises"
import { connect as connectTcp, isIP } from "node:net"
import type { Duplex } from "node:stream"
import { connect as connectTls, type TLSSocket } from "node:tls"
import * as Address from "../Address.ts"
import { HttpRefused } from "./errors.ts"
import type { Target } from "./target.ts"

/** One answer of a resolver. */
export interface Resolved {
  readonly address: string
  /** 4 or 6. */
  readonly family: number
}

/** Where a connection goes: an address, never a name. */
export interface Peer {
  readonly address: string
  readonly port: number
  /** Aborts when the connection is not wanted any more. */
  readonly signal: AbortSignal
}

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Eventual<ReadonlyArray<Resolved>>

/** Opens a connection, and answers when it is open. */
export type Connect = (peer: Peer) => Eventual<Duplex>

/** The resolver of the platform. */
export const platform: Resolve = (name) => lookup(name, { all: true, order: "verbatim" })

/** A TCP connection to an address. */
export const tcp: Connect = ({ address, port, signal }) =>
  Effect.callback<Duplex, Error>((resume) => {
    const socket = connectTcp({ host: address, port, noDelay: true, signal, lookup: noLookup })
    socket.once("connect", () => resume(Effect.succeed(socket)))
    socket.on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => void socket.destroy())
  })

/** An address needs none; whatever else would come here is not connected to. */
const noLookup = (_host: string, _options: unknown, done: (error: Error, address: string) => void): void =>
  done(new Error("a name is never connected to"), "")

/** What one request has open: closed together, and what opens later at once. */
export interface Open {
  readonly add: (stream: Duplex) => void
  readonly close: () => void
}

export const open = (): Open => {
  const all = new Set<Duplex>()
  let isClosed = false
  return {
    add: (stream) => {
      if (all.has(stream)) return
      all.add(stream)
      // Whoever waits for it listens too; an error that comes when nobody does is nobody's.
      stream.on("error", () => {})
      if (isClosed) stream.destroy()
    },
    close: () => {
      isClosed = true
      for (const stream of all) stream.destroy()
    }
  }
}

/** The addresses of a target, all of them checked. */
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
      const isFine = all.length <= mostAddresses &&
        all.every((answer) => isPublic(answer?.address) && isIP(answer?.address ?? "") === answer?.family)
      return isFine
        ? Effect.succeed([...new Set(all.map((answer) => answer?.address ?? ""))])
        : new HttpRefused({
          reason: "address",
          message: `${target.origin} may not be requested: its name leads to an address that may not be reached`
        })
    }
  )
}

const mostAddresses = 64

const isPublic = (address: unknown): boolean =>
  typeof address === "string" && isIP(address) !== 0 && Address.classify(address) === "public"

/** Connects to one of the addresses, in their order. Each has its share of the time that is left. */
export const dial = (target: Target, addresses: ReadonlyArray<string>, due: number, connect: Connect, opened: Open) =>
  Effect.gen(function*() {
    for (const [index, address] of addresses.entries()) {
      // Looked at again where it counts: nothing between the resolver and this line can have a connection go elsewhere.
      if (!isPublic(address) && !(target.kind === "loopback" && (address === "127.0.0.1" || address === "::1"))) break
      const now = yield* Clock.currentTimeMillis
      const share = now + (due - now) / (addresses.length - index)
      const made = yield* Effect.exit(
        until(connecting(connect, { address, port: target.port }, opened), () => share, () => Effect.fail("too slow"))
      )
      if (Exit.isSuccess(made)) {
        return target.scheme === "https"
          ? yield* secure(made.value, target, opened)
          : made.value
      }
    }
    return yield* Effect.fail("no connection")
  })

/** However a connection comes about, and however late: it is closed with the others. */
const connecting = (connect: Connect, peer: Omit<Peer, "signal">, opened: Open): Effect.Effect<Duplex, unknown> =>
  Effect.onExit(
    eventual<Duplex, never>((signal) => {
      const made = connect({ ...peer, signal })
      if (made instanceof Promise) made.then(opened.add, () => {})
      return made
    }),
    (exit) => Effect.sync(() => Exit.isSuccess(exit) && opened.add(exit.value))
  )

/** TLS over a connection, with the certificate of the host that was asked for, whatever its address is. */
const secure = (socket: Duplex, { host, kind }: Target, opened: Open): Effect.Effect<TLSSocket, unknown> =>
  Effect.callback((resume) => {
    const isNamed = kind === "name" || host === "localhost"
    const tls = connectTls({
      socket,
      host,
      ...(isNamed ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: true
    })
    opened.add(tls)
    tls.once("secureConnect", () => resume(Effect.succeed(tls)))
    tls.once("error", (error) => resume(Effect.fail(error)))
    tls.once("close", () => resume(Effect.fail("closed")))
  })
