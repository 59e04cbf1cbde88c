/** The page "Which limit", row by row. A row that has no assertion here fails. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { type Agent, createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { defaultLimits } from "@belay/core/Limits"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import {
  Budget,
  CostTracker,
  LoopDetector,
  ModelCallLimit,
  ModelRetry,
  PermissionRules,
  ProviderFallback,
  ResultOffloader,
  Timeouts,
  TokenLimit,
  ToolCallLimit
} from "@belay/hooks"
import * as RateLimiter from "@belay/providers/RateLimiter"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const calls = (count: number, name = "look") => Array.from({ length: count }, () => ({ name, args: {} }))
const asks = (count = 1, name = "look") => Scripted.toolCalls(...calls(count, name))
const forever = (count = 60) => Array.from({ length: count }, () => asks())
const prices = { costPerInputToken: 0.01, costPerOutputToken: 0.01 }
const broken: AgentHook = { name: "broken", preToolCall: () => Promise.reject(new Error("no")) }

/** Runs an agent with one tool. `inside` runs the script in a sub-agent, or in a sub-agent of a sub-agent. */
const run = async (
  script: ReadonlyArray<Parameters<typeof Scripted.make>[0][number]>,
  config: Partial<AgentConfig> = {},
  { depth = 0, execute = () => "ok" as unknown } = {}
) => {
  let ran = 0
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    execute: () => (ran++, execute())
  })
  const innermost = Scripted.make(script)
  let provider: LlmProvider = innermost
  let tools: AgentConfig["tools"] = [look]
  for (let level = 0; level < depth; level++) {
    const agent: Agent = createAgent({ name: `level${level}`, provider, tools, log: false })
    tools = [agentTool({ name: "sub", description: "Works", agent })]
    provider = Scripted.make([Scripted.toolCalls({ name: "sub", args: { message: "go" } }), "done"])
  }
  await using agent = createAgent({ provider, tools, log: false, ...config })
  const result = await agent.run("go").catch((error: unknown) => ({
    status: "failed" as const,
    text: String(error),
    messages: [],
    limit: undefined
  }))
  return { result, ran, models: innermost.requests.length, said: JSON.stringify(result.messages) }
}

const limitOf = ({ result }: Awaited<ReturnType<typeof run>>) => "limit" in result ? result.limit : result.status

/** What each row says, by its first cell. */
const rows: { readonly [row: string]: () => Promise<void> } = {
  "a turn that never ends": async () => {
    assert.deepStrictEqual([defaultLimits.steps, defaultLimits.wallClockMs], [50, 30 * 60_000])
    const endless = await run(forever())
    assert.deepStrictEqual([limitOf(endless), endless.models], ["steps", 50])
    const slow = await run([asks()], { limits: { wallClockMs: 20 } }, { execute: () => new Promise(() => {}) })
    assert.strictEqual(limitOf(slow), "wallClockMs")
  },
  "one answer that calls hundreds of tools": async () => {
    assert.strictEqual(defaultLimits.toolCalls, 200)
    const many = await run([asks(300), "done"])
    assert.deepStrictEqual([limitOf(many), many.ran], ["toolCalls", 200])
  },
  "the same call again and again": async () => {
    const looping = await run([...forever(12), "done"], { hooks: [LoopDetector.make()] })
    assert.isBelow(looping.ran, 12)
  },
  "a bill": async () => {
    const tracked = await run(forever(5), { hooks: [CostTracker.make({ ...prices, limit: 1e-9 })] })
    assert.deepStrictEqual([tracked.result.status, tracked.models], ["failed", 1])
    const hooks = [Budget.make({ ...prices, limits: [{ scope: "run", money: 1e-9 }] })]
    assert.deepStrictEqual(await run(forever(5), { hooks }).then(({ models, result }) => [result.status, models]), [
      "failed",
      1
    ])
  },
  "a guard that is broken and lets everything pass": async () => {
    const open = await run([asks(), asks(), "done"], { hooks: [broken], limits: { failOpens: 0 } })
    assert.deepStrictEqual([limitOf(open), open.ran], ["failOpens", 1])
    assert.strictEqual((await run([asks(), "done"], { hooks: [{ ...broken, kind: "policy" }] })).ran, 0)
  },
  "too many mails, refunds, deployments": async () => {
    const limited = await run([asks(3), "done"], { hooks: [ToolCallLimit.make({ tools: "look", perTurn: 1 })] })
    assert.strictEqual(limited.ran, 1)
    assert.include(limited.said, "tool call limit of 1 per turn reached")
  },
  "too many model calls in a conversation": async () => {
    const limited = await run(forever(5), { hooks: [ModelCallLimit.make({ perSession: 2 })] })
    assert.deepStrictEqual([limited.result.status, limited.models], ["failed", 2])
  },
  "a request that is too long": async () => {
    const hooks = [TokenLimit.make({ perRequest: { input: 1 } })]
    assert.deepStrictEqual((await run(["done"], { hooks, instructions: "x".repeat(100) })).models, 0)
  },
  "a model or a tool that hangs": async () => {
    assert.strictEqual(defaultLimits.toolMs, 10 * 60_000)
    const hang = { execute: () => new Promise(() => {}) }
    assert.include((await run([asks(), "done"], { limits: { toolMs: 20 } }, hang)).said, "did not answer within 20 ms")
    assert.include((await run([asks(), "done"], { hooks: [Timeouts.make({ tool: 20 })] }, hang)).said, "20")
  },
  "a vendor that fails": async () => {
    assert.strictEqual(defaultLimits.attempts, 6)
    const down = new ProviderError.Overloaded({ provider: "scripted", message: "busy" })
    const retry = ModelRetry.make({ perError: { Overloaded: { baseMs: 1, maxMs: 1 } } as never })
    assert.strictEqual((await run([down, "done"], { hooks: [retry] })).result.text, "done")
    const backup = [Scripted.make([down]), Scripted.make(["backup"], { name: "two" })] as const
    const other = await run([], { provider: [backup[0], backup[1]], hooks: [ProviderFallback.make()] })
    assert.strictEqual(other.result.text, "backup")
  },
  "too many requests per minute at the vendor": async () => {
    const wait = new ProviderError.RateLimited({ provider: "scripted", message: "slow down", retryAfterMs: 30 })
    const model = Scripted.make([wait, "done"])
    const provider = RateLimiter.make(model)
    const began = performance.now()
    assert.strictEqual((await run([], { provider })).result.text, "done")
    assert.isAtLeast(performance.now() - began, 25)
  },
  "a result of a tool that fills the window": async () => {
    const offloader = ResultOffloader.make({ maxResultTokens: 100 })
    const long = await run([asks(), "done"], { hooks: [offloader] }, { execute: () => "long ".repeat(10_000) })
    assert.isBelow(long.said.length, 20_000)
  },
  "an agent that asks people all the time": async () => {
    const allowed = await run([asks(), "done"], { hooks: [PermissionRules.make({ allow: ["look"] })] })
    assert.deepStrictEqual([allowed.result.status, allowed.ran], ["completed", 1])
  },

  counts: async () => {
    const tokens = Budget.make({ limits: [{ scope: "run", tokens: 1 }] })
    assert.strictEqual((await run(forever(3), { hooks: [tokens] })).result.status, "failed")
    await rows["a bill"]!()
  },
  "for whom": async () => {
    const hooks = [
      Budget.make({ ...prices, limits: [{ scope: "user", key: () => "ada", window: "1 day", money: 1e-9 }] })
    ]
    assert.strictEqual((await run(forever(3), { hooks })).result.status, "failed")
  },
  "over several processes": async () => {
    assert.throws(() => CostTracker.make({ ...prices, ledger: {} } as never), /ledger/)
  },
  "time window": async () => {
    assert.throws(() => CostTracker.make({ ...prices, window: "1 day" } as never), /window/)
    await rows["for whom"]!()
  },
  "before a call": reserves,

  "limits.steps, limits.toolCalls": async () => {
    for (const depth of [1, 2]) {
      const steps = await run(forever(20), { limits: { steps: 7 } }, { depth })
      assert.deepStrictEqual([limitOf(steps), steps.models], ["steps", 7 - depth])
      const tools = await run(forever(20), { limits: { toolCalls: 7 } }, { depth })
      assert.deepStrictEqual([limitOf(tools), tools.ran], ["toolCalls", 7 - depth])
    }
  },
  "limits.wallClockMs": async () => {
    const slow = { depth: 2, execute: () => new Promise(() => {}) }
    assert.strictEqual(limitOf(await run([asks()], { limits: { wallClockMs: 50 } }, slow)), "wallClockMs")
  },
  "limits.failOpens": async () => {
    const open = await run(forever(5), { hooks: [{ ...broken, tools: "look" }], limits: { failOpens: 2 } }, {
      depth: 2
    })
    assert.deepStrictEqual([limitOf(open), open.ran], ["failOpens", 3])
  },
  "CostTracker, Budget": async () => {
    const asking: AgentHook = { name: "asking", preToolCall: async (_, ctx) => void await ctx.llm({ prompt: "?" }) }
    const tracker = CostTracker.make({ ...prices, limit: 1e-9 })
    const budget = (count: number) => Budget.make({ ...prices, limits: [{ scope: "run", calls: count }] })
    for (const limit of [tracker, budget(2)]) {
      assert.isAtMost((await run(forever(5), { hooks: [limit] }, { depth: 1 })).models, 1)
    }
    // The model, then the hook, then the model again.
    assert.strictEqual((await run([asks(), "hook", asks()], { hooks: [tracker, asking] })).models, 1)
    assert.strictEqual((await run([asks(), "hook", asks()], { hooks: [budget(2), asking] })).models, 2)
  },
  "ModelCallLimit, ToolCallLimit, TokenLimit": async () => {
    const models = await run(forever(9), { hooks: [ModelCallLimit.make({ perTurn: 4 })] }, { depth: 1 })
    assert.isAtMost(models.models, 3)
    const limit = ToolCallLimit.make({ tools: "look", perTurn: 3 })
    assert.strictEqual((await run([...forever(9), "done"], { hooks: [limit] }, { depth: 2 })).ran, 3)
    const tokens = await run(forever(9), { hooks: [TokenLimit.make({ perTurn: { total: 60 } })] }, { depth: 1 })
    assert.isBelow(tokens.models, 9)
  },
  "LoopDetector, Timeouts": async () => {
    // Two agents make the same call twice: together that would be a loop.
    const detector = LoopDetector.make({
      ladder: { observe: false, steer: false, escalate: false, block: 3, stop: false }
    })
    const both = await run([asks(), asks(), "done"], { hooks: [detector] }, { depth: 1 })
    assert.strictEqual(both.ran, 2)
  }
}

/** Two calls at the same time: a reservation leaves no room for the second one. */
async function reserves(): Promise<void> {
  const atOnce = async (limit: AgentHook) => {
    const model = Scripted.make(["one", "two"])
    const slow: LlmProvider = {
      ...model,
      complete: (request) => Effect.andThen(Effect.yieldNow, model.complete(request))
    }
    await using agent = createAgent({ provider: slow, hooks: [limit], log: false })
    await Promise.allSettled([agent.run("go"), agent.run("go")])
    return model.requests.length
  }
  assert.strictEqual(await atOnce(Budget.make({ limits: [{ scope: "user", key: () => "ada", calls: 1 }] })), 1)
  assert.strictEqual(await atOnce(CostTracker.make({ ...prices, limit: 1e-9 })), 2)
}

describe("the page about limits", () => {
  const lines = readFileSync("docs/which-limit.md", "utf8").split("\n")
  const bodies = lines.filter((line, index) =>
    line.startsWith("|") && !line.startsWith("| ---") && lines[index + 1]?.startsWith("| ---") !== true
  )
  const firsts = bodies.map((line) => line.split("|")[1]!.trim().replaceAll("`", ""))

  it("has rows, and no assertion is left over", () => {
    assert.deepStrictEqual(Object.keys(rows).filter((row) => !firsts.includes(row)), [])
    assert.isAbove(firsts.length, 20)
  })

  for (const row of firsts) {
    it(`is right: ${row}`, async () => {
      const check = rows[row]
      if (check === undefined) return assert.fail(`no assertion for the row "${row}"`)
      await check()
    })
  }

  it("says that a suspended run continues to count, and a limited one starts again", async () => {
    let asked = 0
    const gate: AgentHook = { name: "gate", preToolCall: () => ++asked === 2 ? HookAction.ask("sure?") : undefined }
    const look = defineTool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "ok" })
    const provider = Scripted.make(forever(20))
    const make = () => createAgent({ provider, tools: [look], hooks: [gate], limits: { steps: 5 }, log: false })
    await using first = make()
    const suspended = await first.run("go")
    if (suspended.status !== "suspended") return assert.fail(suspended.status)
    await using second = make()
    const [ask] = suspended.pending
    const limited = await second.resume(JSON.stringify(suspended.snapshot), { [ask!.callId]: { type: "approve" } })
    if (limited.status !== "limited") return assert.fail(limited.status)
    assert.strictEqual(provider.requests.length, 5)
    await second.resume(limited.snapshot)
    assert.strictEqual(provider.requests.length, 10)
  })
})
