/** MCP servers that do not answer, list without end, or have schemas whose check would take hours. */
import { createAgent } from "@belay/core/createAgent"
import type { Json, JsonObject } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as McpServers from "@belay/providers/McpServers"
import * as McpTools from "@belay/providers/McpTools"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { assert, describe, it, vi } from "vitest"
import { leastCpuMs } from "../../../../test/support/cpu.ts"

const tool = (name: string, inputSchema: JsonObject = { type: "object" }) => ({ name, inputSchema })

/** A client whose lists are made by a function. */
const listing = (listTools: McpTools.Client["listTools"]): McpTools.Client => ({
  listTools,
  callTool: async () => ({ content: [{ type: "text", text: "called" }] })
})
const failing = (promise: Promise<unknown>): Promise<string> => promise.then(() => assert.fail("expected it"), String)
const never = new Promise<never>(() => {})

describe("a list of tools", () => {
  it("that never comes fails after `timeoutMs`, and the request is cancelled", async () => {
    const signals: Array<AbortSignal> = []
    const client = listing((_page, { signal }) => {
      signals.push(signal)
      return never
    })
    assert.strictEqual(
      await failing(McpTools.fromClient(client, { server: "s", timeoutMs: 5 })),
      "McpError: s cannot list its tools: it took longer than 5 ms"
    )
    assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true])
  })

  it("has this time for all its pages together", async () => {
    let pages = 0
    const client = listing(async () => {
      // A page takes more than a millisecond, and there is always another one.
      await new Promise((resolve) => setTimeout(resolve, 2))
      return { tools: [], nextCursor: String(++pages) }
    })
    assert.match(await failing(McpTools.fromClient(client, { server: "s", timeoutMs: 20 })), /longer than 20 ms/)
    assert.isAtMost(pages, 20)
  })

  it("leaves no timer behind", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
    const before = timers()
    await McpTools.fromClient(listing(async () => ({ tools: [tool("a")] })), { server: "s" })
    // Timers of an earlier test may end meanwhile.
    await vi.waitFor(() => assert.isAtMost(timers(), before))
  })

  it("of more than 5,000 tools is refused, in one page or in many", async () => {
    const one = listing(async () => ({ tools: Array.from({ length: 200_000 }, (_, n) => tool(`t${n}`)) }))
    assert.match(await failing(McpTools.fromClient(one, { server: "s" })), /it has more than 5000/)
    let pages = 0
    const many = listing(async () => {
      pages++
      return { tools: Array.from({ length: 100 }, (_, n) => tool(`t${pages}_${n}`)), nextCursor: String(pages) }
    })
    assert.match(await failing(McpTools.fromClient(many, { server: "s" })), /it has more than 5000/)
    assert.strictEqual(pages, 51)
    const servers = McpServers.make({ s: { client: one } })
    assert.match(await failing(Effect.runPromise(servers.listTools("s"))), /it has more than 5000/)
  })

  it("is not asked for with options that are unknown or not valid", async () => {
    const client = listing(async () => ({ tools: [] }))
    const invalid: ReadonlyArray<readonly [object, RegExp]> = [
      [{ server: "s", timoutMs: 5 }, /timoutMs.*did you mean "timeoutMs"/],
      [{ server: "s", timeoutMs: 0 }, /McpTools\.timeoutMs/],
      [{ server: "s", timeoutMs: Number.NaN }, /McpTools\.timeoutMs/],
      [{ timeoutMs: 5 }, /server/]
    ]
    for (const [options, message] of invalid) {
      assert.match(await failing(McpTools.fromClient(client, options as never)), message)
    }
  })
})

const ref = (name: string) => ({ $ref: `#/$defs/${name}` })
const list = <A>(length: number, make: (index: number) => A): Array<A> => Array.from({ length }, (_, n) => make(n))
const object = (x: Json): JsonObject => ({ type: "object", properties: { x }, required: ["x"] })
const deep = (depth: number): Json => depth === 0 ? 1 : { x: deep(depth - 1) }
const nested = (depth: number): JsonObject =>
  depth === 0 ? { type: "string" } : { anyOf: [nested(depth - 1), { type: "number" }] }
const tree = (depth: number): JsonObject =>
  depth === 0 ? { type: "string" } : { anyOf: [tree(depth - 1), tree(depth - 1)] }
const doubling = (keyword: string): JsonObject => ({
  $defs: Object.fromEntries(
    list(24, (n) => [`d${n}`, n === 23 ? { type: "string" } : { [keyword]: [ref(`d${n + 1}`), ref(`d${n + 1}`)] }])
  ),
  ...object(ref("d0"))
})

/** Schemas, arguments that do not fit them, and whether only the server checks the arguments. */
const bombs: { readonly [what: string]: readonly [schema: JsonObject, args: Json, isLeft: boolean] } = {
  "a nest of anyOf": [object(nested(25)), { x: {} }, false],
  "a full tree of anyOf": [object(tree(13)), { x: {} }, true],
  "definitions that double each other with anyOf": [doubling("anyOf"), { x: 1 }, true],
  "definitions that double each other with allOf": [doubling("allOf"), { x: 1 }, true],
  "thousands of references": [
    { $defs: { a: { type: "string" } }, properties: Object.fromEntries(list(5_000, (n) => [`p${n}`, ref("a")])) },
    { p1: 1 },
    true
  ],
  "thousands of branches": [object({ anyOf: list(10_000, (n) => object({ const: n })) }), { x: {} }, true],
  "a very long enum": [object({ enum: list(100_000, (n) => `v${n}`) }), { x: 1 }, true],
  "a recursion that doubles with each level of the arguments": [
    { $defs: { v: { anyOf: [object(ref("v")), object(ref("v")), { type: "string" }] } }, ...object(ref("v")) },
    deep(20),
    true
  ]
}

/** Schemas that are each just small enough to be checked, and bombs. */
const costly: { readonly [what: string]: () => JsonObject } = {
  "a full tree of anyOf": () => object(tree(10)),
  "definitions that double each other": () => doubling("allOf"),
  "thousands of references": () => ({
    $defs: { a: { type: "string" } },
    properties: Object.fromEntries(list(2_300, (n) => [`p${n}`, ref("a")]))
  }),
  "thousands of properties": () => ({
    properties: Object.fromEntries(list(1_600, (n) => [`p${n}`, { type: "string" }]))
  }),
  "a long enum": () => object({ enum: list(4_900, (n) => `v${n}`) }),
  "hundreds of branches": () => object({ anyOf: list(600, (n) => object({ const: n })) })
}

describe("the schemas of all tools together", () => {
  it.each(Object.entries(costly))("cost less than a second of CPU: 1,000 tools with %s", async (_what, make) => {
    const schema = make()
    const client = listing(async () => ({ tools: list(1_000, (n) => tool(`t${n}`, schema)) }))
    await createAgent({ provider: Scripted.make(["done"]) }).run("go")
    const cost = await leastCpuMs(1_000, async () => {
      const tools = await McpTools.fromClient(client, { server: "s" })
      const provider = Scripted.make([Scripted.toolCalls({ name: "mcp__s__t999", args: { x: {} } }), "done"])
      await using agent = createAgent({ provider, tools })
      const { messages } = await agent.run("go")
      // The last tools are checked by the server.
      assert.strictEqual(messages.filter(({ role }) => role === "tool").map(text).join(), "called")
      assert.deepStrictEqual(tools[999]!.jsonSchema, schema)
    })
    assert.isBelow(cost, 1_000)
  })

  it("are all checked here if they have the usual size", async () => {
    const schema = {
      type: "object",
      properties: Object.fromEntries(list(6, (n) => [`p${n}`, { type: "string", description: "A text" }])),
      required: ["p0"]
    }
    const client = listing(async () => ({ tools: list(1_000, (n) => tool(`t${n}`, schema)) }))
    const tools = await McpTools.fromClient(client, { server: "s" })
    assert.isTrue(tools.every(({ jsonSchema }) => jsonSchema === undefined))
  })

  it("are limited for each server alone", async () => {
    const client = listing(async () => ({ tools: list(1_000, (n) => tool(`t${n}`, object(tree(10)))) }))
    await McpTools.fromClient(client, { server: "s" })
    const other = await McpTools.fromClient(listing(async () => ({ tools: [tool("a")] })), { server: "o" })
    assert.isUndefined(other[0]!.jsonSchema)
  })
})

describe("the schema of a tool", () => {
  for (const [what, [schema, args, isLeft]] of Object.entries(bombs)) {
    it(`with ${what} costs less than 200 ms of CPU, from the list to the result`, async () => {
      const client = listing(async () => ({ tools: [tool("act", schema)] }))
      // The first agent of a process loads more than its tools need.
      await createAgent({ provider: Scripted.make(["done"]) }).run("go")
      const cost = await leastCpuMs(200, async () => {
        const tools = await McpTools.fromClient(client, { server: "s" })
        const provider = Scripted.make([Scripted.toolCalls({ name: "mcp__s__act", args }), "done"])
        await using agent = createAgent({ provider, tools })
        const { messages } = await agent.run("go")
        const said = messages.filter(({ role }) => role === "tool").map(text).join()
        assert.match(said, isLeft ? /^called$/ : /do not fit the tool's schema/)
        // The model sees the schema of the server in any case.
        assert.deepStrictEqual(tools[0]!.jsonSchema ?? tools[0]!.input, schema)
      })
      assert.isBelow(cost, 200)
    })
  }
})
