/**
 * Certificates are those of the name that was asked for, over a connection to the address that was checked. Servers are
 * on loopback.
 */
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type AddressInfo, connect, type Socket } from "node:net"
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from "node:tls"
import { vi } from "vitest"
import { selfSigned } from "../../../../test/support/certificate.ts"
import { answer, loopback, outcome, serve, v4 } from "../../../../test/support/http.ts"

const trusted = selfSigned(["a.example.com", "localhost", "93.184.215.14"])
const unknown = selfSigned(["a.example.com", "localhost", "93.184.215.14"])
const before = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([...before, trusted.cert]))
afterAll(() => setDefaultCACertificates(before))

/** A TLS server on loopback, and a guard whose every connection ends there, whatever address it is to. */
const secured = (identity: { readonly key: string; readonly cert: string }) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Server; readonly port: number; readonly seen: Array<string> }>((resume) => {
        const seen: Array<string> = []
        const server = createServer(identity, (socket) =>
          serve(socket, (head) => {
            seen.push(
              `${socket.servername === false ? "none" : socket.servername} ${
                /host: (\S+)/.exec(head)![1]
              } ${socket.alpnProtocol}`
            )
            const reply = head.startsWith("GET /plain")
              ? answer(302, { location: "http://a.example.com/" })
              : answer(200, {}, "over TLS")
            reply(head, socket)
          }))
        server.on("tlsClientError", () => {})
        server.listen(0, "127.0.0.1", () =>
          resume(Effect.succeed({ server, seen, port: (server.address() as AddressInfo).port })))
      }),
      ({ server }) =>
        Effect.callback<void>((resume) =>
          void server.close(() => resume(Effect.void))
        )
    ),
    ({ port, seen }) => {
      const connected: Array<string> = []
      const guard = HttpGuard.make({
        policy: { allowHttp: true, loopback: [`localhost:${port}`, `127.0.0.1:${port}`] },
        maxRedirects: 1,
        resolve: async () => [v4("93.184.215.14")],
        connect: (peer) => {
          connected.push(peer.address)
          return new Promise((resolve) => {
            const socket = connect({ host: "127.0.0.1", port }, () => resolve(socket))
          })
        }
      })
      return { connected, guard, port, seen }
    }
  )

describe("HttpGuard over TLS", () => {
  it.effect("sends the name to the server, and accepts only a certificate for that name", () =>
    Effect.gen(function*() {
      const { connected, guard, port, seen } = yield* secured(
        { ...trusted, ALPNProtocols: ["h2", "http/1.1"] } as never
      )
      assert.strictEqual(yield* outcome(guard, "https://a.example.com/"), "200 over TLS")
      assert.strictEqual(yield* outcome(guard, "https://93.184.215.14:8443/"), "200 over TLS")
      assert.strictEqual(yield* outcome(guard, `https://localhost:${port}/`), "200 over TLS")
      assert.strictEqual(yield* outcome(guard, "https://b.example.com/"), "failed")
      assert.strictEqual(yield* outcome(guard, "https://93.184.215.15/"), "failed")
      assert.strictEqual(yield* outcome(guard, `https://127.0.0.1:${port}/`), "failed")
      assert.deepStrictEqual(seen, [
        "a.example.com a.example.com http/1.1",
        "none 93.184.215.14:8443 http/1.1",
        `localhost localhost:${port} http/1.1`
      ])
      assert.deepStrictEqual(connected, [
        "93.184.215.14",
        "93.184.215.14",
        "127.0.0.1",
        "93.184.215.14",
        "93.184.215.15",
        "127.0.0.1"
      ])
    }))

  it.effect("is not replaced by plain HTTP, even if that is allowed", () =>
    Effect.gen(function*() {
      const { connected, guard } = yield* secured(trusted)
      assert.strictEqual(yield* outcome(guard, "https://a.example.com/plain"), "refused: redirect")
      assert.lengthOf(connected, 1)
    }))

  it.effect("rejects unknown certificates, whatever the environment variables say", () =>
    Effect.gen(function*() {
      const { guard, seen } = yield* secured(unknown)
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      assert.strictEqual(yield* outcome(guard, "https://a.example.com/"), "failed")
      assert.deepStrictEqual(seen, [])
    }))

  it.effect("fails when the server does not speak TLS, and does not fall back to plain HTTP", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const { host } = yield* loopback((socket: Socket) =>
        void socket.on("data", (bytes: Buffer) => {
          heard.push(bytes.toString("latin1"))
          socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
        }), true)
      const guard = HttpGuard.make({ policy: { loopback: [host] } })
      assert.strictEqual(yield* outcome(guard, `https://${host}/secret-path`), "failed")
      assert.notInclude(heard.join(""), "secret-path")
    }))
})
