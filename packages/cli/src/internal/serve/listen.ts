/** Starts a server of a command. */
import type { Authorize } from "@belay/server/Serve"
import * as Effect from "effect/Effect"
import { timingSafeEqual } from "node:crypto"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { usageError } from "../flags.ts"

/** Whoever has the token, or has started the process. */
export const owner = "owner"

/** Authorizes who has the token. */
export const authorizeWith = (token: string): Authorize => {
  const expected = Buffer.from(`Bearer ${token}`)
  return ({ headers }) => {
    const given = Buffer.from(headers.get("authorization") ?? "")
    return given.length === expected.length && timingSafeEqual(given, expected) ? owner : undefined
  }
}

/** Returns a new token. */
export const newToken = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("base64url")

/** Listens, and returns the port. */
export const listen = (server: Server, { hostname, port }: { readonly hostname: string; readonly port: number }) =>
  Effect.callback<number, ReturnType<typeof usageError>>((resume) => {
    server.once("error", (error) => resume(Effect.fail(usageError(`the server cannot listen: ${error.message}`))))
    server.listen(port, hostname, () => {
      // A TCP server has an address of this form.
      resume(Effect.succeed((server.address() as AddressInfo).port))
    })
  })
