/** What the types of the two faces promise and refuse. Compiled, not run. */
// @effect-diagnostics missingEffectContext:off -- some of the mistakes below are Effects that require services
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z } from "zod"
import * as AgentRuntime from "../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../src/agent/createAgent.ts"
import { type ArgsOf, defineTool } from "../../src/agent/defineTool.ts"
import type { Plugin } from "../../src/agent/Plugin.ts"
import type { ChainError, ConfigError } from "../../src/data/AgentError.ts"
import type { JsonObject } from "../../src/data/Json.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import type { LlmProvider } from "../../src/port/LlmProvider.ts"

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

class Db extends Context.Service<Db, { readonly n: number }>()("test/types/Db") {}
class Log extends Context.Service<Log, { readonly m: number }>()("test/types/Log") {}

declare const provider: LlmProvider
declare const db: Layer.Layer<Db>
declare const both: Layer.Layer<Db | Log>

const needsDb = defineHook({
  name: "db",
  *preTurn() {
    yield* Db
  }
})
const needsLog = defineHook({
  name: "log",
  *postTurn() {
    yield* Log
  }
})
const plain = defineHook({ name: "plain", preTurn: () => undefined })

// The capabilities of hooks.
defineHook({
  name: "borrowing",
  *preTurn(_input, ctx) {
    const { content } = yield* ctx.mcp.callTool("files", "read", { path: "a" })
    same<typeof content, ReadonlyArray<JsonObject>>(true)
    // @ts-expect-error -- arguments of MCP tools are objects
    yield* ctx.mcp.callTool("files", "read", ["a"])
    // @ts-expect-error -- a call names its server
    yield* ctx.mcp.callTool("read", {})
    yield* ctx.llm({ prompt: "?", tools: ctx.tools })
    // @ts-expect-error -- a tool has a schema
    yield* ctx.llm({ prompt: "?", tools: [{ name: "a", description: "" }] })
    // @ts-expect-error -- what a model may call cannot be changed
    ctx.tools.push(...ctx.tools)
  }
})

same<typeof needsDb, AgentHook<Db>>(true)
same<typeof plain, AgentHook>(true)

export const accepted = () => [
  createAgent({ provider }),
  createAgent({ provider, hooks: [plain] }),
  createAgent({ provider, hooks: [needsDb], layer: db }),
  createAgent({ provider, hooks: [needsDb, plain, needsLog], layer: both })
]

// @ts-expect-error: a hook needs a service, so a layer is needed
export const withoutLayer = () => createAgent({ provider, hooks: [needsDb] })
// @ts-expect-error: the layer does not provide everything
export const tooLittle = () => createAgent({ provider, hooks: [needsDb, needsLog], layer: db })
// @ts-expect-error: no provider
export const withoutProvider = () => createAgent({ hooks: [plain] })
// @ts-expect-error: no such limit
export const wrongLimit = () => createAgent({ provider, limits: { step: 3 } })
// @ts-expect-error: no such option
export const wrongOption = () => createAgent({ provider, tool: [] })

export const layers = () => {
  same<ReturnType<typeof complete>, Layer.Layer<AgentRuntime.AgentRuntime, ConfigError | ChainError>>(true)
  same<Layer.Services<ReturnType<typeof open>>, Db | Log | LlmProvider>(true)
  const made = AgentRuntime.make({ provider })
  same<Effect.Services<typeof made>, import("effect/Scope").Scope>(true)
}
const complete = () => AgentRuntime.layer({ provider, hooks: [plain] })
const open = () => AgentRuntime.layer({ hooks: [needsDb, needsLog] })

const effectArgs = Schema.Struct({ at: Schema.DateFromString })
same<ArgsOf<typeof effectArgs>, { readonly at: Date }>(true)
const zodArgs = z.object({ n: z.string().transform(Number) })
same<ArgsOf<typeof zodArgs>, { n: number }>(true)
const valibotArgs = v.object({ s: v.string() })
same<ArgsOf<typeof valibotArgs>, { s: string }>(true)
same<ArgsOf<JsonObject>, JsonObject>(true)

const write = defineTool({
  name: "write",
  description: "Writes",
  input: Schema.Struct({ path: Schema.String }),
  execute: ({ path }) => path.length
})

interface Found {
  readonly id: number
  readonly title?: string
  readonly note: string | undefined
  readonly at: Date
  readonly tags: ReadonlyArray<string>
}
class Order {
  readonly id = 1n
  total() {
    return 1
  }
}
declare const found: Found

/** Whatever a tool returns, its type is accepted. */
export const returns = [
  () => found,
  async (): Promise<ReadonlyArray<Found>> => [found],
  () => Effect.succeed(found),
  () => Effect.fail("no"),
  () => new Order(),
  () => new Map([[new URL("https://a.b"), new Set([1n])]]),
  () => new Uint8Array(1),
  () => new Error("returned"),
  () => undefined,
  () => {},
  async () => {},
  (): unknown => found,
  async function*(): AsyncGenerator<Found, Order> {
    yield found
    return new Order()
  }
].map((execute) => defineTool({ name: "t", description: "", input: valibotArgs, execute }))
export const generators = [
  defineTool({
    name: "t",
    description: "",
    input: valibotArgs,
    async *execute({ s }, ctx) {
      same<typeof s, string>(true)
      ctx.progress({ at: new Date() })
      yield s.length
      return found
    }
  }),
  defineTool({
    name: "t",
    description: "",
    input: valibotArgs,
    execute: Effect.fnUntraced(function*({ s }, ctx) {
      ctx.progress(yield* Effect.succeed(s))
      return found
    })
  })
]

export const rejected = () => [
  defineTool({
    name: "wrong",
    description: "",
    input: zodArgs,
    // @ts-expect-error: n is a number after the transformation
    execute: ({ n }) => n.toUpperCase()
  }),
  defineTool({
    name: "wrong",
    description: "",
    input: zodArgs,
    // @ts-expect-error: nothing provides the services that it requires
    execute: () => Effect.service(Db)
  }),
  defineTool({
    name: "wrong",
    description: "",
    input: zodArgs,
    // @ts-expect-error: one of the outcomes requires services
    execute: ({ n }) => n > 1 ? Effect.service(Db) : "one"
  })
]

export const typed = defineHook({
  name: "t",
  tools: write,
  preToolCall: ({ args }) => args.path === "/" ? HookAction.reject("no") : undefined
})
export const mistyped = defineHook({
  name: "t",
  tools: write,
  // @ts-expect-error: the tool has no such argument
  preToolCall: ({ args }) => args.file === "/" ? HookAction.reject("no") : undefined
})

// Plugins whose hooks need services.
const withDb: Plugin<Db> = { name: "p", hooks: [needsDb] }
createAgent({ provider, plugins: [withDb], layer: db })
createAgent({ provider, plugins: [withDb], hooks: [needsLog], layer: both })
createAgent({ provider, plugins: [withDb], hooks: [plain], layer: both })
// @ts-expect-error -- a plugin needs Db
createAgent({ provider, plugins: [withDb] })
// @ts-expect-error -- the layer has no Log
createAgent({ provider, plugins: [withDb], hooks: [needsLog], layer: db })
same<Layer.Services<ReturnType<typeof layerWithPlugin>>, Db | Log>(true)
const layerWithPlugin = () => AgentRuntime.layer({ provider, plugins: [withDb], hooks: [needsLog] })
