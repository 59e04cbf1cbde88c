/**
 * Runs that wait for a model over HTTP: the heap of one of 1,000 with 20 messages behind it, and how long a call of 512
 * at once takes if the model takes 20 ms. The baselines are `node:http` and a call by hand.
 */
import { createAgent } from "@belay/core"
import type { Message } from "@belay/core/Message"
import { OpenAiCompatible } from "@belay/providers"
import { Agent, request } from "node:http"
import { startServer } from "./server.ts"

const history = (): Array<Message> =>
  Array.from(
    { length: 20 },
    (_, index): Message =>
      index % 2 === 0
        ? { role: "user", content: `question ${index}` }
        : { role: "assistant", content: `answer ${index}` }
  )

type Call = (model: string) => Promise<unknown>

/** One call over `node:http`, with its messages. */
const byHand = (url: string): Call => {
  // By default, only 256 connections are kept.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 2_048 })
  return (model) =>
    new Promise((resolve, reject) => {
      const messages = [...history(), { role: "user", content: "go on" }]
      const sent = request(`${url}/chat/completions`, { method: "POST", agent }, (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (part: string) => text += part)
        response.on("end", () => resolve([JSON.parse(text), messages]))
      })
      sent.on("error", reject)
      sent.end(JSON.stringify({ model, messages }))
    })
}

const byBelay = (url: string): Call => {
  const agents = new Map<string, ReturnType<typeof createAgent>>()
  return async (model) => {
    const known = agents.get(model)
    const agent = known ?? createAgent({
      provider: OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model }),
      freeze: false
    })
    agents.set(model, agent)
    const session = await agent.session({ messages: history() })
    await session.run("go on")
    await session.close()
  }
}

const heap = (): number => {
  for (let n = 0; n < 4; n++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Bytes of heap for each of 1,000 calls that wait. */
const heapOf = async (call: Call): Promise<number> => {
  const count = 1_000
  for (let n = 0; n < 3; n++) await Promise.all(Array.from({ length: count }, () => call("wait-1")))
  const before = heap()
  const calls = Array.from({ length: count }, () => call("wait-4000"))
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  const bytes = (heap() - before) / count
  await Promise.all(calls)
  return bytes
}

/** The 50th and the 99th percentile of the milliseconds of a call. */
const timesOf = async (call: Call): Promise<readonly [number, number]> => {
  const times: Array<number> = []
  const one = async () => {
    for (let n = 0; n < 6; n++) {
      const began = performance.now()
      await call("wait-20")
      if (n > 0) times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: 512 }, one))
  times.sort((a, b) => a - b)
  return [times[times.length >> 1]!, times[Math.floor(times.length * 0.99)]!]
}

export const waiting = async (): Promise<string> => {
  const { stop, url } = await startServer()
  try {
    const contenders = [["node:http", byHand(url)], ["belay", byBelay(url)]] as const
    const heaps: Array<number> = []
    for (const [, call] of contenders) heaps.push(await heapOf(call))
    const rounds = contenders.map((): Array<readonly [number, number]> => [])
    for (let round = 0; round < 7; round++) {
      for (const [index, [, call]] of contenders.entries()) rounds[index]!.push(await timesOf(call))
    }
    const times = rounds.map((list) => list.sort(([, a], [, b]) => a - b)[list.length >> 1]!)
    const rows = contenders.map(([name], index) => {
      const [middle, worst] = times[index]!
      const ratio = (worst / times[0]![1]).toFixed(2)
      return `| ${name} | ${(heaps[index]! / 1024).toFixed(1)} | ${middle.toFixed(0)} | ${
        worst.toFixed(0)
      } | ${ratio} |`
    })
    return [
      "| | KiB a waiting run | ms a call of 512, middle | p99 | ratio of p99 |",
      "|---|--:|--:|--:|--:|",
      ...rows,
      ""
    ].join("\n")
  } finally {
    stop()
  }
}
