import { text } from "@belay/core/Message"
import * as BaseCoat from "@belay/hook-files/BaseCoat"
import * as Runners from "@belay/hook-files/Runners"
import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"
import { asked, bash, events, world } from "./support.ts"

describe("BaseCoat, together", () => {
  // rows: B-30, B-31
  it("a hook that breaks passes through with a warning, whatever its kind, and OnError runs", async () => {
    const cwd = folder()
    const handlers = BaseCoat.decode(
      `{"version":1,"hooks":{"PreToolUse":[
        {"command":"echo '{\\"action\\":\\"block\\"}'; echo oops >&2; exit 1","kind":"policy"},
        {"command":"echo not json"},
        {"command":"echo '{\\"action\\":\\"explode\\"}'"},
        {"command":"sleep 600","timeout":0.2}
      ]}}`,
      "hooks.json"
    ).handlers
    const { agent, hear, heard, ran, register, warnings } = world([bash("ls")], { handlers }, { cwd })
    register("PreToolUse", () => {
      throw new Error("a bug")
    }, { id: "thrower" })
    register("PreToolUse", () => Promise.reject(new Error("a rejection")), { id: "rejecter" })
    register("PreToolUse", () => new Promise<never>(() => {}), { id: "sleeper", timeoutMs: 50 })
    register("PreToolUse", () => 7 as never, { id: "odd" })
    hear("OnError")
    await agent.run("go")
    assert.deepEqual(ran, ["ls"])
    assert.deepEqual(warnings.map((one) => one.slice(0, 70).replace(/: its response.*/, ": …")), [
      "hooks.PreToolUse[0]: Hook failed: ended with 1: oops",
      "hooks.PreToolUse[1]: Hook failed: wrote output that is not JSON",
      "hooks.PreToolUse[2]: Hook failed: …",
      "hooks.PreToolUse[3]: Hook failed: took too long and was ended",
      "thrower: Hook failed: a bug",
      "rejecter: Hook failed: a rejection",
      "sleeper: Hook failed: took too long",
      "odd: Hook failed: …"
    ])
    assert.lengthOf(heard, 8)
    assert.deepInclude(heard[4]!["error"] as object, { source: "hook", hook: "thrower", message: "a bug" })
  })

  // rows: B-32
  it("what a hook calls runs without hooks, and an OnError hook that breaks is not told of itself", async () => {
    const { agent, ran, register, warnings } = world([bash("outer")])
    let times = 0
    register("PreToolUse", (_event, ctx) => {
      times++
      return Effect.as(ctx.callTool("bash", { command: "inner" }), undefined)
    })
    register("PostToolUse", () => {
      throw new Error("post")
    })
    let errors = 0
    register("OnError", () => {
      errors++
      throw new Error("on error")
    })
    await agent.run("go")
    assert.deepEqual(ran, ["inner", "outer"])
    assert.strictEqual(times, 1)
    assert.strictEqual(errors, 1)
    assert.lengthOf(warnings, 2)
  })

  // rows: B-33, B-34
  it("runs by priority, equal ones as they were registered; telemetry sees what was decided and decides nothing", async () => {
    const { agent, ran, register, warnings } = world([bash("ls")])
    const order: Array<string> = []
    const add = (id: string, priority: number, answer?: BaseCoat.Response, kind?: BaseCoat.Kind) =>
      register("PreToolUse", (event) => {
        order.push(`${id} ${JSON.stringify(event["outcome"] ?? null)}`)
        return answer
      }, { id, priority, ...(kind === undefined ? {} : { kind }) })
    add("telemetry", 1, { action: "block", reason: "no" }, "telemetry")
    add("known-fix", 50)
    add("validator", 10)
    add("adviser", 10, { action: "block", reason: "I would not" }, "advisory")
    add("budget", 20, { action: "block", reason: "too much" }, "policy")
    await agent.run("go")
    assert.deepEqual(order, [
      "validator null",
      "adviser null",
      "budget null",
      `telemetry {"action":"block","reason":"too much","by":"budget"}`
    ])
    assert.deepEqual(ran, [])
    assert.deepEqual(warnings, [
      "adviser: it does not block, because it is advisory",
      "telemetry: its answer does not count, because it is telemetry"
    ])
  })

  // rows: B-33
  it("context adds up, unless a later hook overwrites it", async () => {
    const { agent, hear, requests } = world([bash("ls")])
    hear("PreToolUse", { action: "injectContext", additionalContext: ["one", "two"] })
    hear("PreToolUse", { action: "injectContext", additionalContext: ["three"], mode: "overwrite" })
    hear("PreToolUse", { action: "injectContext", additionalContext: ["four"] })
    await agent.run("go")
    assert.deepEqual(requests[1]!.messages.slice(-2).map(text), ["three", "four"])
  })

  // rows: B-06, B-07
  it("PreCompact sees the whole state, PostCompact puts back what is missing", async () => {
    const { agent, hear, heard, register } = world([])
    hear("PreCompact", { action: "modify", modifiedInput: { anchors: ["issue #42"], keepRecent: 1 } })
    register(
      "PostCompact",
      ({ summary }) =>
        (summary as string).includes("branch main")
          ? undefined
          : { action: "injectContext", additionalContext: ["branch main"] }
    )
    await using session = await agent.session({
      messages: [{ role: "user", content: `issue #42 ${"x".repeat(3_000)}` }, {
        role: "assistant",
        content: "z".repeat(3_000)
      }, {
        role: "user",
        content: "last"
      }, { role: "assistant", content: "ok" }]
    })
    assert.isTrue(await session.compact())
    assert.deepEqual((heard[0]!["messages"] as ReadonlyArray<{ role: string }>).map(({ role }) => role), [
      "user",
      "assistant",
      "user",
      "assistant"
    ])
    assert.include(asked(session.messages), "issue #42")
    await session.run("go on")
    assert.include(asked(session.messages), "branch main")
    hear("PreCompact", { action: "block", reason: "not now" })
    assert.isFalse(await session.compact())
  })

  // rows: B-09, B-43, B-51
  it("warns at 70 % and at 80 % rotates, in the order that is recommended", async () => {
    for (const [used, expected] of [[670, "none"], [690, "warn"], [790, "exceeded"]] as const) {
      const { agent, hear, heard, warnings } = world(
        [{ ...bash("ls"), usage: { inputTokens: used - 1, outputTokens: 0 } }],
        {},
        {
          window: { tokens: 1_000, compactAt: 1 }
        }
      )
      const log: Array<string> = []
      agent.on((event) => void (event.type === "rotation" && log.push(event.step)))
      hear("OnBudgetExceeded", {
        action: "block",
        reason: "Token budget exceeded at 82% of effective window; rotate session before continuing."
      })
      for (const event of ["PreCompact", "SessionEnd", "SessionStart", "PostCompact"] as const) hear(event)
      await using session = await agent.session({
        id: "s",
        messages: [{ role: "user", content: "x".repeat(1_000) }, { role: "assistant", content: "y".repeat(1_000) }]
      })
      await session.run("go")
      const told = heard.map(({ hook, sessionId }) => `${hook} ${sessionId}`)
      if (expected === "exceeded") {
        assert.deepEqual(told, [
          "SessionStart s",
          "OnBudgetExceeded s",
          "PreCompact s",
          "SessionEnd s",
          "SessionStart s-r2",
          "PostCompact s-r2"
        ])
        assert.include(warnings.join(), "rotate session before continuing")
        assert.isAtLeast((heard[1]!["threshold"] as { share: number }).share, 0.8)
        assert.deepEqual(log, ["loads-refused", "handoff"].slice(-log.length))
      } else {
        assert.deepEqual(told, ["SessionStart s"])
        assert.lengthOf(warnings.filter((one) => one.includes("budget of tokens is used")), expected === "warn" ? 1 : 0)
      }
    }
  })

  // rows: B-40
  it("loads memory at the start and keeps what was learned at the end", async () => {
    const memory = new Map<string, ReadonlyArray<string>>([["app", ["the build needs node 24"]]])
    const { agent, register, requests } = world([calls(["fail", { why: "feed auth is missing" }])])
    const learned: Array<string> = []
    register("SessionStart", () => ({ action: "injectContext", additionalContext: memory.get("app") ?? [] }))
    register("OnError", ({ error }) => void learned.push(`blocker: ${(error as { message: string }).message}`))
    register("SessionEnd", () => {
      memory.set("app", [...memory.get("app") ?? [], ...learned])
      return { metadata: { persistedFacts: learned.length } }
    })
    const session = await agent.session()
    await session.run("go")
    await session.close()
    assert.include(asked(requests[0]!.messages), "the build needs node 24")
    assert.match(memory.get("app")!.join(), /blocker: .*feed auth is missing/)
  })

  // rows: B-41
  it("a knowledge base and hooks of a file tell the model what is known, side by side", async () => {
    const { agent, hear, requests } = world([bash("npm run package"), bash("npm run package")], {}, {
      hooks: [ErrorKnowledge.make({
        entries: [{
          id: "stale",
          signature: "stale archive",
          scope: { tool: "bash", command: "package" },
          resolution: ["delete dist/ first"]
        }]
      })]
    })
    hear("PreToolUse", {
      action: "injectContext",
      additionalContext: ["package step often fails if dist/ has a stale archive"]
    })
    await agent.run("go")
    assert.include(asked(requests[1]!.messages), "package step often fails")
    assert.include(asked(requests[1]!.messages), "delete dist/ first")
  })

  // rows: B-42, DEC-24
  it("a loop detector at PostToolUse blocks with a reason: the result is kept, the model reads the reason", async () => {
    const fails = calls(["fail", { why: "same" }])
    const { agent, register, requests } = world([fails, fails, fails])
    register("PostToolUse", ({ tool }) => {
      const { error = "" } = tool!
      seen.push(error)
      return seen.filter((one) => one === error).length < 3 ? undefined : {
        action: "block",
        reason: "Loop detected: identical failing command executed 3 times in 6 minutes. Escalate or change strategy."
      }
    }, { kind: "policy" })
    const seen: Array<string> = []
    await agent.run("go")
    const last = asked(requests[3]!.messages)
    assert.include(last, "same")
    assert.include(last, "Loop detected: identical failing command executed 3 times in 6 minutes.")
    const ready = world([fails, fails, fails, fails], {}, { hooks: [LoopDetector.make()] })
    const { messages } = await ready.agent.run("go")
    assert.match(asked(messages), /3 times/)
  })

  // rows: B-44
  it("sends the measurements of each event", async () => {
    const { agent, hear, sent } = world([calls(["fail", { why: "x" }]), calls(["fail", { why: "x" }]), bash("ls"), {
      text: "done"
    }])
    for (const event of events) hear(event)
    hear("PreToolUse", { action: "injectContext", additionalContext: ["hint"] }, { kind: "policy" })
    const session = await agent.session({
      messages: [{ role: "user", content: "x".repeat(4_000) }, { role: "assistant", content: "y".repeat(4_000) }]
    })
    await session.run("go")
    await session.compact()
    await session.close()
    const of = (event: string) =>
      sent.filter(({ name, payload }) => name === "base-coat" && payload["event"] === event).map(({ payload }) =>
        payload
      )
    assert.containsAllKeys(of("SessionStart")[0]!, ["memoryHits", "elapsedMs"])
    assert.containsAllKeys(of("SessionEnd")[0]!, ["persistedFacts"])
    assert.deepInclude(of("PreToolUse")[0]!, { toolCategory: "write", policyChecks: 1, warningsInjected: 1, hooks: 2 })
    assert.deepInclude(of("PostToolUse")[2]!, { success: true, successRate: 1 / 3, loopScore: 0 })
    assert.deepInclude(of("PostToolUse")[1]!, { success: false, retryCount: 2, loopScore: 2 })
    assert.deepInclude(of("OnError")[1]!, { recurrence: 2 })
    assert.containsAllKeys(of("PreCompact")[0]!, ["tokenLoad", "handoffSize"])
    assert.containsAllKeys(of("PostCompact")[0]!, ["retainedAnchors", "compressionRatio"])
  })

  // rows: B-50, B-52
  it("is opt-in, traceable and discreet", async () => {
    const { agent, hear, register, requests, runtime, sent } = world([bash("a"), bash("b")])
    const key = `sk-ant-${"a1b2c3d4".repeat(4)}`
    hear("PreToolUse", { action: "modify", modifiedInput: { command: "changed" }, reason: "because" }, {
      id: "changer",
      kind: "policy"
    })
    const remove = register(
      "PreToolUse",
      () => ({ action: "injectContext", additionalContext: [`use ${key}`], warnings: [key] })
    )
    await agent.run("go")
    const change =
      sent.find(({ name, payload }) => name === "base-coat-hook" && payload["hookId"] === "changer")!.payload
    assert.deepInclude(change, { event: "PreToolUse", kind: "policy", action: "modify" })
    assert.notStrictEqual(change["before"], change["after"])
    assert.notInclude(JSON.stringify([requests, sent]), key)
    assert.include(asked(requests[1]!.messages), "use [anthropic-key]")
    remove()
    assert.lengthOf(runtime.handlers(), 1)
    const off = world([bash("a")], { enabled: false })
    off.hear("PreToolUse", { action: "block" })
    await off.agent.run("go")
    assert.deepEqual(off.ran, ["a"])
  })

  // rows: B-51
  it("gives a hook three seconds", async () => {
    const given: Array<number> = []
    const handlers = BaseCoat.decode(
      `{"version":1,"hooks":{"SessionStart":[{"command":"x"},{"command":"y","timeout":1}]}}`,
      "hooks.json"
    ).handlers
    const runners: Runners.Runners = ({ timeoutMs }) =>
      Effect.sync(() => {
        given.push(timeoutMs)
        return { exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1 }
      })
    await world([], { handlers, runners }).agent.run("go")
    assert.deepEqual(given, [3_000, 1_000])
  })

  // rows: B-53
  it("runs the whole flow with commands of a hooks.json", async () => {
    const cwd = folder()
    write(
      join(cwd, "flow.py"),
      `import json, sys
event = json.load(sys.stdin)
with open("flow.log", "a") as log:
    log.write(event["hook"] + " " + event["sessionId"] + "\\n")
if event["hook"] == "SessionStart":
    print(json.dumps({"action": "injectContext", "additionalContext": ["issue #42"]}))
if event["hook"] == "OnBudgetExceeded":
    print(json.dumps({"action": "block", "reason": "rotate session before continuing"}))
if event["hook"] == "PostCompact" and "issue #42" not in event["summary"]:
    print(json.dumps({"action": "injectContext", "additionalContext": ["still: issue #42"]}))
`
    )
    const hooks = Object.fromEntries(events.map((event) => [event, [{ command: "python3 flow.py" }]]))
    const { handlers } = BaseCoat.decode(JSON.stringify({ version: 1, hooks }), "hooks.json")
    const { agent, requests, warnings } = world(
      [
        calls(["fail", { why: "stale archive" }]),
        { ...bash("ls"), usage: { inputTokens: 850, outputTokens: 1 } },
        { text: "done", usage: { inputTokens: 100, outputTokens: 1 } }
      ],
      { handlers, timeoutMs: 20_000 },
      { cwd, window: { tokens: 1_000, compactAt: 1 } }
    )
    const session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: `issue #42 ${"x".repeat(1_000)}` }, {
        role: "assistant",
        content: "y".repeat(1_000)
      }]
    })
    await session.run("go")
    await session.close()
    assert.deepEqual(readFileSync(join(cwd, "flow.log"), "utf8").trim().split("\n"), [
      "SessionStart s",
      "PreToolUse s",
      "OnError s",
      "PostToolUse s",
      "PreToolUse s",
      "PostToolUse s",
      "OnBudgetExceeded s",
      "PreCompact s",
      "SessionEnd s",
      "SessionStart s-r2",
      "PostCompact s-r2",
      "SessionEnd s-r2"
    ])
    assert.include(asked(requests.at(-1)!.messages), "issue #42")
    assert.include(warnings.join(), "rotate session before continuing")
  })
})
