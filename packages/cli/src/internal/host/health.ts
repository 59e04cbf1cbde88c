/** Serves the health and the metrics of a host while it runs. */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Host } from "@belay/server/Host"
import * as Monitor from "@belay/server/Monitor"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { commandError } from "../usage.ts"

/** Listens until the scope closes. Returns the port. */
export const serveHealth = (host: Host, port: number, hostname: string): Effect.Effect<number, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const monitor = Monitor.make({ host })
    const server = createServer(NodeHttp.toNode(monitor.handler))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        monitor.close()
        server.close()
        server.closeAllConnections()
      })
    )
    yield* Effect.callback<void, unknown>((resume) => {
      server.once("error", (error) => resume(commandError(`cannot listen on ${hostname}:${port}: ${messageOf(error)}`)))
      server.listen(port, hostname, () => resume(Effect.void))
    })
    // A server that listens on a port has such an address.
    return (server.address() as AddressInfo).port
  })
