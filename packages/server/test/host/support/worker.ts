/**
 * A process that runs sessions until it is killed, or kills itself. Its arguments are the store, the engine, the file in
 * which its tools note what they do, and when it ends itself: at the moment with this number, or before it reports an
 * outcome. With a minus it freezes at this moment, until somebody wakes it.
 */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Inbox } from "@belay/core/Inbox"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise, type LlmProvider } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Budget from "@belay/hooks/Budget"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { planner, tool } from "./hosted.ts"
import { type EngineName, openHost } from "./openStore.ts"
import { limits } from "./storedBudget.ts"

const [where = "", engine = "local", log = "", dieAt = "0"] = process.argv.slice(2)

let moments = 0
const moment = (): void => {
  moments++
  if (moments === Number(dieAt)) process.kill(process.pid, "SIGKILL")
  if (moments !== -Number(dieAt)) return
  process.stdout.write("frozen\n")
  process.kill(process.pid, "SIGSTOP")
}

const note = (line: string): void => {
  appendFileSync(log, `${line}\n`)
  moment()
}

/** Each operation of a store has two moments: before it, and after it. Commits are noted. */
const watched = <A extends object>(port: A): A =>
  new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== "function" || name === "due") return member
      return (...all: ReadonlyArray<unknown>) =>
        Effect.andThen(
          Effect.sync(() => {
            if (name === dieAt && all[2] !== "begun") process.kill(process.pid, "SIGKILL")
            moment()
          }),
          Effect.tap(Reflect.apply(member, target, all) as Effect.Effect<unknown, unknown>, () =>
            Effect.sync(() => {
              const { revision, sessionId } = Object(all[0]) as { readonly [field: string]: unknown }
              if (name === "commit") note(`commit ${String(sessionId)} ${String(revision)}`)
              else moment()
            }))
        )
    }
  })

/** Notes when a call begins and when it ends. */
const noted = (name: string, isIdempotent = false) =>
  tool(
    name,
    { push: (line: string) => note(`begin ${line}`) },
    () => Effect.runPromise(Effect.andThen(Effect.sleep(2), Effect.sync(() => note(`end ${name}`)))),
    isIdempotent
  )

/** Each call takes a moment and has the same cost. */
const counted = (provider: LlmProvider): LlmProvider => ({
  ...provider,
  complete: (request) =>
    Effect.map(
      Effect.andThen(Effect.sync(() => note("model")), provider.complete(request)),
      (response) => ({ ...response, usage: { inputTokens: 10, outputTokens: 5 } })
    )
})

/** Calls one tool that needs an approval, and answers. */
const assistant = fromPromise({
  name: "assistant",
  complete: async ({ messages }) =>
    messages.at(-1)?.role === "tool" ? textResponse("helped") : {
      ...textResponse(""),
      finishReason: "tool-calls",
      toolCalls: [{ id: "r", name: "risk", args: {} }]
    }
})
const asking = { name: "gate", tools: ["danger", "risk"], preToolCall: () => HookAction.ask("really?") }

const { store, ...rest } = openHost(where, engine as EngineName)
const sessions = watched<SessionStore>(store.sessions)
const helper = createAgent({ name: "helper", provider: counted(assistant), tools: [noted("risk")], log: false })
const agent = createAgent({
  provider: counted(planner(() => Effect.runPromise(Effect.sleep(2)))),
  store: sessions,
  tools: [
    noted("work"),
    noted("safe", true),
    noted("danger"),
    agentTool({ name: "help", description: "helps", agent: helper })
  ],
  hooks: [asking, Budget.make({ limits, costPerInputToken: 0.01, costPerOutputToken: 0.02 })],
  log: false
})
const host = Host.make({
  agent,
  store: { sessions, inbox: watched<Inbox>(store.inbox) },
  maxAttempts: 10_000,
  ...rest
})
/**
 * The database may be away. As an Effect, a host writes its warnings to standard output: what a storm finds on standard
 * error is a fault.
 */
const start = (): Promise<unknown> =>
  Effect.runPromise(host.start()).catch(() => Effect.runPromise(Effect.sleep(100)).then(start))
await start()
process.stdout.write("ready\n")
setInterval(() => {}, 1_000)
