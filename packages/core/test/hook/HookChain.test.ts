import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookContext } from "../../src/hook/HookContext.ts"
import type { HookPointName, In } from "../../src/hook/HookPoint.ts"
import * as HookRecord from "../../src/hook/HookRecord.ts"
import * as HookState from "../../src/hook/HookState.ts"
import { eventAt, points } from "./events.ts"

const input = { message: "a" }
const call = eventAt("preToolCall", "rm") as In<"preToolCall">
const withArgs = (args: string) => HookAction.transform({ id: call.id, name: call.name, args })

/** Runs a point with hooks in this order; also who was called with what. */
const run = <P extends HookPointName>(point: P, event: In<P>, hooks: ReadonlyArray<AgentHook>, scope = scopeOf()) =>
  Effect.map(HookChain.makeUnsafe(hooks).run(point, event, scope), (outcome) => ({ ...outcome, scope }))

describe("a hook", () => {
  // rows: A-01
  it.effect("needs no more than a name and a method", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const { event } = yield* run("preTurn", input, [
        { name: "later", priority: 101, preTurn: ({ message }) => HookAction.transform({ message: `${message}2` }) },
        { name: "plain", preTurn: ({ message }) => HookAction.transform({ message: `${message}1` }) },
        { name: "broken", preTurn: () => Promise.reject(new Error("x")) }
      ], scope)
      assert.deepEqual(event, { message: "a12" })
      assert.strictEqual(scope.failures[0]!.policy, "open")
    }))

  // rows: A-02
  it.effect("that does nothing has no effect, at every point", () =>
    Effect.forEach(points, (point) =>
      Effect.gen(function*() {
        const event = eventAt(point, "x")
        const hook = { name: "empty", [point]: () => {} } as AgentHook
        const { action, by, event: after } = yield* run(point, event as never, [hook])
        assert.strictEqual(after, event)
        assert.deepEqual([action._tag, by], ["Continue", undefined])
      }), { discard: true }))

  // rows: A-04
  it.effect("sees a tool's success and its failure, and how long the tool itself took", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const hook: AgentHook = {
        name: "h",
        postToolCall: ({ elapsedMs, executed, result }) => void seen.push([result, elapsedMs, executed])
      }
      const ended = eventAt("postToolCall", "out") as In<"postToolCall">
      yield* run("postToolCall", ended, [hook])
      yield* run("postToolCall", { ...ended, result: { ok: false, error: "boom" } }, [hook])
      assert.deepEqual(seen, [[{ ok: true, output: "out" }, 5, true], [{ ok: false, error: "boom" }, 5, true]])
    }))

  // rows: A-06
  it.effect("runs for every failed attempt, and answers with a decision", () =>
    Effect.gen(function*() {
      const failed = eventAt("onLlmError", "m") as In<"onLlmError">
      const hook: AgentHook = {
        name: "h",
        onLlmError: ({ attempt }) => HookAction.replace(attempt < 2 ? { type: "retry", delayMs: 10 } : { type: "fail" })
      }
      const decisions = yield* Effect.forEach([1, 2], (attempt) => run("onLlmError", { ...failed, attempt }, [hook]))
      assert.deepEqual(decisions.map(({ event }) => event.decision), [{ type: "retry", delayMs: 10 }, { type: "fail" }])
    }))

  // rows: A-05
  it.effect("sees the grant of the policy itself", () =>
    Effect.gen(function*() {
      let seen: unknown
      yield* run("preToolCall", call, [{ name: "h", preToolCall: ({ grant }) => void (seen = grant) }])
      assert.strictEqual(seen, call.grant)
    }))

  // rows: A-07
  it.effect("may serve two sessions at once, each with its own context and state", () =>
    Effect.gen(function*() {
      const calls = HookState.key("calls", 0)
      const chain = HookChain.makeUnsafe([{
        name: "count",
        preTurn: async (_input, ctx) => {
          const session = ctx.sessionId
          await Promise.resolve()
          ctx.state.update(calls, (n) => n + 1)
          return session === ctx.sessionId ? HookAction.transform({ message: session }) : HookAction.reject("mixed up")
        }
      }])
      const scopes = ["one", "two"].map((sessionId) => scopeOf({ sessionId }))
      const outcomes = yield* Effect.all(
        scopes.flatMap((scope) => Array.from({ length: 5 }, () => chain.run("preTurn", input, scope))),
        { concurrency: "unbounded" }
      )
      assert.deepEqual(outcomes.map(({ event }) => event.message), [...Array(5).fill("one"), ...Array(5).fill("two")])
      assert.deepEqual(scopes.map(({ state }) => state.get(calls)), [5, 5])
    }))

  // rows: A-30
  it.effect("knows its session, turn and step from its context", () =>
    Effect.gen(function*() {
      let seen: HookContext | undefined
      const scope = scopeOf()
      yield* run("preTurn", input, [{ name: "h", preTurn: (_input, ctx) => void (seen = ctx) }], scope)
      const { agent, coreType, cwd, sessionId, signal, stepNumber, turnNumber } = seen!
      assert.deepEqual({ agent, coreType, cwd, sessionId, stepNumber, turnNumber }, {
        agent: { name: "tester", depth: 0, invokedBy: "main" },
        coreType: "tool-loop",
        cwd: "/tmp/nowhere",
        sessionId: "session-1",
        stepNumber: 2,
        turnNumber: 3
      })
      assert.strictEqual(signal, scope.signal)
      assert.isUndefined(seen!.outcome)
    }))

  // rows: A-31
  it.effect("shares state with the other hooks of its session immediately", () =>
    Effect.gen(function*() {
      const tokens = HookState.key("tokens", 0)
      const scope = scopeOf()
      const seen: Array<number> = []
      const chain = HookChain.makeUnsafe([
        { name: "a", preLlmCall: (_request, ctx) => ctx.state.set(tokens, 7) },
        {
          name: "b",
          preLlmCall: (_request, { state: { get } }) => void seen.push(get(tokens)),
          postLlmCall: (_event, ctx) => void seen.push(ctx.state.get(tokens))
        }
      ])
      yield* chain.run("preLlmCall", { messages: [], tools: [], parameters: {} }, scope)
      yield* chain.run("postLlmCall", eventAt("postLlmCall", "") as In<"postLlmCall">, scope)
      assert.deepEqual(seen, [7, 7])
    }))

  // rows: A-33
  it.effect("sends warnings, notices and injections under its name", () =>
    Effect.gen(function*() {
      const { scope } = yield* run("preTurn", input, [{
        name: "h",
        preTurn: (_input, { events, followUp, inject, notifyUser, warn }) => {
          inject("text")
          warn("careful")
          notifyUser("look")
          followUp("again")
          if (events.active) events.emit("seen", { n: 1 })
        }
      }])
      assert.deepEqual(scope.actions, [
        "h inject: text",
        "h warn: careful",
        "h notify: look",
        "h followUp: again",
        "h event: seen {\"n\":1}"
      ])
    }))

  it.effect("may be a class, keep its this, and answer in five ways", () =>
    Effect.gen(function*() {
      class Suffix implements AgentHook {
        readonly name = "class"
        readonly suffix = "!"
        preTurn({ message }: { readonly message: string }) {
          return HookAction.transform({ message: message + this.suffix })
        }
      }
      const append = ({ message }: { readonly message: string }, text: string) =>
        HookAction.transform({ message: message + text })
      const { event } = yield* run("preTurn", input, [
        new Suffix(),
        { name: "sync", preTurn: (turn) => append(turn, "1") },
        { name: "async", preTurn: async (turn) => append(turn, "2") },
        { name: "effect", preTurn: (turn) => Effect.sync(() => append(turn, "3")) },
        {
          name: "generator",
          *preTurn(turn) {
            const text = yield* Effect.succeed("4")
            return append(turn, text)
          }
        }
      ])
      assert.strictEqual(event.message, "a!1234")
    }))

  it.effect("gets its services from the fiber that runs the chain", () =>
    Effect.gen(function*() {
      class Db extends Context.Service<Db, { readonly owner: string }>()("test/Db") {}
      const hook = defineHook({
        name: "h",
        preTurn: () => Effect.map(Db, ({ owner }) => HookAction.reject(`ask ${owner}`))
      })
      const ran = run("preTurn", input, [hook as AgentHook])
      const { action } = yield* Effect.provideService(ran, Db, { owner: "ann" })
      assert.deepEqual(action, HookAction.reject("ask ann"))
    }))
})

describe("an action", () => {
  const append = (name: string): AgentHook => ({
    name,
    preTurn: ({ message }) => HookAction.transform({ message: message + name })
  })

  // rows: A-14
  it.effect("passes each hook the value of the previous one", () =>
    Effect.gen(function*() {
      const { action, by, event } = yield* run("preTurn", input, [append("b"), {
        name: "c",
        preTurn: () => HookAction.Continue
      }, append("d")])
      assert.deepEqual(event, { message: "abd" })
      assert.deepEqual([action._tag, by], ["Transform", "d"])
    }))

  // rows: A-15, U-04
  it.effect("Replace skips the remaining hooks, but not the operation", () =>
    Effect.gen(function*() {
      const { action, by, event } = yield* run("preTurn", input, [
        { name: "x", preTurn: () => HookAction.replace({ message: "x" }) },
        append("y")
      ])
      assert.deepEqual([action, by, event], [HookAction.replace({ message: "x" }), "x", { message: "x" }])
    }))

  // rows: A-16
  it.effect("Reject ends the chain after an earlier change", () =>
    Effect.gen(function*() {
      const { action, by, failure } = yield* run("preTurn", input, [
        append("y"),
        { name: "r", preTurn: () => HookAction.reject("not today", { userMessage: "sorry" }) },
        append("z")
      ])
      assert.deepEqual([action, by, failure], [
        HookAction.reject("not today", { userMessage: "sorry" }),
        "r",
        undefined
      ])
    }))

  // rows: DEC-03
  it("is a frozen JSON object", () => {
    const actions = [
      HookAction.Continue,
      HookAction.transform({ a: 1 }),
      HookAction.replace([1]),
      HookAction.reject("r", { feedback: "f", retries: 2 }),
      HookAction.respond({ b: [null] }),
      HookAction.abort("a"),
      HookAction.ask("k"),
      HookAction.ask("k", { diff: "+1" })
    ]
    for (const action of actions) {
      assert.isTrue(Object.isFrozen(action))
      assert.deepEqual(JSON.parse(JSON.stringify(action)), action)
    }
  })

  const whyIllegal = (point: HookPointName, answer: unknown) =>
    Effect.map(
      run(point, eventAt(point, "") as never, [{ name: "h", [point]: () => answer } as AgentHook]),
      ({ scope }) => scope.failures[0]?.message ?? "legal"
    )

  it.effect.each<readonly [HookPointName, unknown, string]>([
    ["preTurn", { _tag: "Rejct", reason: "" }, "answered Rejct, which is not an action; did you mean Reject?"],
    ["preTurn", { _tag: "Elephant" }, "answered Elephant, which is not an action"],
    ["preTurn", { _tag: 5 }, "answered an object without _tag (keys: _tag); expected one of HookAction's constructors"],
    [
      "preTurn",
      { proceed: false },
      "answered an object without _tag (keys: proceed); return HookAction.reject(reason), HookAction.transform(value) or nothing"
    ],
    ["preTurn", false, "answered a boolean; expected nothing or an action"],
    ["preTurn", null, "answered null; expected nothing or an action"],
    [
      "preTurn",
      (async function*() {})(),
      "answered an asynchronous generator; expected an async function, or a generator of Effects (function*)"
    ],
    [
      "preTurn",
      HookAction.ask("?"),
      "Ask is not legal at preTurn, where Continue, Transform, Replace, Reject, Respond, Abort are"
    ],
    [
      "postToolCall",
      HookAction.respond(1),
      "Respond is not legal at postToolCall, where Continue, Transform, Replace, Reject, Abort are; it is at preToolCall"
    ],
    ["onSessionEnd", HookAction.abort("no"), "Abort is not legal at onSessionEnd, where Continue are"],
    ["preTurn", HookAction.transform("text"), "Transform at preTurn: expected an object with a string `message`"],
    [
      "preToolCall",
      HookAction.transform({ ...call, name: "bash" }),
      "Transform at preToolCall: `id` and `name` of a tool call cannot be changed"
    ],
    ["preToolCall", HookAction.replace({ id: "1" }), "Replace at preToolCall: expected the tool call with its `args`"],
    [
      "postToolCall",
      HookAction.transform({ ok: true }),
      "Transform at postToolCall: expected { ok: true, output } or { ok: false, error }"
    ],
    [
      "onLlmError",
      HookAction.transform({ type: "again" }),
      "Transform at onLlmError: expected an object whose `type` is one of retry, fallback, fail"
    ],
    ["preTurn", { _tag: "Reject" }, "Reject at preTurn: expected a string `reason`"],
    ["preTurn", HookAction.respond("text"), "Respond at preTurn: expected an object with a string `text`"],
    [
      "preLlmCall",
      HookAction.respond({ text: "" }),
      "Respond at preLlmCall: expected an object with a string `text` and an array `toolCalls`"
    ],
    [
      "preToolCall",
      HookAction.respond({ at: [1n] }),
      "Respond at preToolCall: expected JSON, output.at[0] is a bigint"
    ],
    ["preToolCall", { _tag: "Respond" }, "Respond at preToolCall: expected an `output`"],
    ["preToolCall", HookAction.respond({ any: ["json", null, 1] }), "legal"],
    [
      "preCompaction",
      HookAction.respond({ messages: [] }),
      "Respond at preCompaction: expected an object with an array `messages` and a string `summary`"
    ]
  ])(
    // rows: DEC-09
    "says what is wrong with an answer (%#)",
    ([point, answer, why]) => Effect.map(whyIllegal(point, answer), (found) => assert.strictEqual(found, why))
  )
})

describe("a record", () => {
  it.live("lists every hook, and is the same for any scheduling", () =>
    Effect.gen(function*() {
      const hooks = (later: boolean): ReadonlyArray<AgentHook> => {
        const say = <A>(answer: A) => later ? Effect.delay(Effect.succeed(answer), 1) as unknown as A : answer
        return [
          { name: "changes", preToolCall: () => say(withArgs("b")) },
          { name: "shadow", mode: "shadow", preToolCall: () => say(HookAction.reject("would not")) },
          { name: "other tool", tools: "build", preToolCall: () => say(HookAction.reject("never")) },
          {
            name: "broken",
            preToolCall: () => Effect.andThen(later ? Effect.yieldNow : Effect.void, Effect.die(new Error("oops")))
          },
          { name: "stops", preToolCall: () => say(HookAction.reject("no")) },
          { name: "after", preToolCall: () => say(HookAction.Continue) },
          { name: "watch", kind: "observer", preToolCall: (_call, ctx) => ctx.warn(JSON.stringify(ctx.outcome)) }
        ]
      }
      const [now, late] = yield* Effect.forEach([false, true], (later) =>
        run("preToolCall", { ...call, args: "a" }, hooks(later)))
      const timeless = (records: ReadonlyArray<HookRecord.HookRecord>) =>
        HookRecord.explain(records).replaceAll(/ \d+\.\d\d ms/g, "")
      assert.strictEqual(timeless(now!.scope.records), timeless(late!.scope.records))
      assert.deepEqual(now!.scope.actions, [
        "watch warn: {\"action\":\"Reject\",\"reason\":\"no\",\"decidedBy\":\"stops\",\"failedOpen\":[\"broken\"]}"
      ])
      assert.strictEqual(
        timeless(now!.scope.records),
        `preToolCall deploy: Reject by stops
  changes: Transform (args: "a" -> "b")
  shadow: Reject (would not; shadow, not obeyed)
  other tool: skipped (not for this tool)
  broken: failed-open (died: oops)
  stops: Reject (no)
  after: skipped (decided by stops)
  watch: Continue`
      )
    }))
})
