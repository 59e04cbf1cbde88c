/** The host of an agent that is served without one. It runs in this process. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import * as EventLog from "@belay/core/EventLog"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as Host from "@belay/host/Host"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** How long what is in memory is kept after it has ended, and how often it is looked for, in milliseconds. */
const keepMs = 24 * 60 * 60 * 1_000
const lookMs = 60 * 60 * 1_000

/** How many turns run at once. A turn mostly waits for its model, and a reader of its stream waits for the turn. */
const maxTurns = 10_000

interface OwnHost {
  readonly host: Host.Host
  readonly close: () => Promise<void>
}

export const ownHost = (config: AgentConfig): OwnHost => {
  const sessions = config.store ?? SessionStore.inMemory()
  const agent = createAgent({ ...config, store: sessions })
  const [inbox, events] = [Inbox.inMemory(), EventLog.inMemory()]
  const host = Host.make({ agent, store: { sessions, inbox, events }, concurrency: maxTurns })
  // An Awaitable starts when somebody waits for it.
  const running = Promise.resolve(host.start())
  const memory: Memory = { inbox, events, ...(config.store === undefined ? { sessions } : {}) }
  const pruner = Effect.runFork(Effect.forever(Effect.andThen(Effect.sleep(lookMs), pruneOld(memory, keepMs))))
  const close = async () => {
    await Effect.runPromise(Fiber.interrupt(pruner))
    await (await running).drain()
    await agent.close()
  }
  return { host, close }
}

/** What is in memory. A store of the program is left alone. */
interface Memory {
  readonly inbox: Inbox.Inbox
  readonly events: EventLog.EventLog
  readonly sessions?: SessionStore.SessionStore
}

/** Removes what nobody has used for some time. Sessions that wait for people or for a process stay. */
export const pruneOld = Effect.fnUntraced(function*({ events, inbox, sessions }: Memory, ageMs: number) {
  const before = (yield* Clock.currentTimeMillis) - ageMs
  yield* inbox.prune(before)
  yield* events.prune(before)
  const all = yield* sessions?.list?.({ limit: 100_000, before }) ?? Effect.succeed([])
  for (const { id, status } of all) {
    if (status === "idle" && sessions?.remove !== undefined) yield* sessions.remove(id)
  }
})
