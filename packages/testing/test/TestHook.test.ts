/** `testHook`: every point, what hooks do in addition to their answers, and failures that say what happened. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { type HookPointName, names } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import * as ProviderError from "@belay/core/ProviderError"
import { dryRun, testHook } from "@belay/testing/TestHook"
import * as VirtualClock from "@belay/testing/VirtualClock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"

const guard = defineHook({
  name: "guard",
  kind: "policy",
  tools: ["deploy", "rm"],
  preToolCall: ({ args }) =>
    JSON.stringify(args).includes("production") ? HookAction.reject("not to production") : undefined
})

/** What a promise is rejected with, as text. */
const failure = async (promise: PromiseLike<unknown>): Promise<string> =>
  promise.then(
    () => assert.fail("expected it to fail"),
    (error: unknown) => error instanceof Error ? error.message : String(error)
  )

describe("testHook", () => {
  it("checks answers by reason and by pattern, event by event", async () => {
    const { verdicts } = await testHook(guard)
      .given("preToolCall", { name: "deploy", args: { to: "production" } })
      .expect("Reject")
      .expect("Reject", "not to production")
      .expect("Reject", /production/)
      .given("preToolCall", { name: "deploy", args: { to: "staging" } })
      .expectContinue()
      .given("preToolCall", { name: "look", args: { to: "production" } })
      .expectContinue()
    assert.deepStrictEqual(verdicts.map(({ answer }) => answer), ["Reject", "Continue", "Continue"])
  })

  it.each<readonly [what: string, trial: () => PromiseLike<unknown>, message: RegExp]>([
    [
      "another answer",
      () => testHook(guard).given("preToolCall", { name: "rm" }).expect("Reject", /production/),
      /^expected guard to answer Reject \/production\/ at preToolCall, found Continue\npreToolCall rm: Continue\n {2}guard: Continue \d/
    ],
    [
      "another reason",
      () => testHook(guard).given("preToolCall", { name: "rm", args: "production" }).expect("Reject", "no"),
      /^expected guard to answer Reject "no" at preToolCall, found Reject "not to production"\npreToolCall rm: Reject by guard\n {2}guard: Reject \(not to production\)/
    ],
    [
      "another value",
      () =>
        testHook({ name: "t", preTurn: () => HookAction.transform({ message: "a" }) }).given("preTurn").expectTransform(
          { message: "b" }
        ),
      /^expected t to answer Transform \{"message":"b"\} at preTurn, found Transform .+expected \{"message":"b"\}, found \{"message":"a"\}$/s
    ],
    [
      "a hook that broke where something else is expected",
      () => testHook({ name: "t", preTurn: () => JSON.parse("{") as undefined }).given("preTurn").expectContinue(),
      /^expected t to answer Continue at preTurn, found Fail "t threw: .*JSON.*" \(open\)\npreTurn: Continue\n {2}t: failed-open \(threw: /
    ],
    [
      "another failure policy",
      () =>
        testHook({ name: "t", kind: "policy", preTurn: () => Promise.reject(new Error("oops")) }).given("preTurn")
          .expectFailure("open"),
      /^expected t to answer a failure \(open\) at preTurn, found Fail "t rejected: oops" \(reject\)/
    ],
    ["nothing given", () => testHook(guard).expectContinue(), /^nothing was given to the hook yet/]
  ])(
    "fails for %s, and says what was answered",
    async (_what, trial, message) => assert.match(await failure(trial()), message)
  )

  it("stops after a failed expectation", async () => {
    let calls = 0
    const hook: AgentHook = { name: "counts", preTurn: () => void calls++ }
    await failure(testHook(hook).given("preTurn").expect("Reject").given("preTurn").given("preTurn"))
    assert.strictEqual(calls, 1)
  })

  it("reports the failure of a hook with its policy", async () => {
    const broken = () => Effect.fail("no luck")
    await testHook({ name: "t", preTurn: broken }).given("preTurn").expectFailure("open", /no luck/)
    await testHook({ name: "t", kind: "policy", preTurn: broken }).given("preTurn").expectFailure("reject")
    await testHook({ name: "t", onFailure: "abort", preTurn: broken }).given("preTurn").expectFailure("abort")
    await testHook({ name: "t", onSessionEnd: () => HookAction.reject("?") as never }).given("onSessionEnd")
      .expectFailure(
        "open",
        /illegal/
      )
  })

  it("creates events for every point that a runtime could send", async () => {
    for (const point of names) {
      const seen: Array<unknown> = []
      const hook = { name: "look", [point]: (event: unknown) => void seen.push(event) } as AgentHook
      await testHook(hook).given(point).expectContinue()
      assert.lengthOf(seen, 1)
      assert.isTrue(Object.isFrozen(seen[0]), point)
    }
  })

  it("fills in missing fields, also inside an event", async () => {
    const seen: Array<{ readonly [key: string]: unknown }> = []
    const look = (point: HookPointName): AgentHook => ({
      name: "look",
      [point]: (event: never) => void seen.push(event)
    })
    await testHook(look("postLlmCall")).given("postLlmCall", { response: { text: "so" } })
    await testHook(look("preToolCall")).given("preToolCall", { name: "deploy", tool: { destructive: true } })
    await testHook(look("postToolCall")).given("postToolCall", {
      call: { name: "deploy", args: { a: 1 } },
      result: { ok: false, error: "no" }
    })
    await testHook(look("onLlmDelta")).given("onLlmDelta", { type: "tool-call", argsText: "{" })
    await testHook(look("preTurn")).given("preTurn", { metadata: { tenant: "acme" } })
    assert.deepInclude(seen[0]?.["response"], { text: "so", model: "model-1", finishReason: "stop" })
    assert.deepInclude(seen[1]?.["tool"], { name: "deploy", destructive: true, inputSchema: { type: "object" } })
    assert.deepInclude(seen[2], {
      call: { id: "call-1", name: "deploy", args: { a: 1 } },
      result: { ok: false, error: "no" },
      executed: true
    })
    assert.strictEqual((seen[2]!["tool"] as { readonly name: string }).name, "deploy")
    assert.deepStrictEqual(seen[3], { type: "tool-call", id: "call-1", name: "tool-1", argsText: "{" })
    assert.deepStrictEqual(seen[4], { message: "hello", metadata: { tenant: "acme" } })
  })

  it("compares the part that hooks can change", async () => {
    await testHook({ name: "t", preToolCall: (call) => HookAction.transform({ ...call, args: { dryRun: true } }) })
      .given("preToolCall", { name: "rm", args: {} })
      .expectTransform({ dryRun: true })
    await testHook({ name: "t", postTurn: ({ output }) => HookAction.replace({ ...output, text: "bye" }) })
      .given("postTurn", { output: { steps: 3 } })
      .expect("Replace", {
        text: "bye",
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 5 },
        steps: 3,
        toolCalls: 0
      })
    await testHook({ name: "t", preToolCall: () => HookAction.respond(["ready"]) }).given("preToolCall").expect(
      "Respond",
      ["ready"]
    )
    await testHook({ name: "t", preToolCall: () => HookAction.ask("sure?", { level: 1 }) }).given("preToolCall").expect(
      "Ask",
      "sure?"
    )
  })

  it("shows what a hook did in addition to its answer", async () => {
    const hook: AgentHook = {
      name: "busy",
      preStop: function*(_stop, ctx) {
        ctx.inject("read this", { key: "k", pinned: true })
        ctx.warn("careful")
        ctx.notifyUser("done soon")
        ctx.followUp("go on")
        ctx.events.emit("busy/seen", { n: 1 })
        yield* ctx.artifacts.append("log", "one ")
        yield* ctx.artifacts.append("hook:log", "two")
        yield* ctx.reportBudget({ level: "warn", kind: "calls", scope: "run", used: 8, limit: 10 })
      }
    }
    const seen = await testHook(hook).given("preStop").expectContinue()
    assert.deepStrictEqual(seen.injected, ["read this"])
    assert.deepStrictEqual(seen.injections, [{ hook: "busy", text: "read this", key: "k", pinned: true }])
    assert.deepStrictEqual([seen.warnings, seen.notices, seen.followUps], [["careful"], ["done soon"], ["go on"]])
    assert.deepStrictEqual(seen.events, [{ hook: "busy", name: "busy/seen", payload: { n: 1 } }])
    assert.deepStrictEqual([
      await seen.artifact("log"),
      await seen.artifact("hook:log"),
      await seen.artifact("nothing")
    ], [
      "one two",
      "one two",
      undefined
    ])
    assert.deepStrictEqual(seen.budgets.map(({ used }) => used), [8])
  })

  it("keeps state from event to event, per turn and per session", async () => {
    const total = HookState.key("t/total", 0)
    const hook: AgentHook = {
      name: "t",
      preToolCall: ({ id }, { state }) => {
        state.update(total, (n) => n + 1)
        for (const scope of [state.durable.conversation, state.durable.turn, state.durable.call(id)]) {
          scope.update(total, (n) => n + 1)
        }
      }
    }
    const trial = testHook(hook, { state: { "t/total": 10 } }).given("preToolCall", { id: "a" }).given("preToolCall", {
      id: "b"
    })
    const one = await trial
    const counts = (
      { durable, state }: typeof one
    ) => [state.get(total), durable.conversation.get(total), durable.turn.get(total), durable.call("b").get(total)]
    assert.deepStrictEqual(counts(one), [12, 2, 2, 1])
    assert.deepStrictEqual(counts(await trial.given("preToolCall", { id: "c" }, { turnNumber: 2 })), [13, 3, 1, 1])
    assert.deepStrictEqual(counts(await trial.given("preToolCall", {}, { sessionId: "session-2" })), [11, 1, 1, 0])
  })

  it("sets where the hook runs", async () => {
    const places: Array<unknown> = []
    const hook: AgentHook = {
      name: "t",
      preTurn: (_input, { agent, cwd, root, sessionId, stepNumber, turnNumber }) =>
        void places.push([sessionId, turnNumber, stepNumber, agent, cwd, root.sessionId, root.turnNumber])
    }
    await testHook(hook, { sessionId: "s", agent: { name: "a" }, cwd: "/repo" })
      .given("preTurn")
      .given("preTurn", {}, { turnNumber: 4, stepNumber: 2, agent: { depth: 1, invokedBy: "subagent" } })
    assert.deepStrictEqual(places, [
      ["s", 1, 1, { name: "a", depth: 0, invokedBy: "main" }, "/repo", "s", 1],
      ["s", 4, 2, { name: "agent", depth: 1, invokedBy: "subagent" }, "/repo", "s", 4]
    ])
  })

  it("decodes the answer of a model like an agent: an answer that does not fit is sent back once", async () => {
    const judge: AgentHook = {
      name: "judge",
      postToolCall: async (_result, ctx) => {
        const schema = Schema.Struct({ safe: Schema.Boolean })
        const { object } = await ctx.llm({ model: "judge", prompt: "safe?", schema })
        return object.safe ? undefined : HookAction.reject("not safe")
      }
    }
    let calls = 0
    const seen = await testHook(judge, { llm: () => ++calls === 1 ? "no" : `{"safe":false}` })
      .given("postToolCall")
      .expect("Reject", "not safe")
    assert.lengthOf(seen.llmRequests, 2)
    await testHook(judge, { llm: () => "no" }).given("postToolCall").expectFailure("open", /does not fit/)
  })

  it("answers for models and tools, and says so if there is no answer", async () => {
    const judge: AgentHook = {
      name: "judge",
      postToolCall: async (_result, ctx) => {
        const { text } = await ctx.promise(ctx.llm({ prompt: "safe?" }))
        const looked = await ctx.promise(ctx.callTool("look", { at: text }))
        return HookAction.reject(JSON.stringify(looked))
      }
    }
    const seen = await testHook(judge, {
      llm: async ({ prompt }) => `${prompt as string} no`,
      callTool: (name, args) => ({ ok: true, output: { name, args } })
    })
      .given("postToolCall")
      .expect("Reject", "{\"ok\":true,\"output\":{\"name\":\"look\",\"args\":{\"at\":\"safe? no\"}}}")
    assert.deepStrictEqual([seen.llmRequests, seen.toolRequests], [[{ prompt: "safe?" }], [{
      name: "look",
      args: { at: "safe? no" }
    }]])
    const overloaded = new ProviderError.Overloaded({ provider: "p", message: "full" })
    await testHook(judge, { llm: () => overloaded }).given("postToolCall").expectFailure("open", /full/)
    await testHook(judge).given("postToolCall").expectFailure("open", /judge asked a model: give an `llm` that answers/)
  })

  it("answers for MCP servers and shows tools", async () => {
    const lookup: AgentHook = {
      name: "lookup",
      postTurn: async (_end, ctx) => {
        const { content, isError } = await ctx.promise(ctx.mcp.callTool("files", "read", { path: "a" }))
        const listed = await ctx.promise(ctx.mcp.listTools("files"))
        ctx.warn(JSON.stringify([content, isError, listed.map(({ name }) => name), ctx.tools.map(({ name }) => name)]))
      }
    }
    const seen = await testHook(lookup, {
      mcp: async ({ tool }) => ({ content: [{ type: "text", text: tool }] }),
      mcpTools: [{ server: "files", name: "read", inputSchema: {} }, {
        server: "other",
        name: "write",
        inputSchema: {}
      }],
      tools: [{ name: "bash", description: "Runs", inputSchema: {}, delegates: false }]
    }).given("postTurn").expectContinue()
    assert.deepStrictEqual(seen.warnings, ["[[{\"type\":\"text\",\"text\":\"read\"}],false,[\"read\"],[\"bash\"]]"])
    assert.deepStrictEqual(seen.mcpRequests, [{ server: "files", tool: "read", args: { path: "a" } }])
    const broken = testHook(lookup, { mcp: () => Promise.reject(new Error("gone")) })
    await broken.given("postTurn").expectFailure("open", /mcp for lookup: Error: gone/)
    await testHook(lookup).given("postTurn").expectFailure(
      "open",
      /lookup called read of files: give an `mcp` that answers/
    )
  })

  it("answers requests that a hook sends", async () => {
    const report: AgentHook = {
      name: "report",
      postTurn: async (_end, ctx) => {
        const { body, status, url } = await ctx.promise(ctx.http({ url: "https://example.com/done" }))
        ctx.warn(`${status} ${body} of ${url}`)
      }
    }
    const seen = await testHook(report, { http: async ({ url }) => ({ body: `thanks ${url.length}` }) }).given(
      "postTurn"
    ).expect(
      "Continue"
    )
    assert.deepStrictEqual([seen.warnings, seen.httpRequests], [["200 thanks 24 of https://example.com/done"], [{
      url: "https://example.com/done"
    }]])
    const broken = testHook(report, { http: () => Promise.reject(new Error("refused")) })
    await broken.given("postTurn").expectFailure("open", /http for report: Error: refused/)
    await testHook(report).given("postTurn").expectFailure("open", /report sent a request: give an `http` that answers/)
  })

  it("runs wrappers around an act, and shows what they changed", async () => {
    const cache: AgentHook = {
      name: "cache",
      tools: "look",
      wrapToolCall: (call, next) =>
        JSON.stringify(call.args).includes("known") ? Effect.succeed({ ok: true, output: "kept" } as const) : next(call)
    }
    await testHook(cache)
      .given("wrapToolCall", { name: "look", args: { at: "known" } }).expect("Respond", { ok: true, output: "kept" })
      .given("wrapToolCall", { name: "look", args: {} }).expectContinue()
      .given("wrapToolCall", { name: "rm", args: { at: "known" } }).expectContinue()
    const louder: AgentHook = {
      name: "louder",
      wrapLlmCall: async (request, next) => {
        const response = await next.promise({ ...request, model: "large" })
        return { ...response, text: response.text.toUpperCase() }
      }
    }
    await testHook(louder)
      .given("wrapLlmCall", {}, {}, ({ model }) => `from ${model}`)
      .expect("Transform", { model: "model-1", text: "FROM LARGE", toolCalls: [], finishReason: "stop" })
    const refuses: AgentHook = { name: "refuses", wrapLlmCall: () => Effect.fail(HookAction.reject("no calls")) }
    await testHook(refuses).given("wrapLlmCall").expect("Reject", /no calls/)
    const overloaded = new ProviderError.Overloaded({ provider: "p", message: "full" })
    const { verdicts } = await testHook(louder).given("wrapLlmCall", {}, {}, () => overloaded)
    assert.deepInclude(verdicts[0], { answer: "Fail", reason: "full" })
    const retries: AgentHook = {
      name: "retries",
      wrapLlmCall: (request, next) => Effect.catch(next(request), () => next(request))
    }
    let tries = 0
    await testHook(retries).given("wrapLlmCall", {}, {}, () => ++tries === 1 ? overloaded : "second").expectContinue()
    assert.strictEqual(tries, 2)
  })

  it("uses a clock that a test advances", async () => {
    await using clock = VirtualClock.make()
    const slow: AgentHook = {
      name: "slow",
      timeout: "1 minute",
      kind: "policy",
      preTurn: () => new Promise<never>(() => {})
    }
    const trial = testHook(slow, { clock }).given("preTurn").expectFailure("reject", /minute|60/)
    await clock.advance(59_999)
    let over = false
    const ended = trial.then(() => over = true)
    await clock.advance(0)
    assert.isFalse(over)
    await clock.advance(1)
    await ended
    assert.strictEqual(await clock.now(), 60_000)
  })
})

describe("dryRun", () => {
  it("runs a chain without an agent, and explains the result", async () => {
    const quiet: AgentHook = { name: "quiet", preToolCall: () => undefined }
    const rewrite: AgentHook = {
      name: "rewrite",
      priority: 10,
      preToolCall: (call) => HookAction.transform({ ...call, args: { to: "production" } })
    }
    const run = await dryRun([quiet, guard, rewrite], "preToolCall", { name: "deploy", args: { to: "staging" } })
    assert.deepInclude(run, { answer: "Reject", reason: "not to production", by: "guard", point: "preToolCall" })
    assert.deepInclude(run.event as object, { name: "deploy", args: { to: "production" } })
    assert.deepStrictEqual(run.records[0]?.hooks.map(({ answer, hook }) => `${hook} ${answer}`), [
      "rewrite Transform",
      "quiet Continue",
      "guard Reject"
    ])
    assert.match(
      run.explain,
      /^preToolCall deploy: Reject by guard\n {2}rewrite: Transform \(args\.to: "staging" -> "production"\)/
    )
    assert.deepStrictEqual(run.seen.warnings, [])
  })
})
