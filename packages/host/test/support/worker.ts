/**
 * A process that runs sessions until it is killed, or kills itself. Its arguments are the store, the file in which its
 * tools note what they do, and when it kills itself: at the moment with this number, or before it reports an outcome.
 */
import { createAgent } from "@belay/core/createAgent"
import type { Inbox } from "@belay/core/Inbox"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Host from "@belay/host/Host"
import * as Effect from "effect/Effect"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { asking, planner, pollMs, tool } from "./hosted.ts"
import { openStore } from "./openStore.ts"

const [where = "", log = "", dieAt = "0"] = process.argv.slice(2)

let moments = 0
const moment = (): void => {
  if (++moments === Number(dieAt)) process.kill(process.pid, "SIGKILL")
}

/** Each operation of a store has two moments: before it, and after it. */
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
          Effect.tap(Reflect.apply(member, target, all) as Effect.Effect<unknown, unknown>, () => Effect.sync(moment))
        )
    }
  })

const note = (line: string): void => {
  appendFileSync(log, `${line}\n`)
  moment()
}
/** Notes when a call begins and when it ends. */
const noted = (name: string, isIdempotent = false) =>
  tool(
    name,
    { push: (line: string) => note(`begin ${line}`) },
    () => Effect.runPromise(Effect.andThen(Effect.sleep(2), Effect.sync(() => note(`end ${name}`)))),
    isIdempotent
  )

const store = openStore(where)
const sessions = watched<SessionStore>(store.sessions)
const agent = createAgent({
  provider: planner(() => Effect.runPromise(Effect.sleep(2))),
  store: sessions,
  tools: [noted("work"), noted("safe", true), noted("danger")],
  hooks: [asking],
  log: false
})
const host = Host.make({
  agent,
  store: { sessions, inbox: watched<Inbox>(store.inbox) },
  pollMs,
  maxAttempts: 10_000
})
await host.start()
process.stdout.write("ready\n")
setInterval(() => {}, 1_000)
