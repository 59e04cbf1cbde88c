/** Sessions whose database is away for a while, under each engine. Their processes go on running. */
import { createAgent } from "@belay/core/createAgent"
import type { Message } from "@belay/core/Message"
import { text, whyInvalid } from "@belay/core/Message"
import * as Host from "@belay/server/Host"
import { HostError } from "@belay/server/HostError"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { assert } from "vitest"
import type { PostgresServer } from "../../../../../test/support/postgres.ts"
import { asking, failure, gate, planner, tool } from "./hosted.ts"
import { type EngineName, openEngine, openStore } from "./openStore.ts"

const pause = (ms: number) => Effect.runPromise(Effect.sleep(ms))

/** A host that runs sessions in this process, with turns that run, wait for people and wait for their time. */
const scene = async (server: PostgresServer, name: EngineName, sessions: number) => {
  const where = `${server.url}#away_${name.replace("-", "")}_${sessions}`
  const store = openStore(where, "10 seconds")
  const log: Array<string> = []
  const [begun, go] = [gate(), gate()]
  let running = 0
  const slow = tool("work", log, () => {
    if (++running === sessions) begun.open()
    return go.opened
  })
  const agent = createAgent({
    provider: planner(),
    store: store.sessions,
    tools: [slow, tool("safe", log, () => undefined, true), tool("danger", log)],
    hooks: [asking],
    log: false
  })
  const runs = Host.make({ agent, store, pollMs: 50, ...openEngine(where, name) })
  // Engines log what they try again.
  const runner = await Effect.runPromise(Effect.provideService(runs.start(), References.MinimumLogLevel, "None"))
  // Another process sends, and is less patient.
  const web = openStore(where)
  const host = Host.make({ agent, store: web, pollMs: 50, ...(name === "local" ? {} : openEngine(where, name)) })
  const ids = Array.from({ length: sessions }, (_, index) => `s${index}`)
  for (const id of ids) {
    await host.send(id, "do work, safe, work", { key: "runs" })
    await host.send(id, "next", { key: "next" })
  }
  await host.send("people", "do danger", { key: "asks" })
  await begun.opened
  const asked = await host.result("people", "asks")
  const callId = asked.status === "suspended" ? asked.pending[0]!.callId : "none"
  await host.send("later", "in time", { key: "later", at: Date.now() + 1_000 })
  return { agent, callId, go: go.open, host, ids, log, name, runner, stores: [store, web] }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** While the database is away, who sends learns it. A tool that was running ends meanwhile. */
const duringOutage = async ({ callId, go, host, name }: Scene): Promise<void> => {
  const sent = failure(host.send("late", "hello", { key: "late" }))
  const decided = failure(host.decide("people", { [callId]: { type: "approve" } }, { key: "yes" }))
  go()
  for (const error of [await sent, await decided]) {
    assert.deepInclude(error, { _tag: "HostError", problem: "store" }, name)
    assert.match(String(error["message"]), /cannot be reached.+Try again with the same key/, name)
  }
}

/** Tries again with the same key, as the error says, until the database has started on a busy machine. */
const untilReached = async <A>(ask: () => PromiseLike<A>): Promise<A> => {
  while (true) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof HostError) || error.problem !== "store") throw error
    }
  }
}

/** Afterwards everything goes on, without a restart of the process. */
const afterOutage = async ({ callId, host, ids, log, name, stores }: Scene): Promise<void> => {
  const result = (id: string, key: string) => untilReached(() => host.result(id, key))
  await untilReached(() => host.send("late", "hello", { key: "late" }))
  await untilReached(() => host.decide("people", { [callId]: { type: "approve" } }, { key: "yes" }))
  assert.deepInclude(await result("late", "late"), { status: "completed", text: "re: hello" }, name)
  assert.deepInclude(await result("people", "asks"), { status: "completed", text: "did danger" }, name)
  assert.deepInclude(await result("later", "later"), { status: "completed", text: "re: in time" }, name)
  for (const id of ids) {
    assert.deepInclude(await result(id, "runs"), { status: "completed", text: "did work safe work" }, name)
    assert.deepInclude(await result(id, "next"), { status: "completed", text: "re: next" }, name)
    const { messages } = (await Effect.runPromise(stores[0]!.sessions.load(id)))!
    assert.isUndefined(whyInvalid(messages), name)
    const results = messages.filter((one): one is Message & { readonly role: "tool" } => one.role === "tool")
    for (const one of results) if (one.isError === true) assert.match(text(one), /unknown/, name)
    assert.strictEqual(messages.filter(({ role }) => role === "user").length, 2, name)
  }
  const once = log.filter((line) => !line.startsWith("safe "))
  assert.strictEqual(new Set(once).size, once.length, `${name}: a call began twice`)
}

/** Takes the database away from sessions of all engines for `awayMs`. */
export const outage = async (server: PostgresServer, awayMs: number, sessions: number): Promise<void> => {
  const names: ReadonlyArray<EngineName> = ["local", "cluster", "pg-boss"]
  const scenes: Array<Scene> = []
  for (const name of names) scenes.push(await scene(server, name, sessions))
  await server.kill()
  await Promise.all([pause(awayMs), ...scenes.map(duringOutage)])
  await server.start()
  await Promise.all(scenes.map(afterOutage))
  for (const { agent, runner, stores } of scenes) {
    await runner.drain()
    await agent.close()
    for (const store of stores) await store.close()
  }
}
