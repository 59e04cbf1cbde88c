/** What everybody sees is what the tool gets: for any schema and any arguments. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import { toJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as v from "valibot"
import { z } from "zod"
import * as mini from "zod/mini"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { type AnyTool, defineTool } from "../../../../src/agent/defineTool.ts"
import { make } from "../../../../src/agent/internal/tool/toolDispatcher.ts"
import { canonical, type Json, type JsonObject } from "../../../../src/data/Json.ts"
import type { InputSchema } from "../../../../src/data/tool/InputSchema.ts"
import { unrestricted } from "../../../../src/data/tool/Tool.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import type { DispatchContext } from "../../../../src/port/ToolDispatcher.ts"
import { asks, scripted } from "../../../support/model.ts"

/** A schema of the test. */
interface Subject {
  readonly library: string
  readonly input: InputSchema
  readonly jsonSchema?: JsonObject
  /** Decodes as the library does. Throws if the value does not fit. */
  readonly decode: (value: unknown) => unknown
  /** Encodes as the library does, if the schema can encode. */
  readonly encode?: (value: unknown) => unknown
  /** The keys that have defaults at the top. */
  readonly defaults: ReadonlyArray<string>
}

const byStandard = (input: StandardSchemaV1) => (value: unknown): unknown => {
  const result = input["~standard"].validate(value)
  if (result instanceof Promise || result.issues !== undefined) throw new Error("does not fit")
  return result.value
}

const day = z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() })
const lower = z.codec(z.string(), z.string(), {
  decode: (text) => text.toUpperCase(),
  encode: (text) => text.toLowerCase()
})
const zodBoth = z.object({
  on: day.default(new Date(0)),
  euros: z.number().default(500),
  inner: z.object({ n: z.int().default(3), tag: lower.optional() }).optional(),
  list: z.array(z.union([z.string(), z.object({ kind: z.literal("a"), x: z.number().default(1) })])).default([])
})
const zodOneWay = z.object({
  on: z.string().transform((text) => new Date(text)),
  euros: z.number().default(500),
  inner: z.object({ n: z.int().default(3), id: z.string().default(() => crypto.randomUUID()) }).prefault({})
})
const miniBoth = mini.object({ n: mini._default(mini.number(), 7), lower: mini.optional(lower) })
const effect = Schema.Struct({
  on: Schema.optionalKey(Schema.DateFromString),
  n: Schema.FiniteFromString.pipe(Schema.withDecodingDefaultKey(Effect.succeed("4"))),
  inner: Schema.optionalKey(
    Schema.Struct({ k: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("x"))) })
  )
})
const omitting = Schema.Struct({
  n: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(4), { encodingStrategy: "omit" })),
  text: Schema.optionalKey(Schema.String)
})
const ark = type({ "n": "number = 5", "text?": "string", "inner?": { deep: "string = 'x'" } })
const arkOneWay = type({ "on": "string.date.parse", "n": "number = 5" })
const valibot = v.object({
  n: v.optional(v.number(), 500),
  inner: v.optional(v.object({ k: v.optional(v.string(), "x") }), {}),
  text: v.optional(v.pipe(v.string(), v.trim()))
})
/** The same for the conversion, which does not know `trim`. */
const valibotPlain = v.object({ ...valibot.entries, text: v.optional(v.string()) })
const valibotOneWay = v.object({
  on: v.optional(v.pipe(v.string(), v.transform((text) => new Date(text))), "2026-01-01"),
  size: v.optional(v.pipe(v.string(), v.transform(Number)), "5"),
  id: v.optional(v.string(), () => crypto.randomUUID())
})
const json: JsonObject = {
  type: "object",
  properties: {
    n: { type: "number", default: 5 },
    inner: { type: "object", properties: { k: { type: "string", default: "x" } }, default: {} },
    list: { type: "array", items: { type: "object", properties: { k: { type: "string", default: "y" } } } },
    on: { $ref: "#/$defs/text" }
  },
  $defs: { text: { type: "string", default: "today" } }
}

const jsonDecode = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("does not fit")
  return value
}

const subjects: ReadonlyArray<Subject> = [
  {
    library: "zod",
    input: zodBoth,
    decode: byStandard(zodBoth),
    encode: (one) => z.encode(zodBoth, one as never),
    defaults: ["on", "euros", "list"]
  },
  { library: "zod, one way", input: zodOneWay, decode: byStandard(zodOneWay), defaults: ["euros", "inner"] },
  {
    library: "zod mini",
    input: miniBoth,
    jsonSchema: mini.toJSONSchema(miniBoth, { io: "input" }) as JsonObject,
    decode: byStandard(miniBoth),
    encode: (one) => mini.encode(miniBoth, one as never),
    defaults: ["n"]
  },
  {
    library: "Effect",
    input: effect,
    decode: Schema.decodeUnknownSync(effect),
    encode: Schema.encodeUnknownSync(effect),
    defaults: ["n"]
  },
  {
    library: "Effect, omitting defaults",
    input: omitting,
    decode: Schema.decodeUnknownSync(omitting),
    defaults: ["n"]
  },
  { library: "arktype", input: ark, decode: byStandard(ark), defaults: ["n"] },
  {
    library: "arktype, one way",
    input: arkOneWay,
    jsonSchema: { type: "object", properties: { on: { type: "string" }, n: { type: "number", default: 5 } } },
    decode: byStandard(arkOneWay),
    defaults: ["n"]
  },
  {
    library: "valibot",
    input: valibot,
    jsonSchema: toJsonSchema(valibotPlain, { typeMode: "input" }) as JsonObject,
    decode: byStandard(valibot),
    defaults: ["n", "inner"]
  },
  {
    library: "valibot, one way",
    input: valibotOneWay,
    jsonSchema: {
      type: "object",
      properties: {
        on: { type: "string", default: "2026-01-01" },
        size: { type: "string", default: "5" },
        id: { type: "string" }
      }
    },
    decode: byStandard(valibotOneWay),
    defaults: ["on", "size", "id"]
  },
  { library: "JSON Schema", input: json, decode: jsonDecode, defaults: ["n", "inner", "on"] }
]

/** Arguments that often fit one of the schemas, and sometimes any JSON. */
const anyArgs = (seed: number): Json => {
  const { below, chance } = random(seed)
  const text = (): Json => ["2026-01-01", " a ", "7", "x", ""][below(5)]!
  const number = (): Json => below(900) - 3
  const any = (): Json => [text(), number(), null, [], {}, [text()], true][below(7)]!
  const part = (name: string, value: () => Json): ReadonlyArray<readonly [string, Json]> =>
    chance(0.5) ? [] : [[name, chance(0.05) ? any() : value()]]
  const record = (...parts: ReadonlyArray<ReadonlyArray<readonly [string, Json]>>): Json =>
    Object.fromEntries(parts.flat())
  if (chance(0.05)) return any()
  return record(
    part("on", text),
    part("euros", number),
    part("n", () => chance(0.7) ? number() : text()),
    part("size", text),
    part("id", text),
    part("text", text),
    part("lower", text),
    part("inner", () => record(part("n", number), part("k", text), part("deep", text), part("tag", text))),
    part("list", () => [text(), record([["kind", "a"]], part("x", number))].slice(below(3))),
    chance(0.02) ? [["__proto__", text()]] : []
  )
}

const about = {
  timeoutMs: 1000,
  textLength: 1e6,
  onTimeout: () => () => {},
  progress: () => {},
  warn: () => {}
} as unknown as DispatchContext

/** Shows the arguments and runs the tool. Returns nothing if they do not fit. */
const showAndRun = async ({ input, jsonSchema }: Subject, args: Json) => {
  let got: unknown
  const tool = defineTool({
    name: "act",
    description: "Acts",
    input: input as JsonObject,
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    execute: (value) => void (got = value)
  })
  const dispatcher = Effect.runSync(Effect.fromResult(make([tool as AnyTool])))
  const read = async (value: Json) => {
    const decoded = dispatcher.decode(dispatcher.tools[0]!, value)
    return Effect.isEffect(decoded) ? Effect.runPromise(decoded) : decoded
  }
  const shown = await read(args)
  if (!shown.ok) return undefined
  await Effect.runPromise(dispatcher.dispatch({ id: "1", name: "act", args: shown.args }, unrestricted, about))
  return { shown: shown.args, got, again: await read(shown.args) }
}

describe("the arguments that everybody sees", () => {
  for (const subject of subjects) {
    it(`${subject.library}: decode to what the tool gets, have every default, and stay the same`, async () => {
      let fitting = 0
      for (let seed = 0; seed < 300; seed++) {
        const args = anyArgs(seed)
        const ran = await showAndRun(subject, args)
        const fits = !Array.isArray(args) && Exit.isSuccess(Effect.runSyncExit(Effect.try(() => subject.decode(args))))
        assert.strictEqual(ran !== undefined, subject.library === "JSON Schema" ? ran !== undefined : fits)
        if (ran === undefined) continue
        fitting++
        const { again, got, shown } = ran
        const what = `seed ${seed}: ${JSON.stringify(args)} is shown as ${JSON.stringify(shown)}`
        assert.deepStrictEqual(subject.decode(shown), got, what)
        assert.isTrue(again.ok && canonical(again.args) === canonical(shown), what)
        for (const key of subject.defaults) assert.isTrue(Object.hasOwn(shown as object, key), what)
        if (subject.encode !== undefined) assert.deepStrictEqual(subject.encode(got), shown, what)
      }
      assert.isAbove(fitting, 30)
    })
  }
})

describe("a guard", () => {
  const refund = (ran: Array<unknown>) =>
    defineTool({
      name: "refund",
      description: "Refunds",
      input: z.object({ euros: z.number().default(500), on: z.string().transform((text) => new Date(text)) }),
      execute: ({ euros }) => {
        ran.push(euros)
        return `refunded ${euros}`
      }
    })

  it("sees the default that the tool gets", async () => {
    const ran: Array<unknown> = []
    const agent = createAgent({
      provider: scripted([asks(["refund", { on: "2026-01-01" }], ["refund", { euros: 20, on: "2026-01-01" }]), "done"])
        .provider,
      tools: [refund(ran)],
      hooks: [{
        name: "small-refunds",
        kind: "policy",
        preToolCall: ({ args }) => (args as { euros: number }).euros > 100 ? HookAction.reject("too much") : undefined
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(ran, [20])
  })

  it("and a person, the policy and later hooks see it after a hook changed the arguments", async () => {
    const ran: Array<unknown> = []
    const seen: Array<unknown> = []
    const agent = createAgent({
      provider: scripted([asks(["refund", { euros: 1, on: "2026-01-01" }]), "done"]).provider,
      tools: [refund(ran)],
      policy: { check: ({ args }) => (seen.push(["policy", args]), { type: "allow", grant: unrestricted }) },
      hooks: [
        { name: "forgets", preToolCall: (call) => HookAction.transform({ ...call, args: { on: "2027-01-01" } }) },
        { name: "sees", preToolCall: ({ args }) => void seen.push(["hook", args]) }
      ]
    })
    await agent.run("go")
    const filled = { on: "2027-01-01", euros: 500 }
    assert.deepStrictEqual(ran, [500])
    assert.deepStrictEqual(seen, [["policy", { euros: 1, on: "2026-01-01" }], ["hook", filled], ["policy", filled]])
  })

  it("sees no default that does not fit its schema, beside those that do", async () => {
    const seen: Array<unknown> = []
    const sizes = {
      anyOf: [
        { properties: { size: { type: "integer" }, unit: { default: "pieces" } } },
        { properties: { size: { type: "number" }, unit: { default: "kg" } } }
      ]
    }
    const agent = createAgent({
      provider: scripted([asks(["act", {}], ["act", { of: { size: 1 } }], ["act", { of: { size: 1.5 } }]), "done"])
        .provider,
      tools: [defineTool({
        name: "act",
        description: "Acts",
        input: {
          type: "object",
          properties: {
            bad: { type: "string", minLength: 3, default: "x" },
            good: { type: "string", default: "y" },
            of: { type: "object", ...sizes }
          }
        },
        execute: () => "acted"
      })],
      hooks: [{ name: "sees", preToolCall: ({ args }) => void seen.push(args) }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, [
      { good: "y" },
      { of: { size: 1, unit: "pieces" }, good: "y" },
      { of: { size: 1.5, unit: "kg" }, good: "y" }
    ])
  })

  it("sees one value of a default that a function makes, which is the one that the tool gets", async () => {
    const ran: Array<unknown> = []
    const seen: Array<unknown> = []
    const agent = createAgent({
      provider: scripted([asks(["act", { on: "2026-01-01" }]), "done"]).provider,
      tools: [defineTool({
        name: "act",
        description: "Acts",
        input: z.object({
          id: z.string().default(() => crypto.randomUUID()),
          on: z.string().transform((at) => new Date(at))
        }),
        execute: ({ id }) => void ran.push(id)
      })],
      hooks: [{ name: "sees", preToolCall: ({ args }) => void seen.push((args as { id: string }).id) }]
    })
    await agent.run("go")
    assert.strictEqual(typeof ran[0], "string")
    assert.deepStrictEqual(seen, ran)
  })
})
