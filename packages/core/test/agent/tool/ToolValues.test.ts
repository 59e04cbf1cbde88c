/** What tools may return, and what the model reads. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { runInNewContext } from "node:vm"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { Json } from "../../../src/data/Json.ts"
import { JsonValue, type ToolMessage } from "../../../src/data/Message.ts"
import { anything, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Runs a tool that returns a value. Returns what the model reads, and the warnings for the developer. */
const modelReads = async (returns: () => unknown) => {
  const { tool } = recording("act", returns)
  await using agent = createAgent({ provider: scripted([asks(["act", {}])]).provider, tools: [tool] })
  const events: Array<AgentEvent> = []
  agent.on((event) => events.push(event))
  const { messages } = await agent.run("go")
  const { content, isError } = messages.find((message): message is ToolMessage => message.role === "tool")!
  return { content, isError, warnings: events.flatMap((one) => one.type === "warning" ? [one.message] : []) }
}

class Row {
  readonly id = 1
  readonly at = new Date(0)
  readonly none = undefined
  get computed() {
    return "not stored"
  }
}

class Endless {
  *[Symbol.iterator]() {
    for (let n = 0;; n++) yield n
  }
}

const bytes = new Uint8Array([0, 255, 16])
const many = Uint8Array.from({ length: 20_000 }, (_, index) => index)
const failure = Object.assign(new TypeError("no", { cause: new Error("deeper") }), { code: "E1" })

/** Values, and their documented form. */
const forms: ReadonlyArray<readonly [name: string, value: unknown, form: Json]> = [
  ["nothing", undefined, null],
  ["an undefined field", { a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
  ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["an invalid date", new Date(Number.NaN), null],
  ["a class instance", new Row(), { id: 1, at: "1970-01-01T00:00:00.000Z" }],
  ["toJSON", { toJSON: () => ({ at: new Date(0) }) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["toJSON with a key", { a: { toJSON: (key: string) => key } }, { a: "a" }],
  ["boxed values", [Object(1), Object("s"), Object(false)], [1, "s", false]],
  ["a bigint", { id: 12345678901234567890n }, { id: "12345678901234567890" }],
  ["a map with text keys", new Map([["a", new Date(0)]]), { a: "1970-01-01T00:00:00.000Z" }],
  ["a map with other keys", new Map([[1, "one"]]), [[1, "one"]]],
  ["a set", new Set([1, new Set(["a"])]), [1, ["a"]]],
  ["a buffer", Buffer.from(bytes), "AP8Q"],
  ["bytes", { data: bytes, view: new DataView(bytes.buffer, 1), all: bytes.buffer }, {
    data: "AP8Q",
    view: "/xA=",
    all: "AP8Q"
  }],
  ["many bytes", many, Buffer.from(many).toString("base64")],
  ["numbers", new Float64Array([0.5, 1]), [0.5, 1]],
  ["a URL", new URL("https://example.com/a?b"), "https://example.com/a?b"],
  ["an error", failure, { name: "TypeError", message: "no", code: "E1", cause: { name: "Error", message: "deeper" } }],
  ["no prototype", Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
  ["a key called __proto__", JSON.parse(`{"__proto__": {"a": 1}}`), JSON.parse(`{"__proto__": {"a": 1}}`) as Json],
  [
    "a value of another realm",
    runInNewContext("({ m: new Map([['a', 1]]), d: new Date(0), e: new Error('x'), l: [1] })"),
    {
      m: { a: 1 },
      d: "1970-01-01T00:00:00.000Z",
      e: { name: "Error", message: "x" },
      l: [1]
    }
  ],
  ["a value that is used twice", ((shared) => [shared, shared])({ a: 1 }), [{ a: 1 }, { a: 1 }]]
]

const cyclic: { self?: unknown; a: number } = { a: 1 }
cyclic.self = cyclic
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const deep = (levels: number): unknown => {
  let value: unknown = "end"
  for (let i = 0; i < levels; i++) value = [value]
  return value
}
const doubled = (levels: number): unknown => {
  let value: unknown = "end"
  for (let i = 0; i < levels; i++) value = { a: value, b: value }
  return value
}

/** Values that cannot be written completely: what is written, and what the developer reads. */
const partly: ReadonlyArray<readonly [name: string, value: unknown, form: Json, warning: RegExp]> = [
  ["not a number", { a: Number.NaN }, { a: null }, /^act returned a value of which a part is lost: \$\.a is NaN$/],
  ["a function", { f: () => 1, b: 1 }, { b: 1 }, /\$\.f is a function/],
  ["a function alone", () => 1, null, /\$ is a function/],
  ["a symbol in a list", [Symbol("s"), 1], [null, 1], /\$\[0\] is a symbol/],
  ["a cycle", cyclic, { a: 1, self: "[cycle]" }, /\$\.self contains itself/],
  [
    "a getter that throws",
    {
      get secret(): string {
        throw new Error("trap")
      },
      b: 1
    },
    { b: 1 },
    /\$\.secret cannot be read: trap/
  ],
  [
    "toJSON that throws",
    {
      toJSON: () => {
        throw new Error("trap")
      },
      b: 1
    },
    { b: 1 },
    /\$\.toJSON failed: trap/
  ],
  ["a revoked proxy", [revoked.proxy, 1], [null, 1], /\$\[0\] cannot be read: /],
  [
    "a proxy that refuses everything",
    new Proxy(
      {},
      new Proxy({}, {
        get: () => {
          throw new Error("trap")
        }
      })
    ),
    null,
    /\$ cannot be read: trap/
  ],
  ["a promise in a field", { a: Promise.resolve(1) }, { a: null }, /\$\.a is a promise: await it/],
  [
    "more than 64 levels",
    deep(70),
    JSON.parse(`${"[".repeat(64)}"[nested deeper than 64 levels]"${"]".repeat(64)}`) as Json,
    /nested deeper than 64 levels/
  ]
]

describe("what a tool returns", () => {
  for (const [name, value, form] of forms) {
    it(`has its documented form: ${name}`, async () => {
      const read = await modelReads(() => value)
      assert.deepStrictEqual(read, { content: form, isError: undefined, warnings: [] })
      assert.deepStrictEqual((await modelReads(async () => value)).content, form)
      assert.deepStrictEqual((await modelReads(() => Effect.succeed(value))).content, form)
    })
  }

  for (const [name, value, form, warning] of partly) {
    it(`is written as far as possible, with a warning: ${name}`, async () => {
      const { content, isError, warnings } = await modelReads(() => value)
      assert.deepStrictEqual(content, form)
      assert.isUndefined(isError)
      assert.lengthOf(warnings, 1)
      assert.match(warnings[0]!, warning)
    })
  }

  it("gives one warning that has at most five of the lost parts", async () => {
    const { warnings } = await modelReads(() => Array.from({ length: 50 }, () => () => 1))
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0]!, /\$\[4\] is a function; and 45 more$/)
  })

  it("is read once, so that a getter cannot answer differently the second time", async () => {
    let reads = 0
    const { content } = await modelReads(() => ({
      get n() {
        return ++reads === 1 ? "one" : () => 1
      }
    }))
    assert.deepStrictEqual(content, { n: "one" })
    assert.strictEqual(reads, 1)
  })

  it.effect.prop(
    "is what JSON.stringify writes, for everything that JSON can hold",
    [JsonValue],
    ([value]) =>
      Effect.promise(async () =>
        assert.strictEqual(JSON.stringify((await modelReads(() => value)).content), JSON.stringify(value))
      )
  )

  it("is bounded: a small value that refers to its parts many times is cut, with a warning", async () => {
    const { content, isError, warnings } = await modelReads(() => doubled(40))
    assert.isUndefined(isError)
    assert.match(warnings.join(), /it has more than 250000 values/)
    assert.isBelow(JSON.stringify(content).length, 20_000_000)
  })

  it.each([
    ["a million elements", () => Array.from({ length: 1_000_000 }, (_, n) => n)],
    ["a collection without an end", () => new Endless()]
  ])("keeps the beginning of %s, and says so", async (_, returns) => {
    const { content, isError, warnings } = await modelReads(returns)
    assert.isUndefined(isError)
    assert.lengthOf(content as ReadonlyArray<Json>, 249_999)
    assert.match(warnings.join(), /it has more than 250000 values: the others are left out/)
  })

  it("is whole with two hundred thousand elements", async () => {
    const { content, warnings } = await modelReads(() => Array.from({ length: 200_000 }, (_, n) => n))
    assert.lengthOf(content as ReadonlyArray<Json>, 200_000)
    assert.deepStrictEqual(warnings, [])
  })

  it("counts as success for the hooks too, so that nothing repeats a tool that ran", async () => {
    const seen: Array<boolean> = []
    await using agent = createAgent({
      provider: scripted([asks(["act", {}])]).provider,
      tools: [defineTool({ name: "act", description: "", input: anything, execute: () => cyclic })],
      hooks: [{ name: "see", postToolCall: ({ result }) => void seen.push(result.ok) }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, [true])
  })
})
