/** The host of an agent that is served without one. It runs in this process. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import * as EventLog from "@belay/core/EventLog"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Host from "../../host/Host.ts"
import { goesOn } from "../../host/internal/care/retention.ts"

/** How long what is in memory is kept after it has ended, and how often it is looked for, in milliseconds. */
const keepMs = 24 * 60 * 60 * 1_000
const lookMs = 60 * 60 * 1_000

/** How many messages are kept at most, after they have ended, and how often older ones are looked for. */
const keepCount = 10_000
const lookCount = 500

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
  const memory: Memory = { inbox, events, ...(config.store === undefined ? { sessions } : {}) }
  const host = Host.make({
    agent,
    store: { sessions, inbox: bounded(memory, { keepCount, lookCount }), events },
    concurrency: maxTurns
  })
  // An Awaitable starts when somebody waits for it.
  const running = Promise.resolve(host.start())
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

/**
 * Returns the inbox. When messages are added, it removes what had ended before the newest `keepCount` of them were
 * added, so that the memory does not grow with the number of requests.
 */
export const bounded = (
  memory: Memory,
  { keepCount, lookCount }: { readonly keepCount: number; readonly lookCount: number }
): Inbox.Inbox => {
  /** When a message was added, for every `lookCount` messages. */
  const times: Array<number> = []
  let count = 0
  const look = Effect.gen(function*() {
    if (count++ % lookCount !== 0) return
    times.push(yield* Clock.currentTimeMillis)
    if (times.length > keepCount / lookCount) yield* pruneBefore(memory, times.shift()!)
  })
  return { ...memory.inbox, add: (entry, capacity) => Effect.andThen(look, memory.inbox.add(entry, capacity)) }
}

/** Removes what nobody has used for some time. */
export const pruneOld = (memory: Memory, ageMs: number): Effect.Effect<void, unknown> =>
  Effect.flatMap(Clock.currentTimeMillis, (time) => pruneBefore(memory, time - ageMs))

/** Removes what has ended before a time. Sessions that wait for people or for a process stay. */
const pruneBefore = Effect.fnUntraced(function*({ events, inbox, sessions }: Memory, before: number) {
  yield* inbox.prune(before)
  yield* events.prune(before)
  const all = yield* sessions?.list?.({ limit: 100_000, before }) ?? Effect.succeed([])
  for (const { id, status } of all) {
    if (status !== "idle" || sessions?.remove === undefined || (yield* goesOn(sessions, id, before))) continue
    yield* sessions.remove(id)
  }
})
