/**
 * A process that works on sessions in a store until it is killed, or that resumes sessions on request, or that adds to
 * one account, one text and one list of rules. Arguments: `work`, `race`, `count` or nothing, the address of the store,
 * a folder for what its tools did, a prefix of its sessions, a seed.
 */
import { createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { digest } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import { appendFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { argv, kill, pid, stdin } from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { openStore, type Store } from "./sharedStore.ts"

const [, file = "", deed = "", path = "", folder = "", prefix = "", seed = "0"] = argv

/** What happened outside, one line a fact; written whole even by a process that is killed. */
const note = (at: string, what: string) => appendFileSync(join(at, "outside.log"), `${what}\n`)
const say = (what: string) => void writeSync(1, `${what}\n`)

let drawn = Number(seed) >>> 0
/** The next number below `max` (mulberry32). */
const below = (max: number): number => {
  drawn = (drawn + 0x6d2b79f5) >>> 0
  let t = Math.imul(drawn ^ (drawn >>> 15), drawn | 1)
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) % max
}

/** Dies at this point, once in a while, without a word. */
const perhapsDie = (once: number) => {
  if (deed === "work" && below(once) === 0) kill(pid, "SIGKILL")
}

const tool = (name: string, idempotent: boolean, at: string): AnyTool =>
  defineTool({
    name,
    description: `Does ${name}`,
    input: { type: "object" },
    idempotent,
    execute: async (_args, { callId, idempotencyKey }) => {
      note(at, `${name} ${callId} ${idempotencyKey}`)
      perhapsDie(60)
      await Promise.resolve()
      perhapsDie(60)
      return `${name} done`
    }
  }) as AnyTool

/** Asks for three tools at once, then for one that needs approval, then ends. Ids are its turn's. */
const model: LlmProvider = {
  name: "model",
  complete: ({ messages }: LlmRequest) =>
    Effect.sync(() => {
      const turn = messages.filter(({ role }) => role === "user").length
      const step = messages.length - messages.findLastIndex(({ role }) => role === "user")
      const calls = step === 1 ? ["pay", "sync", "look"] : step < 6 ? ["deploy"] : []
      return {
        model: "model",
        text: calls.length === 0 ? `turn ${turn} is done` : "",
        toolCalls: calls.map((name) => ({ id: `${name}-${turn}-${step}`, name, args: { turn } })),
        finishReason: calls.length === 0 ? "stop" : "tool-calls",
        usage: { inputTokens: 1, outputTokens: 1 }
      } as const
    })
}

/** The store, telling what it has taken. */
const telling = (store: Store): SessionStore => ({
  ...store.sessions,
  commit: (step) => {
    perhapsDie(150)
    return Effect.map(store.sessions.commit(step), () => {
      perhapsDie(150)
      say(`ack ${step.sessionId} ${step.revision} ${digest(JSON.parse(JSON.stringify(step.snapshot())))}`)
    })
  }
})

/** An agent whose tools write down in a folder that they ran. */
export const make = (at: string, sessions: SessionStore) =>
  createAgent({
    provider: model,
    tools: [tool("pay", false, at), tool("sync", true, at), tool("look", false, at), tool("deploy", false, at)],
    hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("sure?") }],
    store: sessions
  })

const approvals = (pending: ReadonlyArray<{ readonly callId: string }>) =>
  Object.fromEntries(pending.map(({ callId }) => [callId, { type: "approve" as const }]))

/** Continues the turns that wait in three sessions, or starts another turn there. */
const work = async () => {
  const store = openStore(path)
  const agent = make(folder, telling(store))
  const sessions = await Promise.all([0, 1, 2].map((index) => agent.session({ id: `${prefix}-${index}` })))
  let waits = true
  for (;;) {
    for (const session of sessions) {
      const decisions = approvals(session.pending)
      const asked = session.pending.length > 0
      if (asked || waits) {
        const error = await session.resume(decisions).then(
          () => undefined,
          (error: { readonly problem?: string }) => error
        )
        if (error !== undefined && error.problem !== "finished") {
          throw new Error(`resume failed: ${JSON.stringify(error)}`, { cause: error })
        }
        if (error === undefined) continue
      }
      const { status } = await session.run("go")
      if (status !== "suspended") throw new Error(`expected a question, got ${status}`)
    }
    waits = false
  }
}

/** Opens a session on `open`, resumes it on `go`, and says how that ended. */
const race = async () => {
  const store = openStore(path)
  let session: Awaited<ReturnType<ReturnType<typeof make>["session"]>> | undefined
  say("ready")
  for await (const line of createInterface({ input: stdin })) {
    const [order, id] = line.split(" ")
    if (order === "open") {
      session = await make(folder, store.sessions).session({ id: id! })
      say(`opened ${id}`)
    } else if (session !== undefined) {
      const one = session
      const end = await one.resume(approvals(one.pending)).then(
        ({ status }) => status,
        (error: { readonly _tag?: string; readonly cause?: { readonly _tag?: string } }) =>
          `${error._tag} ${error.cause?._tag}`
      )
      say(`ended ${id} ${end}`)
    }
  }
}

/** Begins on `go`, and adds a hundred times. */
const count = async () => {
  await using store = openStore(path)
  say("ready")
  for await (const _line of createInterface({ input: stdin })) {
    for (let index = 0; index < 100; index++) {
      await Effect.runPromise(
        store.ledger.update("shared", (before) => [undefined, { ...before, elapsedMs: before.elapsedMs + 1 }])
      )
      await Effect.runPromise(store.artifacts.append("shared", "hook:log", `<${prefix}:${index}>`, { by: prefix }))
      await Effect.runPromise(store.rules.add({ hook: "h", tool: `t${index}` }))
    }
    say("done")
  }
}

if (file === fileURLToPath(import.meta.url) && deed === "work") await work()
if (file === fileURLToPath(import.meta.url) && deed === "race") await race()
if (file === fileURLToPath(import.meta.url) && deed === "count") await count()
