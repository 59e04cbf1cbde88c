/** The laws of engines. */
import type { Inbox } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { broken, holds, type Law, same } from "./law.ts"

interface Engine {
  readonly wake: (sessionId: string, at?: number) => Effect.Effect<void, unknown>
  readonly start: (
    advance: (sessionId: string) => Effect.Effect<void, unknown>
  ) => Effect.Effect<void, unknown, Scope.Scope>
}

interface Subject {
  readonly engine: Engine
  readonly inbox: Inbox
  readonly peer?: Engine
  readonly dispose?: () => Promise<void> | void
}

/** What a law works with. */
interface Stage {
  /** Adds an entry to the inbox and wakes its session, as a host does. */
  readonly send: (sessionId: string, at?: number) => Promise<void>
  /**
   * Takes part until the returned function is called. A session is advanced by `act`; after that its due entries are
   * done.
   */
  readonly start: (act: (sessionId: string) => Promise<void>) => Promise<() => Promise<void>>
  readonly wake: (sessionId: string) => Promise<void>
}

/** The same stage for two engines. */
interface Stages {
  readonly one: Stage
  readonly other: Stage
}

const run = Effect.runPromise
const pause = (ms: number) => run(Effect.sleep(ms))

/** How long something may take that has to happen, in milliseconds. */
const patience = 60_000

/** Waits until something is so. */
const until = async (what: string, fact: () => boolean): Promise<void> => {
  const end = performance.now() + patience
  while (!fact()) {
    if (performance.now() > end) return broken(`${what}: it did not happen in ${patience} ms`)
    await pause(5)
  }
}

let entries = 0

const stageOf = (engine: Engine, inbox: Inbox): Stage => {
  const finish = (sessionId: string) =>
    Effect.gen(function*() {
      for (const { at, key } of yield* inbox.open(sessionId)) {
        if (at <= now()) yield* inbox.report(sessionId, key, "done", null)
      }
    })
  return {
    send: async (sessionId, at) => {
      const entry = { sessionId, key: `k${entries++}`, kind: "message", body: null, at: at ?? now() } as const
      await run(Effect.andThen(inbox.add(entry), engine.wake(sessionId, at)))
    },
    wake: (sessionId) => run(engine.wake(sessionId)),
    start: async (act) => {
      const scope = await run(Scope.make())
      const advance = (sessionId: string) =>
        Effect.andThen(
          Effect.tryPromise({ try: () => act(sessionId), catch: (error) => error }),
          finish(sessionId)
        )
      // The law about failing calls needs no warnings.
      const silent = Effect.provideService(engine.start(advance), References.MinimumLogLevel, "None")
      await run(Scope.provide(silent, scope))
      return () => run(Scope.close(scope, Exit.void))
    }
  }
}

const now = () => performance.timeOrigin + performance.now()

/** One law: its name, and what it checks. */
type EngineLaw = readonly [name: string, prove: (stage: Stage) => Promise<void>]

const laws: ReadonlyArray<EngineLaw> = [
  ["a session that was woken is advanced, also if that was before the start", async ({ send, start }) => {
    const seen = new Set<string>()
    await send("before")
    const stop = await start(async (id) => void seen.add(id))
    await send("after")
    await until("both sessions are advanced", () => seen.size === 2)
    await stop()
  }],
  ["a session is advanced by one call at a time, and again if it was woken meanwhile", async ({ send, start }) => {
    let [calls, inside, most] = [0, 0, 0]
    const stop = await start(async () => {
      calls++
      most = Math.max(most, ++inside)
      await pause(40)
      inside--
    })
    await send("s")
    await until("the first call", () => inside === 1)
    await Promise.all([send("s"), send("s"), send("s")])
    await until("a second call", () => calls > 1)
    await stop()
    same(most, 1, "calls at the same time")
  }],
  ["sessions are advanced at the same time as others", async ({ send, start }) => {
    const inside = new Set<string>()
    let go = (): void => {}
    const gone = new Promise<void>((resolve) => go = resolve)
    const stop = await start(async (id) => {
      inside.add(id)
      await gone
    })
    await Promise.all(["a", "b", "c"].map((id) => send(id)))
    await until("three sessions at once", () => inside.size === 3)
    go()
    await stop()
  }],
  ["a session is advanced when it is due", async ({ send, start }) => {
    const at = now() + 250
    let first: number | undefined
    const stop = await start(async () => void (first ??= now()))
    await send("s", at)
    await until("the session is advanced", () => first !== undefined)
    holds(first! >= at - 2, `it was advanced ${Math.round(at - first!)} ms too early`)
    await stop()
  }],
  ["a session whose call failed is advanced again", async ({ send, start }) => {
    let calls = 0
    const stop = await start(async () => {
      if (++calls < 3) throw new Error("not now")
    })
    await send("s")
    await until("the third call", () => calls >= 3)
    await stop()
  }],
  ["closing waits for the calls that run, and the rest is left for the next start", async ({ send, start }) => {
    const [begun, ended, later] = [new Set<string>(), new Set<string>(), new Set<string>()]
    const stop = await start(async (id) => {
      begun.add(id)
      await pause(60)
      ended.add(id)
    })
    await send("running")
    await until("a call runs", () => begun.has("running"))
    await stop()
    same([...ended], [...begun], "calls that have returned when it has closed")
    await send("left")
    await pause(60)
    holds(!begun.has("left"), "a session was advanced after the scope has closed")
    const stopAgain = await start(async (id) => void later.add(id))
    await until("what was left is advanced", () => later.has("left"))
    await stopAgain()
  }],
  ["a session that is due later is advanced now too if it was woken", async ({ send, start }) => {
    let calls = 0
    await send("s", now() + 3_600_000)
    const stop = await start(async () => void calls++)
    await send("s")
    await until("a call", () => calls > 0)
    await stop()
  }],
  ["a session that was woken for now is advanced again when it is due", async ({ send, start }) => {
    const at = now() + 300
    const times: Array<number> = []
    await send("s", at)
    await send("s")
    const stop = await start(async () => void times.push(now()))
    await until("a call when it is due", () => times.some((time) => time >= at - 2))
    await stop()
  }],
  ["a session whose calls fail does not hold up others", async ({ send, start }) => {
    const seen = new Set<string>()
    const stop = await start(async (id) => {
      if (id === "broken") throw new Error("not now")
      seen.add(id)
    })
    await send("broken")
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`)
    await Promise.all(ids.map((id) => send(id)))
    await until("the others are advanced", () => seen.size === ids.length)
    await stop()
  }],
  ["each of 300 sessions is advanced", async ({ send, start }) => {
    const seen = new Set<string>()
    const ids = Array.from({ length: 300 }, (_, index) => `s${index}`)
    await Promise.all(ids.slice(0, 150).map((id) => send(id)))
    const stop = await start(async (id) => void seen.add(id))
    await Promise.all(ids.slice(150).map((id) => send(id)))
    await until("all sessions are advanced", () => seen.size === ids.length)
    await stop()
  }],
  ["waking a session for which nothing is to do does no harm", async ({ send, start, wake }) => {
    const seen = new Set<string>()
    const stop = await start(async (id) => void seen.add(id))
    await wake("nobody")
    await send("s")
    await until("the other session is advanced", () => seen.has("s"))
    await stop()
  }]
]

/** The laws of engines with which several processes run sessions. */
const peerLaws: ReadonlyArray<readonly [name: string, prove: (stages: Stages) => Promise<void>]> = [
  ["what one process sends is advanced by another", async ({ one, other }) => {
    const seen = new Set<string>()
    await one.send("before")
    const stop = await other.start(async (id) => void seen.add(id))
    await one.send("after")
    await one.send("later", now() + 200)
    await until("all three are advanced", () => seen.size === 3)
    await stop()
  }],
  ["a session is advanced by one of two processes at a time", async ({ one, other }) => {
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    const inside = new Map<string, number>()
    const calls = new Map<string, number>()
    let most = 0
    const act = async (id: string): Promise<void> => {
      inside.set(id, (inside.get(id) ?? 0) + 1)
      most = Math.max(most, inside.get(id)!)
      await pause(10)
      inside.set(id, inside.get(id)! - 1)
      calls.set(id, (calls.get(id) ?? 0) + 1)
    }
    const stops = [await one.start(act)]
    const sent = ids.map((id) => one.send(id))
    stops.push(await other.start(act))
    await Promise.all([...sent, ...ids.map((id) => other.send(id))])
    await until("all sessions are advanced", () => calls.size === ids.length)
    const before = new Map(calls)
    await Promise.all(ids.map((id) => one.send(id)))
    await until("all are advanced again", () => ids.every((id) => calls.get(id)! > before.get(id)!))
    for (const stop of stops) await stop()
    same(most, 1, "calls for the same session at the same time")
  }],
  ["when one process closes, another goes on with its sessions", async ({ one, other }) => {
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    const [first, second] = [new Set<string>(), new Set<string>()]
    const stopOne = await one.start(async (id) => {
      first.add(id)
      await pause(20)
    })
    await Promise.all(ids.map((id) => other.send(id)))
    await until("a call runs", () => first.size > 0)
    const stopOther = await other.start(async (id) => void second.add(id))
    await stopOne()
    const closed = [...first]
    await Promise.all(ids.map((id) => other.send(id)))
    await until("the other has advanced all", () => second.size === ids.length)
    await stopOther()
    same([...first], closed, "sessions that the closed one has advanced")
  }],
  ["what is due later is advanced by a process that was started after the sender has gone", async ({ one, other }) => {
    const at = now() + 300
    let first: number | undefined
    await one.send("s", at)
    const stop = await other.start(async () => void (first ??= now()))
    await until("the session is advanced", () => first !== undefined)
    holds(first! >= at - 2, `it was advanced ${Math.round(at - first!)} ms too early`)
    await stop()
  }]
]

/** Returns the laws for engines that `make` creates. */
export const engineLaws = (make: () => Promise<Subject>, hasPeers: boolean): ReadonlyArray<Law> => {
  const law = (name: string, prove: (subject: Subject) => Promise<void>): Law => ({
    name: `engine: ${name}`,
    run: async () => {
      const subject = await make()
      try {
        await prove(subject)
      } finally {
        await subject.dispose?.()
      }
    }
  })
  return [
    ...laws.map(([name, prove]) => law(name, ({ engine, inbox }) => prove(stageOf(engine, inbox)))),
    ...(hasPeers ? peerLaws : []).map(([name, prove]) =>
      law(name, async ({ engine, inbox, peer }) => {
        if (peer === undefined) return broken("with `hasPeers`, `make` returns a `peer`")
        await prove({ one: stageOf(engine, inbox), other: stageOf(peer, inbox) })
      })
    )
  ]
}
