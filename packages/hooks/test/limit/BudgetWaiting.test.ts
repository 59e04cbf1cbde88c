/** Calls that wait for the reservations of others, and what a host can read of a budget. */
import { agentTool, createAgent, defineHook, HookAction } from "@belay/core"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as SessionStore from "@belay/core/SessionStore"
import * as Budget from "@belay/hooks/Budget"
import * as Ledger from "@belay/hooks/Ledger"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, look, text } from "../support/budget.ts"

/** 10 tokens in and 10 out cost ten cents; a call reserves a dollar. */
const price = { costPerInputToken: 0, costPerOutputToken: 0.01, assumeOutputTokens: 100 }
const usage = { inputTokens: 10, outputTokens: 10 }

/** A model whose calls end when the test says so. */
const held = () => {
  const open: Array<() => void> = []
  let made = 0
  const provider: LlmProvider = {
    name: "held",
    complete: () =>
      Effect.callback<LlmResponse>((resume) => {
        made++
        open.push(() => resume(Effect.succeed({ ...text("ok"), usage })))
      })
  }
  return { open, provider, made: () => made }
}

const soon = async (happened: () => boolean): Promise<void> => {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve))
}

/** A lead that asks three sub-agents at once. */
const team = (worker: LlmProvider, hooks: Parameters<typeof createAgent>[0]["hooks"] = []) => {
  const names = ["history", "economy", "climate"]
  const lead: LlmProvider = {
    name: "lead",
    complete: ({ messages }) =>
      Effect.succeed(
        messages.length > 1
          ? { ...text("summary"), usage }
          : { ...calls(...names.map((name) => ({ name, args: { message: name } }))), usage }
      )
  }
  return createAgent({
    provider: lead,
    tools: names.map((name) => agentTool({ name, description: name, agent: createAgent({ name, provider: worker }) })),
    hooks
  })
}

describe("a call for which others have reserved the rest of a budget", () => {
  it("waits until they are settled, and is made if there is room then", async () => {
    const { made, open, provider } = held()
    const limits = [{ scope: "run", money: 1.5 }]
    await using lead = team(provider, [Budget.make({ ...price, limits })])
    await using session = await lead.session()
    const run = session.run("go")
    // The lead spent ten cents, two calls have reserved two dollars, and the third waits.
    await soon(() => open.length === 2)
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(made(), 2)
    assert.deepStrictEqual(Budget.remaining(session, limits), [{ scope: "run", money: 0 }])
    open[0]!()
    await soon(() => made() === 3)
    open[1]!()
    open[2]!()
    const result = await run
    assert.strictEqual(result.status, "completed")
    assert.deepStrictEqual(Budget.remaining(session, limits), [{ scope: "run", money: 1 }])
  })

  it("is stopped if what they really cost has used the limit up, with what to change", async () => {
    const { open, provider } = held()
    await using lead = team(provider, [Budget.make({ ...price, limits: [{ scope: "run", money: 0.25 }] })])
    const run = lead.run("go")
    // One call is open, because its reservation leaves no room for others.
    for (let n = 0; n < 2; n++) {
      await soon(() => open.length === n + 1)
      open[n]!()
    }
    const error = await run.then(() => assert.fail("expected a rejection"), (cause: Error) => cause)
    assert.include(
      error.message,
      "the run budget of $0.25 is used up: $0.30 spent, $0.00 reserved by running calls. " +
        "Raise limits[0].money of the budget to allow more"
    )
    assert.lengthOf(open, 2)
  })

  it("can be cancelled, and leaves no reservation", async () => {
    const { open, provider } = held()
    const controller = new AbortController()
    const limits = [{ scope: "session", money: 0.5 }]
    await using lead = team(provider, [Budget.make({ ...price, limits })])
    await using session = await lead.session()
    const run = session.run("go", { signal: controller.signal })
    await soon(() => open.length === 1)
    controller.abort(new Error("enough"))
    assert.match(String(await run.catch((error: unknown) => error)), /enough/)
    const [account] = Object.values(session.state.get(Budget.accounts("budget")))
    assert.deepStrictEqual(account!.account.holds, {})
  })

  const streaming = (name: string): LlmProvider => ({
    name,
    complete: () => Effect.succeed({ ...text("judged"), usage }),
    stream: (_request, sink) =>
      Effect.promise(async () => {
        await sink({ type: "text", text: "o" })
        await sink({ type: "text", text: "k" })
        return { ...text("ok"), usage }
      })
  })

  it.each(["async", "generator"] as const)("never waits for the call that waits for it (%s hook)", async (kind) => {
    const said: Array<string> = []
    const judge = kind === "async"
      ? defineHook({
        name: "judge",
        onLlmDelta: async (_delta, ctx) => void said.push((await ctx.llm({ prompt: "is it good?" })).text)
      })
      : defineHook({
        name: "judge",
        *onLlmDelta(_delta, ctx) {
          said.push((yield* ctx.llm({ prompt: "is it good?" })).text)
        }
      })
    await using agent = createAgent({
      provider: streaming("one"),
      hooks: [Budget.make({ ...price, limits: [{ scope: "run", money: 0.5 }] }), judge]
    })
    const { status } = await agent.run("go")
    assert.deepStrictEqual([status, said.length > 0], ["completed", true])
  })

  it.each([
    ["of a process that has ended", false],
    // Its id may be the id of the next call.
    ["that the same budget made for a call that has ended", true]
  ])("does not wait for reservations %s", async (_whose, isSame) => {
    const store = SessionStore.inMemory()
    const limits = [{ scope: "session", money: 1.5 }]
    const budget = Budget.make({ ...price, limits })
    const hooks = () => [isSame ? budget : Budget.make({ ...price, limits })]
    const first = held()
    const before = createAgent({ provider: first.provider, hooks: hooks(), store })
    const session = await before.session({ id: "s" })
    const lost = session.run("go").catch(() => {})
    await soon(() => first.open.length === 1)
    const accounts = session.state.get(Budget.accounts("budget"))
    assert.lengthOf(Object.keys(accounts["0"]!.account.holds), 1)
    // The state is stored while the call runs, and then the process ends.
    const stored = await Effect.runPromise(store.load("s"))
    const other = SessionStore.inMemory()
    const { messages, ...rest } = { ...stored!, phase: "ended" as const, hookState: session.state.snapshot() }
    await Effect.runPromise(other.commit({
      sessionId: "s",
      revision: rest.revision,
      from: 0,
      messages,
      state: rest,
      records: [],
      snapshot: () => ({ ...rest, messages })
    }))
    if (isSame) {
      first.open[0]!()
      await lost
    }
    const second = held()
    await using after = createAgent({ provider: second.provider, hooks: hooks(), store: other })
    await using again = await after.session({ id: "s" })
    const run = again.run("more")
    await soon(() => second.open.length === 1)
    second.open[0]!()
    assert.strictEqual((await run).status, "completed")
    // The lost call counts with what it reserved.
    assert.closeTo(Budget.remaining(again, limits)[0]!.money!, 0.4, 1e-9)
    const { account } = again.state.get(Budget.accounts("budget"))["0"]!
    assert.deepStrictEqual([account.holds, account.estimated, account.spent.calls], [{}, 1, 2])
    first.open[0]!()
  })

  it("tells the onBudget hooks what is spent, not what is reserved", async () => {
    const levels: Array<number> = []
    const worker: LlmProvider = { name: "w", complete: () => Effect.succeed({ ...text("ok"), usage }) }
    await using lead = team(worker, [
      Budget.make({ ...price, limits: [{ scope: "run", money: 2 }] }),
      defineHook({ name: "watch", onBudget: ({ used }) => void levels.push(used) })
    ])
    assert.strictEqual((await lead.run("go")).status, "completed")
    assert.deepStrictEqual(levels, [])
  })

  it("keeps the reservation of a parallel sub-agent whose own budget has the same name", async () => {
    const { open, provider } = held()
    const worker = (name: string) =>
      createAgent({ name, provider, hooks: [Budget.make({ ...price, limits: [{ scope: "run", money: 5 }] })] })
    const lead = createAgent({
      provider: {
        name: "lead",
        complete: ({ messages }: LlmRequest) =>
          Effect.succeed(
            messages.length > 1
              ? text("done")
              : calls({ name: "a", args: { message: "x" } }, { name: "b", args: { message: "x" } })
          )
      },
      tools: ["a", "b"].map((name) => agentTool({ name, description: name, agent: worker(name) }))
    })
    await using session = await lead.session()
    const run = session.run("go")
    await soon(() => open.length === 2)
    open.forEach((end) => end())
    await run
    const { account } = session.state.get(Budget.accounts("budget"))["0"]!
    assert.deepStrictEqual([account.spent.calls, account.estimated, account.spent.tokens], [2, 0, 40])
  })
})

/** Two processes that share a database: each has its own ledger object on the same accounts. */
const shared = () => {
  const accounts = new Map<string, Ledger.Account>()
  const ledger = (): Ledger.Ledger => ({
    update: (id, change) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          const [result, after] = change(accounts.get(id) ?? Ledger.empty)
          accounts.set(id, after)
          return result
        })
      )
  })
  return { accounts, ledger }
}

const userLimit = { scope: "user", money: 0.5, key: () => "ada" }

describe("a ledger that processes share", () => {
  it("makes a call wait for the reservation of another process", async () => {
    const { accounts, ledger } = shared()
    const { open, provider } = held()
    const make = () =>
      createAgent({ provider, hooks: [Budget.make({ ...price, limits: [userLimit], ledger: ledger() })] })
    await using one = make()
    await using two = make()
    const first = one.run("go")
    await soon(() => open.length === 1)
    const second = two.run("go")
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
    assert.lengthOf(open, 1)
    open[0]!()
    await soon(() => open.length === 2)
    open[1]!()
    assert.deepStrictEqual([(await first).status, (await second).status], ["completed", "completed"])
    assert.deepStrictEqual(accounts.get("user:ada")!.holds, {})
    assert.strictEqual(accounts.get("user:ada")!.spent.money, "200000000000")
  })

  it("lets a call pass when the reservation of a dead process has expired, and counts it as spent", async () => {
    const { accounts, ledger } = shared()
    const dead = {
      amount: { money: "400000000000", tokens: 10, calls: 1 },
      holder: "dead",
      since: Date.now() - 3_600_000
    }
    accounts.set("user:ada", { ...Ledger.empty, holds: { lost: dead } })
    await using agent = createAgent({
      provider: { name: "p", complete: () => Effect.succeed({ ...text("ok"), usage }) },
      hooks: [Budget.make({ ...price, limits: [userLimit], ledger: ledger() })]
    })
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.strictEqual(accounts.get("user:ada")!.spent.money, "500000000000")
  })
})

describe("Budget.remaining", () => {
  const answering: LlmProvider = { name: "p", complete: () => Effect.succeed({ ...text("ok"), usage }) }

  it("reads a promise session, an Effect session and a context, with the same result", async () => {
    const limits: ReadonlyArray<Budget.Limit> = [{ scope: "run", calls: 5 }, { scope: "session", money: 3 }]
    const seen: Array<unknown> = []
    const config = {
      provider: answering,
      tools: [look],
      hooks: [
        Budget.make({ ...price, limits }),
        defineHook({ name: "read", postTurn: (_end, ctx) => void seen.push(Budget.remaining(ctx, limits)) })
      ]
    }
    const left = [{ scope: "run", calls: 4 }, { scope: "session", money: 2.9 }]
    await using agent = createAgent(config)
    await using session = await agent.session()
    await session.run("go")
    assert.deepStrictEqual(Budget.remaining(session, limits), left)
    const plain = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const runtime = yield* AgentRuntime.make(config)
      const opened = yield* runtime.session()
      yield* opened.run("go")
      return Budget.remaining(opened, limits)
    })))
    assert.deepStrictEqual([plain, ...seen], [left, left, left])
  })

  it("reads the accounts of a ledger in another process, and of the session", async () => {
    const { ledger } = shared()
    const store = SessionStore.inMemory()
    const limits = [userLimit, { scope: "session", calls: 5 }, { scope: "tenant", calls: 2, key: () => undefined }]
    const options = { ...price, limits }
    await using agent = createAgent({
      provider: answering,
      store,
      hooks: [Budget.make({ ...options, ledger: ledger() })]
    })
    await (await agent.session({ id: "s" })).run("go")
    await using other = createAgent({
      provider: answering,
      store,
      hooks: [Budget.make({ ...options, ledger: ledger() })]
    })
    const session = await other.session({ id: "s" })
    const ofSession = { scope: "session", calls: 4 }
    const left = [{ scope: "user", money: 0.4 }, ofSession]
    assert.deepStrictEqual(await Budget.remaining(session, { limits, ledger: ledger() }), left)
    assert.deepStrictEqual(await Effect.runPromise(Budget.remaining(session, { limits, ledger: ledger() })), left)
    assert.deepStrictEqual(await Budget.remaining(session, { limits }), [ofSession])
    assert.deepStrictEqual(Budget.remaining(session, limits), [ofSession])
  })

  it("says what it needs if it gets something else", () => {
    for (const wrong of [undefined, null, {}, { state: {} }, "session"]) {
      assert.throws(
        () => Budget.remaining(wrong as never, [{ scope: "run", calls: 1 }]),
        /budget\.remaining\.session: expected a session of an agent, or the context of a hook/
      )
    }
  })
})

describe("a refused call of a hook", () => {
  it("does not stop the turn in which the hook runs", async () => {
    await using agent = createAgent({
      provider: { name: "p", complete: () => Effect.succeed({ ...text("ok"), usage }) },
      hooks: [
        Budget.make({ limits: [{ scope: "run", calls: 1 }] }),
        defineHook({
          name: "judge",
          postLlmCall: async (_end, ctx) => {
            const refused = await ctx.llm({ prompt: "?" }).catch((error) => error)
            return refused instanceof Error ? undefined : HookAction.reject("asked")
          }
        })
      ]
    })
    assert.strictEqual((await agent.run("go")).status, "completed")
  })
})
