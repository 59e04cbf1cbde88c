/**
 * Streams read with `for await` of `agent.stream`: a piece over HTTP against a hand-written loop on the `openai`
 * client, the time to the first piece, and what many streams of one agent cost each other.
 */
import { createAgent } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { Hooks } from "@belay/hooks"
import { OpenAiCompatible } from "@belay/providers"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { type Figure, measure, table } from "./measure.ts"
import { startServer } from "./server.ts"

const chunks = 2_000

/** Reads a stream to its end. Returns the text, and when its first piece came. */
type Reader = (model: string) => Promise<{ readonly text: string; readonly firstAt: number }>

const byHand = (url: string): Reader => {
  const client = new OpenAI({ baseURL: url, apiKey: "test-key", maxRetries: 0, fetch: globalThis.fetch })
  return async (model) => {
    const stream = await client.chat.completions.create({
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "talk" }]
    })
    let text = ""
    let firstAt = 0
    for await (const part of stream) {
      const piece = part.choices[0]?.delta.content ?? ""
      if (piece !== "" && firstAt === 0) firstAt = performance.now()
      text += piece
    }
    return { text, firstAt }
  }
}

const byBelay = (url: string, hooks: ReadonlyArray<AgentHook>): Reader => {
  const agents = new Map<string, ReturnType<typeof createAgent>>()
  const agentFor = (model: string) => {
    const known = agents.get(model)
    if (known !== undefined) return known
    const provider = OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model })
    const made = createAgent({ provider, hooks, freeze: false })
    agents.set(model, made)
    return made
  }
  return async (model) => {
    let text = ""
    let firstAt = 0
    for await (const event of agentFor(model).stream("talk")) {
      if (event.type !== "text-delta") continue
      if (firstAt === 0) firstAt = performance.now()
      text += event.text
    }
    return { text, firstAt }
  }
}

const contenders = (url: string): ReadonlyArray<readonly [name: string, read: Reader]> => [
  ["hand-written loop on openai, global fetch", byHand(url)],
  ["belay, agent.stream", byBelay(url, [])],
  ["belay, agent.stream with safeDefaults", byBelay(url, Hooks.safeDefaults())]
]

const piece = async (url: string): Promise<string> => {
  const figures = await measure(
    contenders(url).map(([name, read]) => ({
      name,
      run: async (times: number) => {
        for (let n = 0; n < times; n++) {
          const { text } = await read(`stream-${chunks}`)
          if (!text.endsWith(`word${chunks - 1}`)) throw new Error(`${name}: ${text.slice(-100)}`)
        }
      }
    })),
    8,
    7
  )
  return table(
    "A streamed piece over HTTP",
    figures.map(({ cpu, name, wall }): Figure => ({ name, cpu: cpu / chunks, wall: wall / chunks }))
  )
}

/** The server sends 40 pieces, one every 5 milliseconds. */
const firstPiece = async (url: string): Promise<string> => {
  const all = contenders(url)
  const samples = all.map((): Array<number> => [])
  for (let round = 0; round < 15; round++) {
    for (const [index, [, read]] of all.entries()) {
      const began = performance.now()
      const { firstAt } = await read("slow-40")
      samples[index]!.push(firstAt - began)
    }
  }
  const middle = samples.map((list) => list.sort((a, b) => a - b)[list.length >> 1]!)
  return [
    "### The first piece of an answer with a piece every 5 ms",
    "",
    "| | ms | more than by hand |",
    "|---|--:|--:|",
    ...all.map(([name], index) =>
      `| ${name} | ${middle[index]!.toFixed(2)} | ${(middle[index]! - middle[0]!).toFixed(2)} |`
    ),
    ""
  ].join("\n")
}

/** A model in the process that gives every stream a piece in turn. */
const turnModel = (): { readonly provider: LlmProvider; readonly next: () => void; readonly end: () => void } => {
  let streams = new Set<{ readonly emit: () => void; readonly end: () => void }>()
  return {
    provider: {
      name: "fake",
      complete: () => Effect.die("only streams"),
      stream: (_request, sink) =>
        Effect.callback((resume) => {
          let text = ""
          const stream = {
            emit: () => {
              text += " word"
              void sink({ type: "text", text: " word" })
            },
            end: () =>
              resume(Effect.succeed({
                model: "fake",
                text,
                toolCalls: [],
                finishReason: "stop",
                usage: { inputTokens: 1, outputTokens: 1 }
              }))
          }
          streams.add(stream)
        })
    },
    next: () => {
      for (const { emit } of streams) emit()
    },
    end: () => {
      const all = streams
      streams = new Set()
      for (const { end } of all) end()
    }
  }
}

/** CPU of the pieces only: the streams are open, and their ends do not count. */
const pieces = async (width: number): Promise<Figure> => {
  const ticks = 100
  const { end, next, provider } = turnModel()
  const agent = createAgent({ provider, freeze: false })
  let read = 0
  const readers = Array.from({ length: width }, async () => {
    for await (const event of agent.stream("talk")) if (event.type === "text-delta") read++
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = process.cpuUsage()
  const began = performance.now()
  // As many pieces at a time for one stream as for many.
  for (let tick = 0; tick < ticks; tick++) {
    for (let one = 0; one < 1_000; one += width) next()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { system, user } = process.cpuUsage(before)
  const wall = performance.now() - began
  end()
  await Promise.all(readers)
  await agent.close()
  const sent = ticks * 1_000
  if (read !== sent) throw new Error(`${read} of ${sent} pieces`)
  return { name: `${width} streams`, cpu: (system + user) / sent, wall: wall * 1_000 / sent }
}

const many = async (): Promise<string> => {
  const widths = [1, 100, 1_000]
  const samples = widths.map((): Array<Figure> => [])
  for (let round = 0; round < 8; round++) {
    for (const [index, width] of widths.entries()) {
      const figure = await pieces(width)
      if (round > 0) samples[index]!.push(figure)
    }
  }
  const middle = samples.map((list) => list.sort((a, b) => a.cpu - b.cpu)[list.length >> 1]!)
  return table("A piece of one of many streams of an agent", middle)
}

export const streams = async (): Promise<string> => {
  const { stop, url } = await startServer()
  try {
    return [await piece(url), await firstPiece(url), await many()].join("\n")
  } finally {
    stop()
  }
}
