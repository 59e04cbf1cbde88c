/** Argument schemas of every kind, and how they decode what a model wrote. */
import { assert, describe, it } from "@effect/vitest"
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z } from "zod"
import { cpuMs } from "../../../../../../test/support/cpu.ts"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { type AnyTool, defineTool } from "../../../../src/agent/defineTool.ts"
import type { JsonObject } from "../../../../src/data/Json.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { assertValid, line } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"
import { step } from "../../../support/step.ts"

describe("argument schemas", () => {
  const ran: Array<unknown> = []
  const execute = (args: unknown) => {
    ran.push(args)
    return "ok"
  }
  const description = "Sets the volume"
  const plain: JsonObject = {
    type: "object",
    properties: { level: { type: "integer", minimum: 0, maximum: 10 }, unit: { type: "string" } },
    required: ["level"],
    additionalProperties: false
  }
  const valibot = v.object({
    level: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
    unit: v.optional(v.string())
  })
  const tools: ReadonlyArray<readonly [string, AnyTool]> = [
    [
      "zod",
      defineTool({
        name: "act",
        description,
        input: z.object({ level: z.int().min(0).max(10), unit: z.string().optional() }),
        execute
      })
    ],
    ["valibot", defineTool({ name: "act", description, input: valibot, execute })],
    [
      "valibot as a standard JSON schema",
      defineTool({ name: "act", description, input: toStandardJsonSchema(valibot), execute })
    ],
    [
      "valibot with a JSON Schema",
      defineTool({ name: "act", description, input: valibot, jsonSchema: toJsonSchema(valibot) as JsonObject, execute })
    ],
    [
      "arktype",
      defineTool({
        name: "act",
        description,
        input: type({ level: "0 <= number.integer <= 10", "unit?": "string" }),
        execute
      })
    ],
    [
      "Effect Schema",
      defineTool({
        name: "act",
        description,
        input: Schema.Struct({
          level: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })),
          unit: Schema.optionalKey(Schema.String)
        }),
        execute
      })
    ],
    ["JSON Schema", defineTool({ name: "act", description, input: plain, execute })]
  ]

  for (const [vendor, tool] of tools) {
    it(`of ${vendor} reach the model, accept good arguments and explain what is wrong with bad ones`, async () => {
      ran.length = 0
      const { requests, text } = await step([tool], [
        { args: { level: 3 } },
        { args: { level: 4, unit: "dB" } },
        { args: { level: 11 } },
        { args: { level: "3" } },
        { args: {} },
        { args: null },
        { args: [] },
        { args: "3" }
      ])
      assert.deepStrictEqual(ran, [{ level: 3 }, { level: 4, unit: "dB" }])
      assert.lengthOf(text.match(/tool act!: the arguments do not fit the tool's schema: /g) ?? [], 6)
      assert.match(text, /do not fit the tool's schema: level: /)
      const told = requests[0]!.tools[0]!.inputSchema as { readonly properties: { readonly level: JsonObject } }
      assert.strictEqual(told.properties.level["type"], "integer")
      assert.strictEqual(told.properties.level["maximum"], 10)
    })
  }

  it("of a library that cannot write itself as JSON Schema are refused at once, with what to do", () => {
    const { provider } = scripted([])
    const unwritable = [
      [
        v.object({ level: v.custom(() => true) }),
        /\(valibot\) cannot be written as JSON Schema by itself: .*custom.*: pass/
      ],
      [z.object({ level: z.number(), at: z.date() }), /\(zod\) cannot be written .*Date.*: pass jsonSchema/],
      [
        { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) } },
        /tool "act": its schema \(own\) cannot be written as JSON Schema by itself: pass jsonSchema as well/
      ]
    ] as const
    for (const [input, message] of unwritable) {
      const tool: AnyTool = { name: "act", description, input, execute }
      assert.throws(() => createAgent({ provider, tools: [tool] }), message)
      createAgent({ provider, tools: [{ ...tool, jsonSchema: { type: "object" } }] })
    }
    assert.throws(
      () => createAgent({ provider, tools: [{ ...tools[0]![1], input: 3 as never }] }),
      /input must be a Standard Schema/
    )
  })

  it("of a size that references multiply are refused at once, because their check could take hours", () => {
    const twice = (next: string) => ({ anyOf: [{ $ref: `#/$defs/${next}` }, { $ref: `#/$defs/${next}` }] })
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, twice(`d${n + 1}`)]))
    const input = { $defs: { ...$defs, d40: { type: "string" } }, type: "object", properties: { x: twice("d0") } }
    const before = cpuMs()
    assert.throws(
      () => createAgent({ provider: scripted([]).provider, tools: [{ name: "act", description, input, execute }] }),
      "tool \"act\": its schema has more than 10,000 parts with its references in place: use fewer references"
    )
    assert.isBelow(cpuMs() - before, 200)
  })

  it("that make a Date give it to the tool, while hooks see the JSON", async () => {
    const rich: ReadonlyArray<AnyTool["input"]> = [
      Schema.Struct({ at: Schema.DateFromString }),
      z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })
    ]
    for (const input of rich) {
      const dates: Array<unknown> = []
      const seen: Array<unknown> = []
      const tool = defineTool({
        name: "act",
        description,
        input: input as never,
        jsonSchema: { type: "object", properties: { at: { type: "string" } } },
        execute: ({ at }: { readonly at: unknown }) => {
          dates.push(at)
          return null
        }
      })
      const hook: AgentHook = {
        name: "h",
        preToolCall: (call) => {
          seen.push(call.args)
          const { at } = call.args as { readonly at: string }
          return at.startsWith("2025")
            ? HookAction.transform({ ...call, args: { at: at.replace("2025", "2026") } })
            : undefined
        }
      }
      await step([tool as AnyTool], [{ args: { at: "2025-01-01T00:00:00.000Z" } }, {
        args: { at: "2024-01-01T00:00:00.000Z" }
      }], [hook])
      assert.deepStrictEqual(seen, [{ at: "2025-01-01T00:00:00.000Z" }, { at: "2024-01-01T00:00:00.000Z" }])
      assert.deepStrictEqual(dates, [new Date("2026-01-01T00:00:00.000Z"), new Date("2024-01-01T00:00:00.000Z")])
    }
  })

  it("that make another JSON value are read once: hooks may change the JSON, a person may approve it", async () => {
    const got: Array<unknown> = []
    const tool = defineTool({
      name: "act",
      description,
      input: z.object({ n: z.string().transform(Number) }),
      jsonSchema: { type: "object" },
      execute: ({ n }) => {
        got.push(n)
        return null
      }
    })
    await step([tool], [{ args: { n: "5" } }], [{
      name: "h",
      preToolCall: (call) => HookAction.transform({ ...call, args: { n: `${(call.args as { n: string }).n}7` } })
    }])
    const model = scripted([asks(["act", { n: "8" }, "a"])])
    await using agent = createAgent({
      provider: model.provider,
      tools: [tool],
      hooks: [{ name: "approval", preToolCall: () => HookAction.ask("?") }],
      onAsk: () => ({ type: "approve" })
    })
    await agent.run("go")
    assert.deepStrictEqual(got, [57, 8])
  })

  it("read what a hook made of the arguments: what does not fit is the hook's failure, by its policy", async () => {
    const cases = [
      [{ failOpen: true }, ["a"], /tool act: ok/],
      [{ failOpen: false }, [], /tool act!: hook h failed at preToolCall \(illegal\): .*path/],
      [{ onFailure: "abort" }, [], /tool act!: not run: hook h failed/]
    ] as const
    for (const [policy, paths, expected] of cases) {
      for (const late of [false, true]) {
        const got: Array<string> = []
        const act = defineTool({
          name: "act",
          description,
          input: Schema.Struct({ path: Schema.String }),
          execute: ({ path }) => {
            got.push(path)
            return "ok"
          }
        })
        const model = scripted([{ toolCalls: [{ id: "a", name: "act", args: { path: "a" } }] }])
        const spoil: AgentHook["preToolCall"] = (call) => HookAction.transform({ ...call, args: { path: 3 } })
        await using agent = createAgent({
          provider: model.provider,
          tools: [act],
          hooks: [{ name: "h", ...policy, preToolCall: late ? async (call, ctx) => spoil(call, ctx) as never : spoil }]
        })
        const result = await agent.run("go")
        assert.deepStrictEqual(got, [...paths])
        assert.match(line(result.messages), expected)
        assertValid(result.messages)
      }
    }
  })

  it("check arguments that are named like keywords of JSON Schema", async () => {
    const tool = defineTool({
      name: "act",
      description,
      input: {
        type: "object",
        properties: { pattern: { type: "string" }, if: { $ref: "#/$defs/not" } },
        required: ["pattern", "if"],
        $defs: { not: { type: "integer" } }
      },
      execute: () => "ran"
    })
    const { text } = await step([tool], [
      { args: { pattern: "*.ts", if: 1 } },
      { args: { pattern: 1, if: 1 } },
      { args: { pattern: "*.ts", if: "x" } }
    ])
    assert.match(text, /tool act: ran \| tool act!: [^|]*pattern[^|]* \| tool act!: [^|]*if/)
  })

  it("that fill in defaults show them to the hooks, so that what is approved is what runs", async () => {
    const seen: Array<unknown> = []
    const got: Array<unknown> = []
    const tool = defineTool({
      name: "act",
      description,
      input: z.object({ path: z.string(), force: z.boolean().default(true) }),
      execute: (args) => {
        got.push(args)
        return null
      }
    })
    await step([tool], [{ args: { path: "a" } }], [{ name: "h", preToolCall: ({ args }) => void seen.push(args) }])
    assert.deepStrictEqual(seen, [{ path: "a", force: true }])
    assert.deepStrictEqual(got, seen)
  })

  it("that fail, synchronously or later, or wait, fail only their call", async () => {
    const broken = z.object({ n: z.number() }).refine(() => {
      throw new Error("bug in a refinement")
    })
    const late = {
      "~standard": {
        version: 1 as const,
        vendor: "own",
        validate: async (value: unknown) => {
          await Promise.resolve()
          const { n } = value as { readonly n: number }
          if (n === 2) throw new Error("late bug")
          return n === 1 ? { issues: [{ message: "n must not be 1" }] } : { value: { n, more: true } }
        }
      }
    }
    const jsonSchema = { type: "object" } as const
    const act = defineTool({ name: "act", description, input: broken, jsonSchema, execute: () => "ran" })
    const slow = defineTool({ name: "slow", description, input: late, jsonSchema, execute: () => "ran" })
    const { text } = await step([act, slow], [
      { args: { n: 1 } },
      { name: "slow", args: { n: 0 } },
      { name: "slow", args: { n: 1 } },
      { name: "slow", args: { n: 2 } }
    ])
    assert.include(
      text,
      "tool act!: the arguments do not fit the tool's schema: its schema failed on them: bug in a refinement"
    )
    assert.include(text, "tool slow: ran | tool slow!: the arguments do not fit the tool's schema: n must not be 1")
    assert.include(text, "tool slow!: the arguments do not fit the tool's schema: its schema failed on them: late bug")
  })
})
