/** Serves the page of `belay sessions page`. */
import type { Host } from "@belay/server/Host"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as Serve from "@belay/server/Serve"
import * as SessionsPage from "@belay/server/SessionsPage"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import { authorizeWith, listen, newToken } from "../serve/listen.ts"
import { endingProcess, firstSignal } from "../serve/signals.ts"

/** Serves until the process is asked to end. The token is new each time. */
export const servePage = (host: Host, port: number) =>
  endingProcess(Effect.gen(function*() {
    const token = newToken()
    const serve = Serve.make({ host, authorize: authorizeWith(token) })
    const server = createServer(NodeHttp.toNode(Serve.route({
      "/api/sessions": SessionsPage.handler(serve, { operator: () => true }),
      "/": async () => SessionsPage.response()
    })))
    const hostname = "127.0.0.1"
    const found = yield* listen(server, { hostname, port })
    yield* Console.log(`page       http://${hostname}:${found}/#token=${token}`)
    yield* firstSignal
    yield* Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  }))
