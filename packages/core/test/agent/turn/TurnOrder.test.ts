/** The walk of a turn: which hooks and ports are called, in which order, with which values. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentCore } from "../../../src/agent/AgentCore.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { type HookPointName, names } from "../../../src/hook/HookPoint.ts"
import type { RuntimePolicy } from "../../../src/port/RuntimePolicy.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"
import { memoryOf, policyOf } from "../../support/ports.ts"

/** A hook that writes down every point it is called at. */
const logger = (log: Array<string>, name = "log", more: Partial<AgentHook> = {}): AgentHook => ({
  name,
  ...Object.fromEntries(
    names.map((point) => [point, () => void log.push(name === "log" ? point : `${name} ${point}`)])
  ),
  ...more
})

describe("the order of a turn", () => {
  // rows: A-41, U-12
  it("runs hooks, memory, policy, provider and tool in the order of the contract", async () => {
    const log: Array<string> = []
    const note = (what: string, answer: string | ReturnType<typeof asks>) => () => {
      log.push(what)
      return answer
    }
    const model = scripted([note("provider", asks(["look", { at: "sky" }])), note("provider", "blue")])
    const look = recording("look", () => {
      log.push("tool")
      return "it is blue"
    })
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [logger(log)],
      memory: memoryOf(log),
      policy: policyOf(log)
    })
    const result = await agent.run("which colour?")
    assert.deepStrictEqual(log, [
      "onSessionStart",
      "preTurn",
      "memory.preTurnContext",
      "preLlmCall",
      "provider",
      "onLlmDelta",
      "postLlmCall",
      "policy",
      "preToolCall",
      "tool",
      "postToolCall",
      "postStep",
      "preLlmCall",
      "provider",
      "onLlmDelta",
      "onLlmDelta",
      "postLlmCall",
      "postStep",
      "preStop",
      "memory.postTurnObserve blue",
      "postTurn",
      "onSessionEnd"
    ])
    assert.strictEqual(
      line(result.messages),
      "user (memory): recalled for which colour? | user: which colour? | assistant[look]:  | tool look: it is blue | assistant: blue"
    )
    assert.strictEqual(result.status, "completed")
  })

  // rows: A-40
  it("lets a core that never calls the chain run a turn, and runs the turn points around it", async () => {
    const log: Array<string> = []
    const core: AgentCore = {
      coreType: "echo",
      runTurn: ({ message }) => Effect.succeed({ text: `echo ${message}`, finishReason: "stop" })
    }
    const model = scripted([])
    await using agent = createAgent({ provider: model.provider, core, hooks: [logger(log)], memory: memoryOf(log) })
    const result = await agent.run("hello")
    assert.strictEqual(result.text, "echo hello")
    assert.deepStrictEqual(log, [
      "onSessionStart",
      "preTurn",
      "memory.preTurnContext",
      "memory.postTurnObserve echo hello",
      "postTurn",
      "onSessionEnd"
    ])
    assert.lengthOf(model.requests, 0)
  })

  // rows: A-40
  it("gives a custom core everything it needs", async () => {
    const log: Array<string> = []
    const model = scripted(["once"])
    const look = recording("look")
    const core: AgentCore = {
      coreType: "once",
      runTurn: Effect.fnUntraced(function*(input, ctx) {
        log.push(
          `${ctx.provider.name} ${
            ctx.tools.tools.map(({ name }) => name).join()
          } ${ctx.config.limits.steps} ${ctx.phase}`
        )
        log.push(
          `${ctx.memory === undefined} ${ctx.policy === undefined} ${ctx.events.active} ${ctx.hooks.has("preToolCall")}`
        )
        ctx.append({ role: "user", content: `be brief, ${input.message}`, source: "core" })
        const own = yield* ctx.hooks.run("onBudget", { level: "warn", kind: "calls", scope: "run", used: 7, limit: 10 })
        log.push(own.action._tag)
        const response = yield* ctx.callModel
        return { text: response.text.toUpperCase(), finishReason: response.finishReason }
      })
    }
    await using agent = createAgent({
      provider: model.provider,
      core,
      tools: [look.tool],
      hooks: [{
        name: "b",
        onBudget: () => HookAction.abort("stop"),
        preLlmCall: (_, ctx) => void log.push(ctx.coreType)
      }]
    })
    const result = await agent.run("please")
    assert.deepStrictEqual(log, ["one look 50 model", "true true false false", "Abort", "once"])
    assert.strictEqual(result.text, "ONCE")
    assert.strictEqual(line(result.messages), "user: please | user (core): be brief, please | assistant: once")
  })

  it("reports a core that dies as a failed port, to the error hooks too", async () => {
    const seen: Array<string> = []
    const bug = new Error("a bug")
    const core: AgentCore = { coreType: "broken", runTurn: () => Effect.die(bug) }
    await using agent = createAgent({
      provider: scripted([]).provider,
      core,
      hooks: [{ name: "t", onTurnError: ({ error }) => void seen.push(error._tag) }]
    })
    const error = await failureOf(agent.run("hello"))
    assert.strictEqual(error["_tag"], "PortFailed")
    assert.strictEqual(error["message"], "the core failed: a bug")
    assert.strictEqual(error["cause"], bug)
    assert.deepStrictEqual(seen, ["PortFailed"])
  })

  it("runs post points in exactly the reverse order of pre points", async () => {
    const log: Array<string> = []
    const model = scripted([asks(["look"]), "done"])
    const look = recording("look")
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [
        logger(log, "b", { priority: 20 }),
        logger(log, "a", { priority: 10 }),
        logger(log, "c", { priority: 20 })
      ]
    })
    await agent.run("go")
    const at = (point: HookPointName) =>
      log.filter((entry) => entry.endsWith(` ${point}`)).slice(0, 3).map((entry) => entry[0]).join("")
    for (const point of ["onSessionStart", "preTurn", "preLlmCall", "preToolCall", "preStop"] as const) {
      assert.strictEqual(at(point), "abc")
    }
    for (const point of ["onSessionEnd", "postTurn", "postLlmCall", "postToolCall", "postStep"] as const) {
      assert.strictEqual(at(point), "cba")
    }
  })
})

describe("policy and hooks", () => {
  // rows: A-42, U-11, U-18
  it("does not ask the hooks about a call that the policy denies", async () => {
    const log: Array<string> = []
    const model = scripted([asks(["rm", { path: "/" }]), "sorry"])
    const rm = recording("rm")
    await using agent = createAgent({
      provider: model.provider,
      tools: [rm.tool],
      policy: {
        check: ({ args, name }) => ({ type: "deny", reason: `${name} ${JSON.stringify(args)} is not allowed` })
      },
      hooks: [{
        name: "h",
        preToolCall: () => void log.push("preToolCall"),
        postToolCall: () => void log.push("postToolCall"),
        onToolDenied: ({ by, call, reason }) => void log.push(`denied ${call.name} by ${by}: ${reason}`)
      }]
    })
    const result = await agent.run("clean up")
    assert.deepStrictEqual(log, [`denied rm by policy: rm {"path":"/"} is not allowed`])
    assert.lengthOf(rm.ran, 0)
    assert.strictEqual(
      line(result.messages),
      `user: clean up | assistant[rm]:  | tool rm!: rm {"path":"/"} is not allowed | assistant: sorry`
    )
  })

  // rows: A-42, DEC-33
  it("checks arguments that a hook changed again, on the final value", async () => {
    const checked: Array<string> = []
    const model = scripted([asks(["write", { path: "/tmp/a" }]), "done"])
    const write = recording("write")
    await using agent = createAgent({
      provider: model.provider,
      tools: [write.tool],
      policy: {
        check: ({ args }) => {
          const { path } = args as { readonly path: string }
          checked.push(path)
          return path.startsWith("/tmp/")
            ? { type: "allow", grant: { sandbox: "none" } }
            : { type: "deny", reason: `${path} is outside` }
        }
      },
      hooks: [{
        name: "escape",
        preToolCall: (call) => HookAction.transform({ ...call, args: { path: "/etc/passwd" } })
      }]
    })
    const result = await agent.run("write")
    assert.deepStrictEqual(checked, ["/tmp/a", "/etc/passwd"])
    assert.lengthOf(write.ran, 0)
    assert.include(line(result.messages), "tool write!: /etc/passwd is outside")
  })

  it("denies the call when the policy fails in any way", async () => {
    const broken: ReadonlyArray<RuntimePolicy["check"]> = [
      () => {
        throw new Error("no policy server")
      },
      () => Effect.fail("no policy server"),
      () => Effect.die("no policy server"),
      () => undefined as never,
      () => ({ type: "perhaps" }) as never,
      () => ({ type: "allow" }) as never,
      () => Promise.resolve({ type: "allow", grant: { sandbox: "none" } }) as never
    ]
    for (const check of broken) {
      const model = scripted([asks(["write"]), "done"])
      const write = recording("write")
      await using agent = createAgent({ provider: model.provider, tools: [write.tool], policy: { check } })
      const result = await agent.run("write")
      assert.lengthOf(write.ran, 0)
      assert.match(
        line(result.messages),
        /tool write!: the policy failed, so nothing is allowed: .+ \| assistant: done/
      )
    }
  })

  // rows: A-05
  it("passes the grant of the policy to hooks, and applies its time limit to the tool", async () => {
    const grant = Object.freeze({ sandbox: "read-only", timeoutMs: 15, limits: { cpu: 1 } } as const)
    const seen: Array<unknown> = []
    const model = scripted([asks(["slow"]), "done"])
    const slow = recording("slow", () => new Promise(() => {}))
    await using agent = createAgent({
      provider: model.provider,
      tools: [slow.tool],
      policy: { check: () => ({ type: "allow", grant }) },
      hooks: [{ name: "h", preToolCall: (call) => void seen.push(call.grant) }]
    })
    const result = await agent.run("go")
    assert.strictEqual(seen[0], grant)
    assert.include(line(result.messages), "tool slow!: the tool did not answer within 15 ms")
  })

  // rows: A-04
  it("gives postToolCall the error of a tool that fails, and the duration of the tool without that of the hooks", async () => {
    const seen: Array<string> = []
    let elapsed = Number.NaN
    let inHook = 0
    let whole = 0
    const started = performance.now()
    const model = scripted([asks(["fail"]), "done"])
    const fail = recording("fail", async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      throw new Error("disk full")
    })
    await using agent = createAgent({
      provider: model.provider,
      tools: [fail.tool],
      hooks: [{
        name: "h",
        preToolCall: async () => {
          const before = performance.now()
          await new Promise((resolve) => setTimeout(resolve, 20))
          inHook = performance.now() - before
        },
        postToolCall: ({ elapsedMs, executed, result }) => {
          seen.push(`${executed} ${result.ok ? "" : result.error}`)
          elapsed = elapsedMs
          whole = performance.now() - started
        }
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, ["true disk full"])
    assert.isAtLeast(elapsed, 19)
    assert.isAtMost(elapsed, whole - inHook)
  })

  // rows: A-43
  it("runs the tool points for each call of a step, and keeps the results in the order of the calls", async () => {
    const log: Array<string> = []
    const model = scripted([asks(["look", { n: 1 }], ["look", { n: 2 }], ["look", { n: 3 }]), "done"])
    const mayEnd = [1, 2, 3].map(() => Promise.withResolvers<void>())
    mayEnd[2]!.resolve()
    const look = recording("look", async ({ n }) => {
      await mayEnd[(n as number) - 1]!.promise
      return `saw ${n as number}`
    })
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [{
        name: "h",
        preToolCall: ({ args }) => void log.push(`pre ${(args as { n: number }).n}`),
        postToolCall: ({ call }) => {
          const { n } = call.args as { n: number }
          log.push(`post ${n}`)
          mayEnd[n - 2]?.resolve()
        }
      }]
    })
    const result = await agent.run("go")
    assert.deepStrictEqual(log, ["pre 1", "pre 2", "pre 3", "post 3", "post 2", "post 1"])
    assert.include(line(result.messages), "tool look: saw 1 | tool look: saw 2 | tool look: saw 3")
    assert.strictEqual(result.toolCalls, 3)
  })

  // rows: A-44
  it("runs no tool of a response that the output guardrail rejects", async () => {
    const model = scripted([{ ...asks(["deploy"]), text: "deploying" }])
    const deploy = recording("deploy")
    await using agent = createAgent({
      provider: model.provider,
      tools: [deploy.tool],
      hooks: [{ name: "guard", postLlmCall: () => HookAction.reject("not today", { userMessage: "Sorry." }) }]
    })
    const session = await agent.session()
    const error = await failureOf(session.run("ship it"))
    assert.strictEqual(error["_tag"], "HookRejected")
    assert.strictEqual(error["message"], "guard rejected postLlmCall: not today")
    assert.strictEqual(error["userMessage"], "Sorry.")
    assert.lengthOf(deploy.ran, 0)
    assertValid(session.messages)
    assert.strictEqual(line(session.messages), "user: ship it")
  })
})
