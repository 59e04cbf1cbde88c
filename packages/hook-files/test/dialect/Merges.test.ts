/** What counts when several entries of one event answer, for each system. */
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import * as BaseCoat from "../../src/dialect/basecoat/answer.ts"
import * as BaseCoatVerdict from "../../src/dialect/basecoat/verdict.ts"
import * as Copilot from "../../src/dialect/copilot/answer.ts"
import * as Cursor from "../../src/dialect/cursor/answer.ts"
import * as Gemini from "../../src/dialect/gemini/answer.ts"
import * as Inkeep from "../../src/dialect/inkeep/answer.ts"

/** Leaves out what is undefined, as JSON does. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("the answers of GitHub Copilot", () => {
  const merged = (...answers: ReadonlyArray<Partial<Copilot.Answer>>) =>
    plain(Copilot.merge(answers.map((one) => ({ ...Copilot.silent, ...one }))))

  it.each<readonly [ReadonlyArray<Partial<Copilot.Answer>>, object]>([
    [[], { contexts: [] }],
    [[{ denied: "a" }, {}, { denied: "b" }], { denied: "a\nb", contexts: [] }],
    [[{ context: "a" }, { context: "b" }], { contexts: ["a", "b"] }],
    [[{ wish: { args: { a: 1 }, prompt: "p" } }, { wish: { args: { b: 2 } } }], {
      args: { b: 2 },
      prompt: "p",
      contexts: []
    }],
    [[{ wish: { permission: "ask", permissionReason: "r" } }, { wish: { permission: "allow" } }], {
      permission: "allow",
      permissionReason: "r",
      contexts: []
    }],
    [[{ asks: "sure?" }, { wish: { permission: "allow", permissionReason: "r" } }, { asks: "really?" }], {
      permission: "ask",
      permissionReason: "sure?",
      contexts: []
    }],
    [[{ wish: { behavior: "allow" } }], { behavior: "allow", contexts: [] }],
    [[{ asks: "sure?" }, { wish: { behavior: "allow" } }], {
      permission: "ask",
      permissionReason: "sure?",
      contexts: []
    }],
    [[{ asks: "sure?" }, { wish: { behavior: "deny" } }], {
      permission: "ask",
      permissionReason: "sure?",
      behavior: "deny",
      contexts: []
    }],
    [[{ wish: { behavior: "deny" } }, { wish: { behavior: "allow" } }], { behavior: "allow", contexts: [] }]
  ])("%j are %j", (answers, expected) => assert.deepEqual(merged(...answers), expected as never))
})

describe("the answers of Gemini CLI", () => {
  const merged = (...answers: ReadonlyArray<Partial<Gemini.Answer>>) =>
    plain(Gemini.merge(answers.map((one) => ({ ...Gemini.silent, ...one }))))
  const specific = (...all: ReadonlyArray<Gemini.Specific>) => all.map((one) => ({ specific: one }))

  it.each<readonly [ReadonlyArray<Partial<Gemini.Answer>>, object]>([
    [[], { contexts: [] }],
    [[{ denied: "a" }, { denied: "a" }], { denied: "a\na", contexts: [] }],
    [[{ asked: "a" }, {}, { asked: "b" }, { asked: "a" }], { asked: "a\nb", contexts: [] }],
    [[{ stopped: "a" }, { stopped: "b" }], { stopped: "a\nb", contexts: [] }],
    [specific({ context: "a" }, { toolOutput: "x" }, { context: "b" }), { toolOutput: "x", contexts: ["a", "b"] }],
    [specific({ toolInput: { a: 1, b: 1 } }, { toolInput: { b: 2 } }), { toolInput: { a: 1, b: 2 }, contexts: [] }],
    [specific({ toolInput: { a: 1 } }, {}), { toolInput: { a: 1 }, contexts: [] }],
    [specific({ toolOutput: "a" }, { toolOutput: "b" }), { toolOutput: "b", contexts: [] }],
    [specific({ request: { model: "a", config: { t: 1, p: 1 } } }, { request: { config: { p: 2 } } }), {
      request: { model: "a", config: { t: 1, p: 2 } },
      contexts: []
    }],
    [specific({ request: { config: 1 } }, { request: { config: { p: 2 } } }), {
      request: { config: { p: 2 } },
      contexts: []
    }],
    [specific({ request: { config: { p: 2 } } }, { request: { config: null } }), {
      request: { config: null },
      contexts: []
    }],
    ...(["AUTO", "ANY", "NONE"] as const).flatMap((one, at) =>
      (["AUTO", "ANY", "NONE"] as const).map((two, other) =>
        [specific({ mode: one }, { mode: two }), { mode: at > other ? one : two, contexts: [] }] as const
      )
    ),
    [specific({ mode: "ANY" }, {}), { mode: "ANY", contexts: [] }],
    [specific({ allowed: ["a"] }, { allowed: ["b", "a"] }), { allowed: ["a", "b", "a"], contexts: [] }],
    [specific({ clear: true }, { clear: false }), { clear: true, contexts: [] }],
    [specific({ clear: false }, { clear: true }), { clear: true, contexts: [] }],
    [specific({ clear: false }, {}), { clear: false, contexts: [] }],
    [specific({ tail: { name: "a", args: {} } }, { tail: { name: "b", args: {} } }), {
      tail: { name: "b", args: {} },
      contexts: []
    }]
  ])("%j are %j", (answers, expected) => assert.deepEqual(merged(...answers), expected as never))
})

describe("the answers of Cursor", () => {
  const merged = (
    answers: ReadonlyArray<Partial<Cursor.Answer>>,
    limits: ReadonlyArray<number | undefined> = [],
    input: object = {}
  ) =>
    plain(Cursor.merge(
      answers.map((one) => ({ ...Cursor.silent, ...one })),
      limits.map((loopLimit) => ({ loopLimit })) as never,
      input as never
    ))
  const rest = { contexts: [], env: {}, conflicts: [] }
  const over = (loops: number) => `a hook made the agent continue ${loops} times in a row, so it stops now`

  it("are all reasons, and of each other value the first", () => {
    assert.deepEqual(merged([]), rest)
    assert.deepEqual(merged([{ denied: "a" }, { denied: "b" }, { asks: "c" }, { asks: "d" }]), {
      ...rest,
      denied: "a\nb",
      asks: "c\nd"
    })
    assert.deepEqual(merged([{}, { output: { a: 1 } }, { output: { a: 2 } }]), { ...rest, output: { a: 1 } })
    assert.deepEqual(merged([{ input: { a: 1 } }]), { ...rest, input: { a: 1 } })
    assert.deepEqual(merged([{ input: { a: 1 } }, { input: { a: 2 } }]), {
      ...rest,
      input: { a: 1 },
      conflicts: ["several hooks returned updated_input: only the first value is used"]
    })
    assert.deepEqual(merged([{ context: "a", env: { A: "1", B: "1" } }, { context: "b", env: { B: "2", C: "2" } }]), {
      ...rest,
      contexts: ["a", "b"],
      env: { A: "1", B: "1", C: "2" }
    })
  })

  it("keep an agent going up to the limit of each entry", () => {
    const both = [{ followUp: "a" }, { followUp: "b" }]
    assert.deepEqual(merged(both, [5, undefined]), { ...rest, followUp: "a" })
    assert.deepEqual(merged(both, [5, undefined], { loop_count: 4 }), { ...rest, followUp: "a" })
    assert.deepEqual(merged(both, [5, undefined], { loop_count: 5 }), { ...rest, followUp: "b", conflicts: [over(5)] })
    assert.deepEqual(merged(both, [5, 6], { loop_count: 7 }), { ...rest, conflicts: [over(7), over(7)] })
    assert.deepEqual(merged([{}, ...both], [0, 1], { loop_count: "9" }), { ...rest, followUp: "a" })
  })
})

describe("the answers of Base Coat", () => {
  type Kind = "policy" | "advisory" | "telemetry"
  const merged = (...all: ReadonlyArray<Partial<BaseCoat.Answer> & { readonly kind?: Kind }>) => {
    const { metadata: _, ...rest } = plain(BaseCoatVerdict.merge(
      all.map(({ kind: _kind, ...one }) => ({ ...BaseCoat.silent, ...one })),
      all.map(({ kind = "advisory" }, index) => ({ kind, key: `k${index}` })) as never
    )) as { readonly [field: string]: unknown }
    return rest
  }
  const rest = { context: [], warnings: [], failures: [], policies: 0 }
  const block = (by: string) => ({ by, reason: `of ${by}` })

  it("are the last change and the last reason, and telemetry decides nothing", () => {
    assert.deepEqual(merged(), rest)
    assert.deepEqual(merged({ blocked: block("a"), kind: "policy" }, { blocked: block("b"), kind: "policy" }), {
      ...rest,
      blocked: block("b"),
      policies: 2
    })
    assert.deepEqual(merged({ asks: "a" }, { asks: "b", input: { a: 1 }, output: "o" }, {}), {
      ...rest,
      asks: "b",
      input: { a: 1 },
      output: "o"
    })
    const telemetry = { kind: "telemetry", input: { a: 1 }, blocked: block("t"), context: ["t"], asks: "t" } as const
    assert.deepEqual(merged(telemetry), rest)
  })

  it("add their contexts, unless a later one overwrites them", () => {
    const [a, b, c] = [{ context: ["a"] }, { context: ["b"], overwrite: true }, { context: ["c"] }]
    assert.deepEqual(merged(a, c)["context"], ["a", "c"])
    assert.deepEqual(merged(a, b, c)["context"], ["b", "c"])
    assert.deepEqual(merged(b, c, { ...a, overwrite: true })["context"], ["a"])
    // One that says nothing takes nothing away.
    assert.deepEqual(merged(a, {})["context"], ["a"])
  })

  it("name who warns and who failed", () => {
    const all = merged({ hookId: "own", problems: ["p"] }, { problem: "broke" }, { kind: "telemetry", problems: ["t"] })
    assert.deepEqual(all["warnings"], ["own: p", "k1: Hook failed: broke", "k2: t"])
    assert.deepEqual(all["failures"], [{ hookId: "k1", message: "broke" }])
  })

  it("are nothing for an entry that says nothing", () => {
    const entry = { key: "k", event: "PreToolUse", kind: "advisory" } as never
    assert.deepEqual(Result.getOrThrow(BaseCoat.read(undefined, entry)), {
      outcome: "success",
      messages: [],
      problems: [],
      hookId: "k",
      action: "passThrough",
      context: [],
      overwrite: false,
      metadata: {}
    })
  })
})

describe("the answers of Inkeep", () => {
  const merged = (answers: ReadonlyArray<Partial<Inkeep.Answer>>, point?: string, fields: object = {}) =>
    plain(Inkeep.merge(answers.map((one) => ({ ...Inkeep.silent, ...one })), point as never, fields as never))

  it("are what the last hook that ran decides, or the changes of all", () => {
    assert.deepEqual(merged([]), {})
    assert.deepEqual(merged([{ abort: "a" }, {}]), {})
    assert.deepEqual(merged([{}, { abort: "a" }]), { abort: "a" })
    assert.deepEqual(merged([{ value: 1 }, { block: null }]), { block: null })
    assert.deepEqual(merged([{ value: 1 }, {}]), {})
  })
})
