/** What a call leaves in the accounts of a budget, and where exactly a limit is. */
import { agentTool, createAgent, defineHook, HookAction } from "@belay/core"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import type { Usage } from "@belay/core/Usage"
import * as Budget from "@belay/hooks/Budget"
import * as Ledger from "@belay/hooks/Ledger"
import { Scripted, VirtualClock } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { endless, price, run, text, usage } from "../support/budget.ts"

const provider: LlmProvider = { name: "p", complete: () => Effect.succeed(text("ok")) }

/** Accounts in a ledger, which the test can read. */
const ledgerWith = (known: { readonly [account: string]: Ledger.Account } = {}) => {
  const accounts = new Map(Object.entries(known))
  const ledger: Ledger.Ledger = {
    update: (id, change) =>
      Effect.sync(() => {
        const [result, after] = change(accounts.get(id) ?? Ledger.empty)
        accounts.set(id, after)
        return result
      })
  }
  return { accounts, ledger }
}

const limits: ReadonlyArray<Budget.Limit> = [
  { scope: "session", money: 100 },
  { scope: "user", money: 100, key: () => "ada" },
  { scope: "tenant", money: 100, key: () => "acme" }
]

describe("a call that the vendor cut off for its rate limit", () => {
  const cases = [["after a part of the answer", { text: "half" }, 1], ["at once", undefined, 0]] as const
  it.each(cases)("%s costs its reservation only if something had arrived", async (_when, partial, estimated) => {
    const error = new ProviderError.RateLimited({
      provider: "p",
      message: "later",
      ...(partial === undefined ? {} : { partial })
    })
    const stop = defineHook({ name: "stop", onLlmError: () => HookAction.replace({ type: "fail" }) })
    const budget = Budget.make({ ...price, limits: [{ scope: "session", money: 100_000 }] })
    const cutOff: LlmProvider = { name: "p", complete: () => Effect.fail(error) }
    await using agent = createAgent({ provider: cutOff, hooks: [budget, stop] })
    await using session = await agent.session()
    await session.run("go").catch(() => {})
    const [stored] = Object.values(session.state.get(Budget.accounts("budget")))
    assert.strictEqual(stored?.account.estimated, estimated)
    assert.strictEqual(stored?.account.spent.money !== "0", estimated === 1)
  })
})

describe("a call that the vendor refused before a model ran", () => {
  const about = { provider: "p", message: "no" }
  it.each<ProviderError.ProviderError>([
    new ProviderError.RateLimited(about),
    new ProviderError.Overloaded(about),
    new ProviderError.ContextOverflow(about),
    new ProviderError.Auth(about),
    new ProviderError.NotFound(about),
    new ProviderError.InvalidRequest(about)
  ])("costs nothing: $_tag", async (error) => {
    const stop = defineHook({ name: "stop", onLlmError: () => HookAction.replace({ type: "fail" }) })
    const budget = Budget.make({ ...price, limits: [{ scope: "session", money: 100_000 }] })
    const refusing: LlmProvider = { name: "p", complete: () => Effect.fail(error) }
    await using agent = createAgent({ provider: refusing, hooks: [budget, stop] })
    await using session = await agent.session()
    await session.run("go").catch(() => {})
    const [stored] = Object.values(session.state.get(Budget.accounts("budget")))
    assert.deepStrictEqual([stored?.account.spent.money, stored?.account.estimated], ["0", 0])
  })
})

describe("the key of an account", () => {
  it("is that of the message of the user, also for the calls of a sub-agent and after a message to the running turn", async () => {
    const { accounts, ledger } = ledgerWith()
    const keys: Array<unknown> = []
    const key: NonNullable<Budget.Limit["key"]> = ({ metadata }) => {
      keys.push(metadata)
      return JSON.stringify(metadata?.["user"] ?? "nobody")
    }
    const budget = Budget.make({ ...price, limits: [{ scope: "user", money: 100, key }], ledger })
    const worker = createAgent({ name: "worker", provider })
    const steered: Array<Promise<unknown>> = []
    const steer = defineHook({
      name: "steer",
      preDelegation: () => void steered.push(session.steer({ message: "quick", metadata: { user: "bob" } }))
    })
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls({ name: "work", args: { message: "go" } }), "done"]),
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [budget, steer]
    })
    const session = await agent.session()
    await session.run({ message: "go", metadata: { user: "ada" } })
    assert.deepInclude(await steered[0], { type: "delivered" })
    assert.deepStrictEqual(keys, [{ user: "ada" }])
    assert.deepStrictEqual([...accounts].map(([id, { spent }]) => [id, spent.calls]), [["user:\"ada\"", 3]])
  })
})

describe("a call that one of several limits refuses", () => {
  it("leaves no reservation in the accounts of the others", async () => {
    const spent = { money: "100000000000000", tokens: 0, calls: 0 }
    const { accounts, ledger } = ledgerWith({ "tenant:acme": { ...Ledger.empty, spent } })
    await using agent = createAgent({ provider, hooks: [Budget.make({ ...price, limits, ledger })] })
    await using session = await agent.session()
    const error = await session.run("go").then(() => assert.fail("expected a rejection"), (cause: Error) => cause)
    assert.match(error.message, /the tenant budget of \$100\.00 is used up/)
    assert.deepStrictEqual([accounts.get("user:ada")!.holds, accounts.get("user:ada")!.spent], [{}, Ledger.nothing])
    assert.deepStrictEqual(accounts.get("tenant:acme")!.holds, {})
    for (const { account } of Object.values(session.state.get(Budget.accounts("budget")))) {
      assert.deepStrictEqual([account.holds, account.spent], [{}, Ledger.nothing])
    }
  })

  it("leaves no reservation in the others while it waits for the reservation of another process", async () => {
    const amount = { money: "100000000000000", tokens: 0, calls: 1 }
    const other = { amount, holder: "another process", since: Date.now() }
    const { accounts, ledger } = ledgerWith({ "tenant:acme": { ...Ledger.empty, holds: { other } } })
    let attempts = 0
    const seen: Array<ReadonlyArray<string>> = []
    const watching: Ledger.Ledger = {
      update: (id, change) => {
        if (id === "user:ada") seen.push(Object.keys(accounts.get(id)?.holds ?? {}))
        // The other process settles its call when this one has tried twice.
        if (id === "tenant:acme" && ++attempts === 3) accounts.set(id, Ledger.empty)
        return ledger.update(id, change)
      }
    }
    await using agent = createAgent({ provider, hooks: [Budget.make({ ...price, limits, ledger: watching })] })
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.isAtLeast(attempts, 3)
    // Each attempt finds none, and the last access settles the only one.
    assert.deepStrictEqual(seen.slice(0, -1).filter((holds) => holds.length > 1), [])
    assert.deepStrictEqual(accounts.get("user:ada")!.holds, {})
    assert.strictEqual(accounts.get("user:ada")!.spent.calls, 1)
  })
})

describe("usage that cannot be", () => {
  const impossible: ReadonlyArray<Usage> = [
    { inputTokens: -1_000, outputTokens: 10 },
    { inputTokens: 10, outputTokens: -1_000 },
    { inputTokens: 1_000, outputTokens: -999 },
    { inputTokens: 0, outputTokens: 0, billableOutputTokens: -1_000 },
    { inputTokens: Number.NaN, outputTokens: 10 },
    { inputTokens: 0.5, outputTokens: 10 }
  ]
  it.each(impossible)("gives a budget nothing back, and counts as what was reserved: %o", async (reported) => {
    const answers = defineHook({
      name: "answers",
      priority: 5_000,
      wrapLlmCall: () => Effect.succeed({ ...text("ok"), usage: reported })
    })
    const { accounts, ledger } = ledgerWith()
    const tokens = { scope: "user", tokens: 1_000, key: () => "ada" }
    const options = { limits: [tokens], ledger, assumeOutputTokens: 50 }
    await using agent = createAgent({ provider, hooks: [Budget.make(options), answers] })
    await agent.run("go").catch(() => {})
    const { estimated, spent } = accounts.get("user:ada")!
    assert.strictEqual(estimated, 1)
    assert.isAtLeast(spent.tokens, 50)
  })
})

describe("a budget that is used up exactly", () => {
  it("allows no further call, of money, tokens, calls or time", async () => {
    // A call is 150 tokens and costs ten dollars.
    const exact: ReadonlyArray<Omit<Budget.Limit, "scope">> = [{ money: 20 }, { tokens: 300 }, { calls: 2 }]
    for (const limit of exact) {
      const { asked } = await run({ ...price, assumeOutputTokens: 50, limits: [{ scope: "run", ...limit }] })
      assert.strictEqual(asked, 2, JSON.stringify(limit))
    }
    await using clock = VirtualClock.make()
    const slow = endless()
    let asked = 0
    const complete: LlmProvider["complete"] = (request) =>
      Effect.gen(function*() {
        asked++
        yield* Effect.promise(() => clock.advance(50))
        return yield* slow.complete(request)
      })
    const { error } = await run({ limits: [{ scope: "run", time: 100 }] }, {
      provider: { ...slow, complete },
      layer: clock.layer
    })
    assert.match(error.message, /the run budget of 100 ms is used up: 100 ms/)
    assert.strictEqual(asked, 2)
  })

  it("allows a further call if one unit is left", async () => {
    const left: ReadonlyArray<Omit<Budget.Limit, "scope">> = [{ money: 20.01 }, { tokens: 301 }, { calls: 3 }]
    for (const limit of left) {
      const { asked } = await run({ ...price, assumeOutputTokens: 50, limits: [{ scope: "run", ...limit }] })
      assert.strictEqual(asked, 3, JSON.stringify(limit))
    }
    assert.deepStrictEqual(usage, { inputTokens: 100, outputTokens: 50 })
  })
})
