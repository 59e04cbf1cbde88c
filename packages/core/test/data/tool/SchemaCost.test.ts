/** What checking a value against a JSON Schema can cost. */
import { assert, describe, it } from "@effect/vitest"
import { cpuMs } from "../../../../../test/support/cpu.ts"
import type { Json, JsonObject } from "../../../src/data/Json.ts"
import { type SchemaCost, schemaCost } from "../../../src/data/tool/SchemaCost.ts"

const list = <A>(length: number, make: (index: number) => A): Array<A> => Array.from({ length }, (_, n) => make(n))
const ref = (name: string) => ({ $ref: `#/$defs/${name}` })
const object = (x: Json, more: JsonObject = {}): JsonObject => ({ type: "object", properties: { x }, ...more })
const text = { type: "string" }

/** Definitions of which each has the next one twice. */
const doubling = (depth: number, keyword: string): JsonObject => ({
  $defs: Object.fromEntries(
    list(depth, (n) => [`d${n}`, n === depth - 1 ? text : { [keyword]: [ref(`d${n + 1}`), ref(`d${n + 1}`)] }])
  ),
  ...object(ref("d0"))
})
const recursive = (...branches: ReadonlyArray<Json>): JsonObject => ({
  $defs: { v: { anyOf: [text, ...branches] } },
  ...object(ref("v"))
})
const nested = (depth: number): JsonObject => depth === 0 ? text : { anyOf: [nested(depth - 1), { type: "number" }] }
const tree = (depth: number): JsonObject => depth === 0 ? text : { anyOf: [tree(depth - 1), tree(depth - 1)] }
const tagged = (tag: string) => object(ref("v"), { properties: { t: { const: tag }, x: ref("v") }, required: ["t"] })

const schemas: ReadonlyArray<readonly [what: string, schema: JsonObject, cost: SchemaCost]> = [
  ["no rules", {}, "bounded"],
  ["a few properties", { type: "object", properties: { a: text, b: { enum: ["x", "y"] } } }, "bounded"],
  ["a thousand properties", { properties: Object.fromEntries(list(1_000, (n) => [`p${n}`, text])) }, "bounded"],
  ["a nest of anyOf", object(nested(60)), "bounded"],
  ["ten definitions of which each has the next one twice", doubling(10, "anyOf"), "bounded"],
  ["a list", recursive({ type: "array", items: ref("v") }), "bounded"],
  ["any JSON", recursive({ type: "array", items: ref("v") }, { additionalProperties: ref("v") }), "bounded"],
  ["a tree", recursive({ properties: { left: ref("v"), right: ref("v") } }), "bounded"],
  ["a tree whose nodes have different tags", recursive(tagged("and"), tagged("or")), "bounded"],
  ["the whole schema in itself", object({ $ref: "#" }), "bounded"],
  ["a definition with a slash", { $defs: { "a/b": text }, ...object({ $ref: "#/$defs/a~1b" }) }, "bounded"],
  ["references that lead nowhere", object({ anyOf: [ref("gone"), { $ref: "https://example.com/x" }] }), "bounded"],
  ["a constant that looks like a schema", object({ const: doubling(24, "anyOf") }), "bounded"],
  ["thousands of branches", object({ anyOf: list(5_000, (n) => ({ const: n })) }), "large"],
  ["thousands of references", { $defs: { a: text }, anyOf: list(4_000, () => ref("a")) }, "large"],
  ["a long enum", object({ enum: list(100_000, (n) => `v${n}`) }), "large"],
  ["a full tree of anyOf", object(tree(12)), "large"],
  ["a very large tree of anyOf", object(tree(15)), "expanding"],
  ["two dozen definitions of which each has the next one twice", doubling(24, "anyOf"), "expanding"],
  ["the same with oneOf", doubling(24, "oneOf"), "expanding"],
  ["the same with allOf", doubling(24, "allOf"), "expanding"],
  ["branches that check the same part again", recursive(object(ref("v")), object(ref("v"))), "ambiguous"],
  ["the same in an allOf", recursive({ allOf: [object(ref("v")), object(ref("v"))] }), "ambiguous"],
  ["the same with equal tags", recursive(tagged("and"), tagged("and")), "ambiguous"],
  ["a definition that is only itself", { $defs: { v: ref("v") }, ...object(ref("v")) }, "ambiguous"]
]

describe("the cost of a JSON Schema", () => {
  it.each(schemas)("with %s is estimated in a moment", (_what, schema, cost) => {
    const before = cpuMs()
    assert.strictEqual(schemaCost(schema), cost)
    assert.isBelow(cpuMs() - before, 200)
  })
})
