/**
 * How long a request with a body of 9.9 MB blocks the event loop of a server on SQLite, beside `JSON.parse` of the same
 * body. Only CPU of the thread counts, because a busy machine is late for other reasons.
 */
import { createAgent } from "@belay/core"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answersAtOnce as provider } from "./answersAtOnce.ts"

const size = 9_900_000

const chatOf = (messages: ReadonlyArray<unknown>): string => JSON.stringify({ model: "agent", messages })
const user = (content: unknown) => ({ role: "user", content })
const callOf = (args: string) =>
  chatOf([
    user("hi"),
    { role: "assistant", content: null, tool_calls: [{ id: "c", function: { name: "f", arguments: args } }] },
    { role: "tool", tool_call_id: "c", content: "done" },
    user("go on")
  ])
const imageOf = (data: string) => [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }]

const bodiesOf = (): ReadonlyArray<readonly [name: string, body: string]> => [
  ["white space", `{"messages":${" ".repeat(size)}[]}`],
  ["100,000 messages", chatOf(Array.from({ length: 100_000 }, () => user("m".repeat(65))))],
  ["10,000 messages", chatOf(Array.from({ length: 10_001 }, () => user("m".repeat(950))))],
  ["one text", chatOf([user("m".repeat(size))])],
  ["arguments of a call: brackets", callOf("[".repeat(size))],
  ["arguments of a call: numbers", callOf(`[${"1,".repeat(size / 2)}1]`)],
  ["one image", chatOf([user(imageOf("QUJD".repeat(size / 4)))])]
]

const cpuNow = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

/** Returns the most CPU, in milliseconds, between two turns of the event loop while `act` runs. */
const longestBlock = async (act: () => Promise<unknown>): Promise<number> => {
  let [last, longest] = [cpuNow(), 0]
  const timer = setInterval(() => {
    const now = cpuNow()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  await act()
  await new Promise((resolve) => setTimeout(resolve, 200))
  clearInterval(timer)
  return longest
}

/** A body that arrives in pieces, as from a socket. */
const inPieces = (bytes: Uint8Array): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream({
    pull: async (controller) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at += 65_536))
    }
  })
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

export const bodies = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  const store = SqliteStore.make({ path: join(folder, "bodies.db") })
  const agent = createAgent({ provider, store: store.sessions, log: false })
  const host = Host.make({ agent, store })
  const running = await host.start()
  const serve = Serve.make({ host, authorize: () => "somebody", onError: () => {} })
  const handle = OpenAiChat.handler(serve)
  const ask = async (body: Uint8Array): Promise<number> => {
    const init = { method: "POST", body: inPieces(body), duplex: "half" }
    // The types of `fetch` do not know `duplex`.
    const answer = await handle(new Request("http://127.0.0.1/v1/chat/completions", init as RequestInit))
    await answer.arrayBuffer()
    return answer.status
  }
  const encoder = new TextEncoder()
  for (let round = 0; round < 50; round++) await ask(encoder.encode(chatOf([user("hello")])))
  const rows: Array<string> = []
  for (const [name, body] of bodiesOf()) {
    const bytes = encoder.encode(body)
    const [parsed, blocked]: [Array<number>, Array<number>] = [[], []]
    let status = 0
    for (let round = 0; round < 5; round++) {
      const before = cpuNow()
      JSON.parse(new TextDecoder().decode(bytes))
      parsed.push(cpuNow() - before)
      blocked.push(await longestBlock(async () => void (status = await ask(bytes))))
    }
    const [base, block] = [median(parsed), median(blocked)]
    rows.push(`| ${name} | ${status} | ${base.toFixed(0)} | ${block.toFixed(0)} | ${(block / base).toFixed(1)} |`)
  }
  await running.drain()
  await agent.close()
  store.close()
  rmSync(folder, { recursive: true, force: true })
  return [
    "### A body of 9.9 MB: the longest block of the event loop, in ms of CPU",
    "",
    "| body | answer | `JSON.parse` | block | ratio |",
    "|---|--:|--:|--:|--:|",
    ...rows,
    ""
  ].join("\n")
}
