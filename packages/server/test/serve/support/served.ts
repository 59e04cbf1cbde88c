/** An agent of the tests behind a server on loopback. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { type Message, text } from "@belay/core/Message"
import { InvalidRequest, isProviderError } from "@belay/core/ProviderError"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as Serve from "@belay/server/Serve"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const usage = { inputTokens: 12, outputTokens: 4 }

const say = (words: string): LlmResponse => ({
  model: "demo",
  text: words,
  toolCalls: [],
  finishReason: "stop",
  usage
})

/**
 * A model with rules. A message that names a tool (`call weather`) calls it, several tools at once (`call a and b`), and
 * any other message is repeated. After tools, it reports their results.
 */
const answerTo = ({ messages, tools }: LlmRequest): LlmResponse => {
  const isSaid = (message: Message) => message.role !== "user" || message.source === undefined
  const last = messages.findLast(isSaid)
  if (last?.role === "tool") {
    const from = messages.findLastIndex(({ role }) => role === "assistant")
    return say(`Result: ${messages.slice(from + 1).filter(isSaid).map(text).join(" and ")}`)
  }
  const words = text(last!)
  const names = /call (.+)/.exec(words)?.[1]?.split(" and ").filter((name) => tools.some((tool) => tool.name === name))
  if (names === undefined || names.length === 0) return say(`You said: ${words} (${messages.length})`)
  return {
    ...say("Let me look."),
    finishReason: "tool-calls",
    toolCalls: names.map((name, index) => ({ id: `c${messages.length}_${index}`, name, args: { city: "Bern" } }))
  }
}

/** Streams word by word. `before` runs before each answer, and `each` before each word. */
export const talker = (
  { before = async () => {}, each = async () => {} }: {
    readonly before?: (request: LlmRequest) => Promise<unknown>
    readonly each?: () => Promise<unknown>
  } = {}
): LlmProvider => ({
  name: "demo",
  model: "demo",
  complete: (request) => Effect.promise(async () => (await before(request), answerTo(request))),
  stream: (request, sink) =>
    Effect.tryPromise({
      try: async () => {
        await before(request)
        const response = answerTo(request)
        for (const word of response.text.match(/\S+\s*/g) ?? []) {
          await each()
          await sink({ type: "text", text: word })
        }
        return response
      },
      catch: (error) =>
        isProviderError(error) ? error : new InvalidRequest({ provider: "demo", message: String(error) })
    })
})

/** What the tools have done, one line for each call. */
export const tools = (log: Array<string> = []) =>
  ["weather", "delete_file"].map((name) =>
    defineTool({
      name,
      description: name,
      input: { type: "object" },
      execute: () => {
        log.push(name)
        return name === "weather" ? { degrees: 21 } : "deleted"
      }
    })
  )

/** Asks people about `delete_file`. */
export const asking = {
  name: "gate",
  tools: "delete_file",
  preToolCall: () => HookAction.ask("really?", undefined, { approvers: ["ada"] })
}

/** Tokens of the form `token-ada` are those of the principal `ada`. */
export const authorize = (request: Request): string | undefined =>
  /^Bearer token-(\w+)$/.exec(request.headers.get("authorization") ?? "")?.[1]

/** Serves an agent on loopback. `log` has the calls of its tools, `errors` what clients must not see. */
export const served = async (
  handlerOf: (serve: Serve.Serve) => Serve.Handler,
  options: Partial<Serve.Options> = {},
  config: Partial<AgentConfig> = {},
  at = 0
) => {
  const log: Array<string> = []
  const errors: Array<unknown> = []
  const serve = Serve.make({
    ...(options.host === undefined
      ? { agent: { provider: talker(), tools: tools(log), hooks: [asking], log: false, ...config } }
      : {}),
    authorize,
    clientTools: true,
    onError: (error) => errors.push(error),
    ...options
  })
  const server = createServer(NodeHttp.toNode(handlerOf(serve)))
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await serve.close()
  }
  return { serve, log, errors, url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close }
}
