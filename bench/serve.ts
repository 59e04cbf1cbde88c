/**
 * A streamed answer to a browser: the UI message stream of the AI SDK, beside `ai`'s own handler and a bare loop over
 * node:http. The client is in another thread, and only the CPU of the serving thread counts.
 */
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { pipeUIMessageStreamToResponse, streamText, toUIMessageStream } from "ai"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Worker } from "node:worker_threads"

const pieces = Array.from({ length: 200 }, (_, index) => `word ${index} `)

/** Streams the pieces. `pauseMs` waits between them. */
const providerOf = (pauseMs: number): LlmProvider => ({
  name: "fake",
  complete: () => Effect.die("not used"),
  stream: (_request, sink) =>
    Effect.promise(async () => {
      for (const text of pieces) {
        await sink({ type: "text", text })
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
      return { model: "fake", text: pieces.join(""), toolCalls: [], finishReason: "stop" } as const
    })
})

const bare = (pauseMs: number): RequestListener => (request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const write = async () => {
      for (const delta of pieces) {
        response.write(`data: ${JSON.stringify({ type: "text-delta", id: "0", delta })}\n\n`)
        await (pauseMs > 0 ? new Promise((resolve) => setTimeout(resolve, pauseMs)) : Promise.resolve())
      }
      response.end("data: [DONE]\n\n")
    }
    void write()
  })
}

const aiSdk = (request: IncomingMessage, response: ServerResponse): void => {
  const answer = async () => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
      readonly messages: ReadonlyArray<{ readonly parts: ReadonlyArray<{ readonly text: string }> }>
    }
    const chunks = [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "0" },
      ...pieces.map((delta) => ({ type: "text-delta", id: "0", delta })),
      { type: "text-end", id: "0" },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
      }
    ]
    const model = new MockLanguageModelV4({
      // The chunks are those of the provider interface; the mock types all of them.
      doStream: async () =>
        ({
          stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null })
        }) as never
    })
    const { stream } = streamText({ model, prompt: body.messages[0]!.parts[0]!.text })
    void pipeUIMessageStreamToResponse({ response, stream: toUIMessageStream({ stream }) })
  }
  void answer()
}

const served = (pauseMs: number, handler: (serve: Serve.Serve) => Serve.Handler) => {
  const serve = Serve.make({ agent: { provider: providerOf(pauseMs), log: false }, authorize: () => "somebody" })
  return { listener: NodeHttp.toNode(handler(serve)), close: () => serve[Symbol.asyncDispose]() }
}

/** Sends `count` requests, `atOnce` of them at the same time, and reads their answers. Runs in another thread. */
const client = `
const { parentPort } = require("node:worker_threads")
const { request } = require("node:http")
let n = 0
const one = (port, path, body) => new Promise((resolve, reject) => {
  const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers: { "content-type": "application/json" } }, (answer) => {
    let size = 0
    answer.on("data", (data) => size += data.length).on("end", () => answer.statusCode === 200 ? resolve(size) : reject(new Error(String(answer.statusCode))))
  })
  sent.on("error", reject)
  sent.end(body.replaceAll("ID", "chat-" + n++))
})
parentPort.on("message", async ({ port, path, body, count, atOnce }) => {
  let left = count
  let bytes = 0
  const run = async () => { while (left-- > 0) bytes += await one(port, path, body) }
  await Promise.all(Array.from({ length: atOnce }, run))
  parentPort.postMessage({ bytes })
})
`

const uiBody = JSON.stringify({
  id: "ID",
  trigger: "submit-message",
  messages: [{ id: "m-ID", role: "user", parts: [{ type: "text", text: "hello" }] }]
})
const chatBody = JSON.stringify({ model: "agent", stream: true, messages: [{ role: "user", content: "hello ID" }] })

interface Contender {
  readonly name: string
  readonly listener: RequestListener
  readonly path: string
  readonly body: string
  readonly close: () => unknown
}

const contenders = (): ReadonlyArray<Contender> => [
  { name: "bare node:http loop", listener: bare(0), path: "/", body: uiBody, close: () => undefined },
  { name: "`ai`: streamText and its own handler", listener: aiSdk, path: "/", body: uiBody, close: () => undefined },
  { name: "Belay, UI message stream", path: "/api/chat", body: uiBody, ...served(0, (one) => UiStream.handler(one)) },
  {
    name: "Belay, chat completions",
    path: "/v1/chat/completions",
    body: chatBody,
    ...served(0, (one) => OpenAiChat.handler(one))
  }
]

const listen = async (listener: RequestListener) => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

export const serve = async (): Promise<string> => {
  const worker = new Worker(client, { eval: true })
  const ask = async (message: object) => {
    worker.postMessage(message)
    await once(worker, "message")
  }
  const all = await Promise.all(contenders().map(async (one) => ({ ...one, ...await listen(one.listener) })))
  const samples = all.map(() => ({ cpu: [] as Array<number>, rate: [] as Array<number> }))
  for (let round = 0; round < 6; round++) {
    for (const [index, { body, path, port }] of all.entries()) {
      const before = process.threadCpuUsage()
      const began = performance.now()
      await ask({ port, path, body, count: 60, atOnce: 16 })
      const { system, user } = process.threadCpuUsage(before)

      if (round === 0) continue
      samples[index]!.cpu.push((user + system) / 60 / pieces.length)
      samples[index]!.rate.push(60_000 / (performance.now() - began))
    }
  }
  for (const { close, server } of all) {
    server.closeAllConnections()
    server.close()
    await close()
  }
  const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1]!
  const base = median(samples[0]!.cpu)
  const rows = all.map(({ name }, index) => {
    const { cpu, rate } = samples[index]!
    return `| ${name} | ${median(rate).toFixed(0)} | ${median(cpu).toFixed(2)} | ${(median(cpu) / base).toFixed(1)} |`
  })
  const open = [
    await manyStreams("bare node:http loop", { listener: bare(50), close: () => undefined }, ask),
    await manyStreams("Belay, UI message stream", served(50, (one) => UiStream.handler(one)), ask)
  ]
  const alone = [
    await oneStream("bare node:http loop", { listener: bare(1), close: () => undefined }, ask),
    await oneStream("Belay, UI message stream", served(1, (one) => UiStream.handler(one)), ask),
    await oneStream("Belay, chat completions", served(1, (one) => OpenAiChat.handler(one)), ask, chatBody)
  ]
  await worker.terminate()
  return [
    "### A streamed answer of 200 pieces, 16 at once",
    "",
    "| | answers/s | CPU µs a piece | ratio |",
    "|---|--:|--:|--:|",
    ...rows,
    "",
    "### One stream alone, with a piece every millisecond",
    "",
    "| | CPU µs a piece | ratio |",
    "|---|--:|--:|",
    ...alone.map(({ cpu, name }) => `| ${name} | ${cpu.toFixed(1)} | ${(cpu / alone[0]!.cpu).toFixed(1)} |`),
    "",
    "### 1,000 open streams, each with a piece every 50 ms",
    "",
    "| | heap KiB a stream | CPU µs a piece | all done in s (pauses: 10) | loop delay p99 ms |",
    "|---|--:|--:|--:|--:|",
    ...open,
    ""
  ].join("\n")
}

/** One stream after another, whose pieces are packets of their own. Returns the median. */
const oneStream = async (
  name: string,
  { close, listener }: Pick<Contender, "close" | "listener">,
  ask: (message: object) => Promise<void>,
  body = uiBody
): Promise<{ readonly name: string; readonly cpu: number }> => {
  const { port, server } = await listen(listener)
  const path = body === uiBody ? "/api/chat" : "/v1/chat/completions"
  const samples: Array<number> = []
  await ask({ port, path, body, count: 20, atOnce: 4 })
  for (let round = 0; round < 5; round++) {
    const before = process.threadCpuUsage()
    await ask({ port, path, body, count: 5, atOnce: 1 })
    const { system, user } = process.threadCpuUsage(before)
    samples.push((user + system) / 5 / pieces.length)
  }
  server.closeAllConnections()
  server.close()
  await close()
  return { name, cpu: samples.sort((a, b) => a - b)[2]! }
}

/** 1,000 streams with a piece every 50 ms each: what one costs in memory, and how late timers are. */
const manyStreams = async (
  name: string,
  { close, listener }: Pick<Contender, "close" | "listener">,
  ask: (message: object) => Promise<void>
): Promise<string> => {
  const { port, server } = await listen(listener)
  await ask({ port, path: "/api/chat", body: uiBody, count: 10, atOnce: 10 })
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const cpu = process.threadCpuUsage()
  const began = performance.now()
  const done = ask({ port, path: "/api/chat", body: uiBody, count: 1_000, atOnce: 1_000 })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  globalThis.gc?.()
  const heap = (process.memoryUsage().heapUsed - before) / 1_000 / 1_024
  delay.enable()
  await done
  delay.disable()
  const { system, user } = process.threadCpuUsage(cpu)
  const seconds = (performance.now() - began) / 1_000
  server.closeAllConnections()
  server.close()
  await close()
  const late = delay.percentile(99) / 1e6
  return `| ${name} | ${heap.toFixed(1)} | ${((user + system) / 200_000).toFixed(1)} | ${seconds.toFixed(1)} | ${
    late.toFixed(0)
  } |`
}
