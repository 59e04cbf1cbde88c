/** `ctx.http`: sends HTTP requests through the agent's client, which decides which addresses are allowed. */
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { HttpRequest, HttpResponse } from "../../../data/Http.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { withPortError } from "./portError.ts"
import { awaitable } from "./runPromise.ts"

export const sendHttp = (
  turn: GuardTurn,
  request: HttpRequest,
  hook: string
): Awaitable<HttpResponse, PortFailed> => awaitable(turn, send(turn, request, hook))

const send = (
  { agent: { http } }: GuardTurn,
  request: HttpRequest,
  hook: string
): Effect.Effect<HttpResponse, PortFailed> => {
  if (http !== undefined) return withPortError("http", `http for ${hook}`, () => http.request(request))
  return new PortFailed({
    port: "http",
    message: `ctx.http of ${hook}: the agent has no HTTP client; give it one: http: HttpGuard.client({ ... })`
  })
}
