/** A person who leaves as much as possible in a store, and what a frozen process would still store of them. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { fingerprint } from "@belay/core/HookChain"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise, type LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import type { Commit } from "@belay/core/SessionStore"
import { Budget } from "@belay/hooks"
import type * as PostgresStore from "@belay/providers/PostgresStore"
import type * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { assert } from "vitest"
import { failure, planner, pollMs } from "./hosted.ts"

export const person = "ada.lovelace.1815@example.org"

type Store = SqliteStore.SqliteStore | PostgresStore.PostgresStore

/** A model that calls `work` or `help` once, or asks for what needs a person, and then answers with the mail address. */
const model = (name: "lead" | "helper"): LlmProvider =>
  fromPromise({
    name,
    complete: async ({ messages }) => {
      const last = messages.at(-1)!
      const whose = messages.some((message) => text(message).includes(person)) ? person : "bob"
      if (last.role === "tool") return textResponse(`done for ${whose}`)
      const tool = name === "helper" ? "work" : text(last).includes("bomb") ? "bomb" : "help"
      const args = tool === "help" ? { message: whose } : { mail: whose }
      return { ...textResponse(""), finishReason: "tool-calls", toolCalls: [{ id: "c1", name: tool, args }] }
    }
  })

const agentOf = (store: Store) => {
  const work = defineTool({
    name: "work",
    description: "Works",
    input: { type: "object" },
    execute: async (args, { artifacts }) => {
      await artifacts.write("notes", `about ${JSON.stringify(args)}`)
      return `worked for ${JSON.stringify(args)}`
    }
  })
  const bomb = defineTool({ name: "bomb", description: "Asks", input: { type: "object" }, execute: () => "boom" })
  const helper = createAgent({
    name: "helper",
    provider: model("helper"),
    artifacts: store.artifacts,
    tools: [work],
    log: false
  })
  return createAgent({
    name: "lead",
    provider: model("lead"),
    store: store.sessions,
    artifacts: store.artifacts,
    records: true,
    tools: [agentTool({ name: "help", description: "Helps", agent: helper }), bomb],
    hooks: [
      { name: "asks", preToolCall: ({ name }) => name === "bomb" ? HookAction.ask(`sure, ${person}?`) : undefined },
      Budget.make({
        ledger: store.ledger,
        limits: [{
          scope: "tenant",
          calls: 1_000,
          key: ({ message }) => String(message).includes(person) ? person : "bob"
        }, { scope: "session", calls: 100 }]
      })
    ],
    log: false
  })
}

/** Standing approvals that the person has given, or that have them in the arguments. */
const rulesOfPerson = [
  { hook: "asks", tool: "bomb", approvedBy: ["bob", person] },
  { hook: "asks", tool: "bomb", fingerprint: fingerprint("bomb", { to: [`<${person}>`] }) }
]
export const ruleOfAll = {
  hook: "asks",
  tool: "bomb",
  approvedBy: ["bob"],
  fingerprint: fingerprint("bomb", { to: "all" })
}

/** Lets a person leave as much as possible in a store: two sessions, one with an open question, one not begun. */
export const live = async (store: Store) => {
  const agent = agentOf(store)
  const host = Host.make({ agent, store, pollMs })
  const running = await host.start()
  const done = await host.send("ada", `hello from ${person}`, { tenant: person })
  assert.strictEqual((await host.result("ada", done.key)).status, "completed")
  const asked = await host.send("ada2", `bomb for ${person}`, { tenant: person })
  assert.strictEqual((await host.result("ada2", asked.key)).status, "suspended")
  await host.send("ada3", `later ${person}`, { at: Date.now() + 3_600_000, tenant: person })
  for (const rule of [...rulesOfPerson, ruleOfAll]) await Effect.runPromise(store.rules.add(rule))
  const other = await host.send("bob", "hello from bob", { tenant: "bob" })
  assert.strictEqual((await host.result("bob", other.key)).status, "completed")
  return { agent, host, running, other }
}

/** What a process that was frozen meanwhile would still store. */
export const checkFrozen = async (store: Store): Promise<void> => {
  const run = Effect.runPromise
  const commitOf = (sessionId: string, revision: number): Commit => {
    const messages = [{ role: "user", content: person } as const]
    const state: Commit["state"] = {
      version: 3,
      sessionId,
      revision,
      turnNumber: 1,
      stepNumber: 1,
      coreType: "tool-loop",
      input: { message: person },
      phase: "ended",
      calls: [],
      injections: [],
      usage: { inputTokens: 0, outputTokens: 0 },
      counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
      hookState: {}
    }
    return { sessionId, revision, from: 0, messages, state, records: [], snapshot: () => ({ ...state, messages }) }
  }
  const events = (sessionId: string, begins?: number) =>
    store.events.write([{
      sessionId,
      rows: [{ first: 5, last: 6, body: person }],
      ...(begins === undefined ? {} : { begins })
    }], { keepMs: 0 })
  for (const revision of [1, 2]) await run(store.sessions.commit(commitOf("eve", revision)))
  await run(store.erasure.erase(await run(store.erasure.find({ session: "eve" })), []))
  const refused: ReadonlyArray<readonly [id: string, revision: number]> = [["eve", 3], ["eve-r2", 1], [
    "eve.0123456789abcd",
    1
  ]]
  for (const [id, revision] of refused) {
    assert.deepInclude(await failure(run(store.sessions.commit(commitOf(id, revision)))), { _tag: "SessionConflict" })
  }
  await run(events("eve"))
  await run(events("eve", 5))
  assert.deepEqual((await run(store.events.read("eve", { limit: 9, after: 0 }))).rows, [])
  const write = store.artifacts.write("eve", "notes", person, { by: "t" })
  assert.deepInclude(await failure(run(write)), { _tag: "StoreError", problem: "missing" })
  // Somebody begins anew.
  await run(store.sessions.commit(commitOf("eve", 1)))
  await run(store.sessions.commit(commitOf("eve-r2", 1)))
  await run(events("eve", 5))
  assert.lengthOf((await run(store.events.read("eve", { limit: 9, after: 0 }))).rows, 1)
  assert.deepInclude(await run(store.artifacts.write("eve", "notes", "new", { by: "t" })), { size: 3 })
  // A session that was removed, and not erased, is stored again by who has it.
  await run(store.sessions.remove("eve-r2"))
  await run(store.sessions.commit(commitOf("eve-r2", 2)))
}

/** Erases a person whose messages were removed before, because they were old or dead. */
export const checkRemoved = async (store: Store): Promise<void> => {
  const run = Effect.runPromise
  const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
  const host = Host.make({ agent, store, pollMs })
  const speak = async (session: string, tenant: string) => {
    await host.send(session, `hello, I am ${tenant}`, { key: "k", tenant })
    await host.advance(session)
  }
  await speak("hers", person)
  await speak("gone", person)
  await speak("his", "bob")
  await run(store.inbox.prune(Number.MAX_SAFE_INTEGER))
  assert.strictEqual(await run(store.inbox.prune(Number.MAX_SAFE_INTEGER)), 0)
  assert.isUndefined(await host.status("hers", "k"))
  // The key can be used again.
  await host.send("hers", "again", { key: "k", tenant: person })
  await run(store.inbox.report("hers", "k", "dead", { status: "dead", attempts: 5, reason: "it ended" }))
  assert.isTrue(await host.drop("hers", "k"))
  await run(store.sessions.remove("gone"))
  assert.deepEqual((await host.erase({ principal: person })).sessions, ["hers"])
  assert.isUndefined(await host.conversation("hers"))
  assert.deepEqual((await host.erase({ principal: "bob" })).sessions, ["his"])
  await agent.close()
}
