/** Heap of live sessions with 20 messages, and whether a session leaves anything behind. */
import { createAgent } from "@belay/core"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"

const provider: LlmProvider = {
  name: "fake",
  complete: ({ messages }) =>
    Effect.succeed({
      model: "fake",
      text: `answer ${messages.length}`,
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1 }
    })
}

const heap = (): number => {
  for (let i = 0; i < 4; i++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const kib = (bytes: number, count: number): string => (bytes / count / 1024).toFixed(2)

export const memory = async (): Promise<string> => {
  const count = 10_000
  const agent = createAgent({ provider, freeze: false })
  const warm = await agent.session()
  await warm.run("hello")

  const before = heap()
  const bare: Array<Array<Message>> = []
  for (let i = 0; i < count; i++) {
    bare.push(
      Array.from(
        { length: 20 },
        (_, n): Message =>
          n % 2 === 0 ? { role: "user", content: `question ${n}` } : { role: "assistant", content: `answer ${n}` }
      )
    )
  }
  const bareBytes = heap() - before
  bare.length = 0

  const start = heap()
  const live = []
  for (let i = 0; i < count; i++) {
    const session = await agent.session()
    for (let n = 0; n < 10; n++) await session.run(`question ${n}`)
    live.push(session)
  }
  const liveBytes = heap() - start
  for (const session of live) await session.close()
  live.length = 0
  const closed = heap()
  for (let i = 0; i < count; i++) {
    const session = await agent.session()
    await session.run("hello")
    await session.close()
  }
  const left = heap() - closed
  await agent.close()
  return [
    "| | KiB a session |",
    "|---|--:|",
    `| bare arrays of 20 messages | ${kib(bareBytes, count)} |`,
    `| belay, ${count} live sessions with 20 messages | ${kib(liveBytes, count)} |`,
    `| belay, left behind by ${count} closed sessions | ${kib(left, count)} |`,
    ""
  ].join("\n")
}
