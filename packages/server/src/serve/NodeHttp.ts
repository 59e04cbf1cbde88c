/**
 * Runs a handler in a server of `node:http`.
 *
 * @since 0.1.0
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { answerNode } from "./internal/answerNode.ts"
import type { Handler } from "./Serve.ts"

/**
 * Makes a listener for `node:http`. The response is written as fast as the client reads it. When the client goes away,
 * the signal of the request aborts, and the body of the response is cancelled.
 *
 * @example
 * ```ts
 * import * as NodeHttp from "@belay/server/NodeHttp"
 * import { createServer } from "node:http"
 *
 * const hello = async (request: Request) => new Response(`hello ${new URL(request.url).pathname}`)
 * createServer(NodeHttp.toNode(hello)).listen(0, "127.0.0.1").unref()
 * ```
 * @category running
 * @since 0.1.0
 */
export const toNode = (handler: Handler) => (request: IncomingMessage, response: ServerResponse): void => {
  answerNode(handler, request, response).catch((error: unknown) =>
    response.destroy(error instanceof Error ? error : undefined)
  )
}
