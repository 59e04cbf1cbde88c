import { make as scopeOf, type TestScope } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookPointName } from "../../src/hook/HookPoint.ts"
import type { FailureKind } from "../../src/hook/HookRecord.ts"
import { eventAt, points } from "./events.ts"
import { isLegal, isReverse } from "./laws/reference.ts"

/** Runs a point with one hook more after it, which notes that it was asked. */
const runAt = (point: HookPointName, hook: AgentHook, scope: TestScope) => {
  const seen: Array<unknown> = []
  const next = {
    name: "next",
    priority: isReverse(point) ? 0 : 200,
    [point]: (event: unknown) => void seen.push(event)
  }
  const chain = HookChain.makeUnsafe([hook, next as AgentHook])
  return Effect.map(chain.run(point, eventAt(point, "x") as never, scope), (outcome) => ({ outcome, seen }))
}

const never = new Promise<never>(() => {})

/** Every way to break, and what it is called. */
const ways: ReadonlyArray<readonly [string, FailureKind, () => unknown]> = [
  ["throws an error", "threw", () => {
    throw new Error("broken")
  }],
  ["throws a string", "threw", () => {
    // oxlint-disable-next-line typescript/only-throw-error -- hooks throw whatever they like
    throw "broken"
  }],
  ["overflows the stack", "threw", function overflow(): unknown {
    return [overflow()]
  }],
  ["rejects", "rejected", () => Promise.reject(new Error("broken"))],
  ["throws in its then", "rejected", () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- a hook may return any thenable
    then: () => {
      throw new Error("broken")
    }
  })],
  ["fails at once", "failed", () => Effect.fail("broken")],
  ["fails later", "failed", () => Effect.andThen(Effect.yieldNow, Effect.fail("broken"))],
  ["dies", "died", () => Effect.die(new Error("broken"))],
  ["throws inside an Effect", "died", () =>
    Effect.sync(() => {
      throw new Error("broken")
    })],
  ["rejects inside an Effect", "died", () => Effect.promise(() => Promise.reject(new Error("broken")))],
  [
    "lacks a service",
    "died",
    () => Effect.map(Context.Service<"No", string>("test/No") as unknown as Effect.Effect<string>, HookAction.reject)
  ],
  ["interrupts itself", "interrupted", () => Effect.interrupt],
  ["throws in a generator", "died", function*() {
    yield* Effect.void
    throw new Error("broken")
  }],
  ["yields a value that is not an Effect", "died", function*() {
    yield 42
  }],
  ["is an async generator", "illegal", async function*() {
    yield await Promise.resolve(HookAction.Continue)
  }],
  ["returns an invalid answer", "illegal", () => 42],
  ["returns an invalid answer later", "illegal", () => Promise.resolve("yes")],
  ["answers an Effect of a promise", "illegal", () => Effect.succeed<unknown>(Promise.resolve())],
  ["answers an Effect of an Effect", "illegal", () => Effect.sync(() => Effect.void)],
  ["never answers", "timeout", () => never],
  ["never answers as an Effect", "timeout", () => Effect.never],
  ["never answers as a generator", "timeout", function*() {
    yield* Effect.never
  }]
]

describe("a hook that", () => {
  for (const [how, kind, method] of ways) {
    it.live(`${how} meets its failure policy at every point`, () =>
      Effect.forEach(points, (point) =>
        Effect.gen(function*() {
          for (const onFailure of ["open", "reject", "abort"] as const) {
            const scope = scopeOf()
            const hook = {
              name: "broken",
              onFailure,
              timeout: kind === "timeout" ? 1 : "10 seconds",
              [point]: method
            } as AgentHook
            const { outcome, seen } = yield* runAt(point, hook, scope)
            const tag = onFailure === "abort" && isLegal(point, "Abort")
              ? "Abort"
              : onFailure !== "open" && isLegal(point, "Reject")
              ? "Reject"
              : "Continue"
            const label = `${point} ${onFailure}`
            assert.strictEqual(outcome.action._tag, tag, label)
            // C4: whatever it was, the next hook sees what this one saw.
            assert.deepEqual(seen, tag === "Continue" ? [eventAt(point, "x")] : [], label)
            assert.deepEqual(outcome.event, eventAt(point, "x"), label)
            assert.lengthOf(scope.failures, 1, label)
            const [failure] = scope.failures
            assert.deepInclude(failure, { hook: "broken", point, kind }, label)
            assert.strictEqual(
              failure!.policy,
              tag === "Continue" ? "open" : tag === "Abort" ? "abort" : "reject",
              label
            )
            assert.isNotEmpty(failure!.message)
            if (tag !== "Continue") {
              assert.deepEqual(outcome.failure, failure, label)
              assert.strictEqual(outcome.by, "broken")
              assert.match(
                (outcome.action as HookAction.Reject).reason,
                new RegExp(`^hook broken failed at ${point} \\(${kind}\\): .+`)
              )
            }
            // C11: both hooks are accounted for, each once.
            const [record] = scope.records
            assert.deepEqual(record!.hooks.map(({ answer, hook }) => `${hook} ${answer}`), [
              `broken ${tag === "Continue" ? "failed-open" : "failed-closed"}`,
              `next ${tag === "Continue" ? "Continue" : "skipped"}`
            ], label)
          }
        }), { discard: true }))
  }
})

describe("the failure policy", () => {
  const policyOf = (options: Partial<AgentHook>, method: () => unknown = () => Effect.fail("broken")) =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hook = {
        name: "broken",
        timeout: method() === never ? 1 : "10 seconds",
        ...options,
        preToolCall: method
      } as AgentHook
      yield* runAt("preToolCall", hook, scope)
      return scope.failures[0]!.policy
    })

  // rows: A-50
  it.live("is open by default", () => Effect.map(policyOf({}), (policy) => assert.strictEqual(policy, "open")))

  // rows: A-51
  it.live("rejects the tool call when a hook with failOpen: false fails", () =>
    Effect.map(policyOf({ failOpen: false }), (policy) => assert.strictEqual(policy, "reject")))

  it.live("is closed by default for hooks of kind policy", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* policyOf({ kind: "policy" }), "reject")
      assert.strictEqual(yield* policyOf({ kind: "policy", failOpen: true }), "open")
      assert.strictEqual(yield* policyOf({ kind: "policy", onFailure: "abort" }), "abort")
      assert.strictEqual(yield* policyOf({ kind: "policy", onFailure: "open" }), "open")
    }))

  // rows: U-08
  it.live("may differ for a timeout, in both directions", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* policyOf({ onFailure: "reject", onTimeout: "open" }, () => never), "open")
      assert.strictEqual(yield* policyOf({ onFailure: "reject", onTimeout: "open" }), "reject")
      assert.strictEqual(yield* policyOf({ onTimeout: "abort" }, () => never), "abort")
      assert.strictEqual(yield* policyOf({ onFailure: "abort" }, () => never), "abort")
    }))

  // rows: A-52, U-09
  it.live("rejects where Reject is legal, and never blocks where it is not", () =>
    Effect.gen(function*() {
      const rejecting: Array<string> = []
      for (const point of points) {
        const hook = { name: "broken", kind: "policy", [point]: () => Effect.fail("broken") } as AgentHook
        const { outcome } = yield* runAt(point, hook, scopeOf())
        if (outcome.action._tag === "Reject") rejecting.push(point)
      }
      assert.deepEqual(
        points.filter((point) => !rejecting.includes(point)),
        ["onSessionEnd", "onTurnError", "onToolDenied", "postStep", "preStop", "postCompaction", "onBudget"]
      )
    }))

  it.live("is always open for shadow hooks and observers, which decide nothing", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* policyOf({ mode: "shadow", onFailure: "abort" }), "open")
      assert.strictEqual(yield* policyOf({ kind: "observer", onFailure: "abort" }), "open")
      assert.strictEqual(yield* policyOf({ observes: ["preToolCall"], kind: "policy" }), "open")
    }))

  it("causes a warning when a policy hook fails open", () => {
    const warned = (options: Partial<AgentHook>) => HookChain.makeUnsafe([{ name: "guard", ...options }]).warnings
    assert.deepEqual(warned({ kind: "policy", failOpen: true }), [
      "hook \"guard\" is a policy that fails open: when it fails, nothing is checked"
    ])
    assert.lengthOf(warned({ kind: "policy", onFailure: "open" }), 1)
    assert.deepEqual(warned({ kind: "policy" }), [])
    assert.deepEqual(warned({ failOpen: true }), [])
  })

  it("warns of an observer that asks to fail closed, because nothing waits for its decision", () => {
    const warningsOf = (options: Partial<AgentHook>) =>
      HookChain.makeUnsafe([{ name: "log", kind: "observer", ...options }]).warnings
    const text =
      "hook \"log\" is an observer, so its failure stops nothing: onFailure, onTimeout and failOpen have no effect"
    for (const options of [{ failOpen: false }, { onFailure: "abort" }, { onTimeout: "reject" }] as const) {
      assert.deepStrictEqual(warningsOf(options), [text])
    }
    for (const options of [{}, { failOpen: true }, { onFailure: "open" }] as const) {
      assert.deepStrictEqual(warningsOf(options), [])
    }
  })

  it.live("names a failure whose message cannot be read", () =>
    Effect.gen(function*() {
      const hostile = [
        Object.defineProperty(new Error("x"), "message", { get: () => never.then.call(1) }),
        Object.assign(new Error("x"), { message: Object.create(null) as string }),
        Object.create(null),
        Symbol("s"),
        undefined
      ]
      for (const error of hostile) {
        const scope = scopeOf()
        const { outcome } = yield* runAt(
          "preTurn",
          { name: "broken", failOpen: false, preTurn: () => Promise.reject(error as Error) },
          scope
        )
        assert.strictEqual(outcome.action._tag, "Reject")
        assert.isString(scope.failures[0]!.message)
      }
    }))
})

describe("inputs are frozen:", () => {
  it.live("a mutation throws inside that hook only, however deep it reaches", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hook: AgentHook = {
        name: "vandal",
        preToolCall: (call) => {
          ;(call.args as { text: string }).text = "changed"
        }
      }
      const { outcome, seen } = yield* runAt("preToolCall", hook, scope)
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.deepEqual(seen, [eventAt("preToolCall", "x")])
      assert.deepInclude(scope.failures[0], { hook: "vandal", kind: "threw", policy: "open" })
    }))

  it.live("a value that a hook returned cannot be changed by the next hook, nor by the hook itself", () =>
    Effect.gen(function*() {
      const made = { message: "made", metadata: { list: [1] } }
      const chain = HookChain.makeUnsafe([
        { name: "maker", preTurn: () => HookAction.transform(made) },
        { name: "vandal", preTurn: (input) => void (input.metadata!["list"] as Array<number>).push(2) },
        {
          name: "late",
          preTurn: async () => {
            await Promise.resolve()
            made.metadata.list.push(3)
          }
        }
      ])
      const scope = scopeOf()
      const outcome = yield* chain.run("preTurn", { message: "x" }, scope)
      assert.deepEqual(outcome.event, { message: "made", metadata: { list: [1] } })
      assert.deepEqual(scope.failures.map(({ hook, kind }) => `${hook} ${kind}`), ["vandal threw", "late rejected"])
    }))
})
