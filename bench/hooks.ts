/**
 * What the ready-made hooks cost: a step of a run with all of them against the same without, and how fast the
 * guardrails read.
 */
import { createAgent, defineTool } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { AuditFile, Hooks, PromptInjection, Redaction, RegexFilter, Secrets, TextNormalizer } from "@belay/hooks"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { measure, table } from "./measure.ts"
import { agentInSessions, agentWith, byHand, repeat, turns } from "./toolTurn.ts"

const steps = 10
const usage = { inputTokens: 900, outputTokens: 60 }

/** Ten steps of the kind that agents make: read a file of 2 kB, and an answer at the end. */
const provider = (): LlmProvider => {
  let step = 0
  const answer = (): LlmResponse =>
    ++step % (steps + 1) === 0
      ? { model: "small-1", text: "The files say nothing new.", toolCalls: [], finishReason: "stop", usage }
      : {
        model: "small-1",
        text: "Let me look.",
        toolCalls: [{ id: `call_${step}`, name: "read_file", args: { path: `src/part${step}.ts` } }],
        finishReason: "tool-calls",
        usage
      }
  return { name: "fake", model: "small-1", complete: () => Effect.promise(async () => answer()) }
}

const file = Array.from(
  { length: 40 },
  (_, line) => `export const value${line} = compute(${line}, "some text", [1, 2, 3])`
).join("\n")

const readFile = defineTool({
  name: "read_file",
  description: "Reads a file",
  input: Schema.Struct({ path: Schema.String }),
  readOnly: true,
  execute: ({ path }) => `// ${path}\n${file}`
})

const runs = (hooks: ReadonlyArray<AgentHook>) => {
  const agent = createAgent({ provider: provider(), tools: [readFile], hooks, freeze: false })
  return async (times: number) => {
    for (let n = 0; n < times / (steps + 1); n++) await agent.run("Read the files and say what is new in them")
  }
}

const paid = {
  limits: [{ scope: "run", money: 1 }, { scope: "session", money: 10, tokens: 10_000_000 }],
  prices: { "small-1": { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7 } }
}

/** The smallest tool turn, with everything that a careful user switches on. */
const toolTurns = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  const budget = {
    limits: [{ scope: "session", money: 10 }],
    prices: { fake: { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7 } }
  }
  const none = agentWith([])
  const safe = agentWith(Hooks.safeDefaults())
  const all = agentWith(Hooks.safeDefaults({ ...budget, audit: AuditFile.make(join(folder, "audit.jsonl")) }))
  const figures = await measure(
    [
      { name: "hand-written loop", run: repeat(byHand) },
      { name: "belay, no hooks", run: repeat(() => none.run()) },
      { name: "belay, safeDefaults", run: repeat(() => safe.run()) },
      { name: "belay, safeDefaults, a budget of money, an audit file", run: repeat(() => all.run()) }
    ],
    300,
    9
  )
  rmSync(folder, { recursive: true })
  return table(
    "One tool turn in process, in a run of ten",
    figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / turns, wall: wall / turns }))
  )
}

/** The smallest tool turn with default options, in new sessions and in long ones, and what it allocates. */
const safeDefaults = async (): Promise<string> => {
  const contenders = [
    { name: "hand-written loop", run: repeat(byHand) },
    ...[false, true].flatMap((isLong) => {
      const where = isLong ? "one long session" : "fresh sessions"
      const none = agentInSessions([], isLong)
      const safe = agentInSessions(Hooks.safeDefaults(), isLong)
      const others = agentInSessions(Hooks.safeDefaults().filter(({ name }) => name !== "data-flow"), isLong)
      return [
        { name: `no hooks, ${where}`, run: repeat(none.run) },
        { name: `safe defaults without data flow, ${where}`, run: repeat(others.run) },
        { name: `safe defaults, ${where}`, run: repeat(safe.run) }
      ]
    })
  ]
  const figures = await measure(contenders, 200, 9)
  const title = "Safe defaults: one tool turn with default options, in a run of ten"
  const shown = table(title, figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / turns, wall: wall / turns })))
  const allocated: Array<string> = []
  for (const { name, run } of contenders) {
    allocated.push(`| ${name} | ${(await allocatedBy(run) / turns / 1_024).toFixed(1)} |`)
  }
  return [shown, "| | KiB allocated a turn |", "|---|--:|", ...allocated, ""].join("\n")
}

/** The median of what a run allocates. A round in which the collector has run is too small, and not the median. */
const allocatedBy = async (run: (times: number) => Promise<void>): Promise<number> => {
  const rounds: Array<number> = []
  for (let round = 0; round < 9; round++) {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    await run(5)
    rounds.push((process.memoryUsage().heapUsed - before) / 5)
  }
  return rounds.sort((a, b) => a - b)[4]!
}

/** A hook's own work on a text, without an agent. */
const reading = (hook: AgentHook, text: string) => {
  const values = new Map<string, unknown>()
  let read = 0
  const state = {
    get: (key: { readonly name: string; readonly initial: unknown }) => values.get(key.name) ?? key.initial,
    all: (key: { readonly name: string }) => new Map(values.has(key.name) ? [[hook.name, values.get(key.name)]] : []),
    set: (key: { readonly name: string }, value: unknown) => void values.set(key.name, value),
    update: (key: { readonly name: string; readonly initial: unknown }, f: (value: unknown) => unknown) => {
      const value = f(values.get(key.name) ?? key.initial)
      values.set(key.name, value)
      return value
    }
  }
  const ctx = () =>
    ({
      hook: hook.name,
      sessionId: "s",
      turnNumber: 1,
      stepNumber: 0,
      agent: { name: "a", depth: 0, invokedBy: "main" },
      state,
      root: { sessionId: "s", turnNumber: 1, state },
      events: { active: false, emit: () => {} },
      warn: () => {},
      notifyUser: () => {},
      inject: () => {}
    }) as unknown as HookContext
  return async (times: number) => {
    for (let n = 0; n < times; n++) {
      // A text that was searched before is found in a cache.
      const answer = hook.preTurn!({ message: `${text}${read++}` }, ctx())
      if (Effect.isEffect(answer)) await Effect.runPromise(answer as Effect.Effect<unknown, unknown>)
    }
  }
}

export const hooks = async (): Promise<string> => {
  const turns = await measure(
    [
      { name: "no hooks", run: runs([]) },
      {
        name: "safeDefaults, a budget of money, an audit",
        run: runs(Hooks.safeDefaults({ ...paid, audit: () => {} }))
      },
      {
        name: "the same with placeholders for personal data",
        run: runs(Hooks.safeDefaults({ ...paid, audit: () => {}, personalData: true }))
      }
    ],
    220,
    9
  )
  const [bare, safe] = [turns[0]!, turns[1]!]
  const more = safe.cpu - bare.cpu
  const text = Array.from(
    { length: 1_400 },
    (_, line) => `Line ${line} of an ordinary report about invoices, delivery and ${line * 37} parts.\n`
  ).join("")
    .slice(0, 100_000)
  const words = /\b(?:ignore|password|secret)\b/gi
  const reads = await measure(
    [
      {
        name: "one native pattern",
        run: (times) => {
          for (let n = 0; n < times; n++) text.match(words)
        }
      },
      { name: "TextNormalizer", run: reading(TextNormalizer.make(), text) },
      { name: "Secrets", run: reading(Secrets.make(), text) },
      { name: "Redaction", run: reading(Redaction.make(), text) },
      { name: "PromptInjection", run: reading(PromptInjection.make(), text) },
      {
        name: "RegexFilter, one RE2 pattern",
        run: reading(RegexFilter.make({ rules: [{ pattern: "(?i)\\b(ignore|password|secret)\\b" }] } as never), text)
      }
    ],
    10,
    9
  )
  return [
    await toolTurns(),
    await safeDefaults(),
    table("One step (a model call and a tool call that reads 2 kB)", turns),
    `The hooks add ${more.toFixed(0)} µs of CPU a step: ${
      (more / 50_000 * 100).toFixed(2)
    } % of a model that takes 50 ms.\n`,
    table("A guardrail over 100 kB of text", reads)
  ].join("\n")
}
