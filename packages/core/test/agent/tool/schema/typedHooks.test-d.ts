/** The types of hooks that name their tools. The compiler is the test. */
import { type } from "arktype"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z } from "zod"
import { agentTool } from "../../../../src/agent/agentTool.ts"
import type { Agent } from "../../../../src/agent/createAgent.ts"
import { defineTool, type ShownOf } from "../../../../src/agent/defineTool.ts"
import type { Json, JsonObject } from "../../../../src/data/Json.ts"
import { type AgentHook, defineHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const isExactly =
  <Expected>() => <Found>(_value: Found, ..._same: Equal<Expected, Found> extends true ? [] : [never]): void => {}
declare const shown: <S>(schema: S) => ShownOf<S>
declare const agent: Agent

// A key with a default is always there; a transformation shows what was written.
const zod = z.object({
  euros: z.number().default(500),
  on: z.string().transform((text) => new Date(text)),
  note: z.string().optional(),
  inner: z.object({ n: z.int().default(1) }).optional(),
  list: z.array(z.object({ k: z.string().default("x"), at: z.coerce.date<string>() }))
})
isExactly<{
  on: string
  note?: string | undefined
  inner?: { n: number } | undefined
  list: Array<{ at: string; k: string }>
  euros: number
}>()(shown(zod))
isExactly<{ n: number; id?: string | undefined }>()(
  shown(v.object({ id: v.optional(v.string()), n: v.optional(v.number(), 5) }))
)
isExactly<{ on: string; n: number }>()(shown(type({ "on": "string.date.parse", "n": "number = 5" })))
isExactly<{ readonly at: string; readonly n: number }>()(shown(Schema.Struct({
  at: Schema.DateFromString,
  n: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1)))
})))
isExactly<JsonObject>()(shown({ type: "object" } as JsonObject))

const refund = defineTool({ name: "refund", description: "", input: zod, execute: ({ on }) => on.getTime() })
const mail = defineTool({ name: "mail", description: "", input: v.object({ to: v.string() }), execute: () => "" })

// One tool.
isExactly<AgentHook>()(defineHook({
  name: "one",
  tools: refund,
  preToolCall: ({ args, name }) => {
    isExactly<"refund">()(name)
    isExactly<number>()(args.euros)
    isExactly<string>()(args.on)
    // @ts-expect-error -- there is no such argument
    void args.amount
    // @ts-expect-error -- hooks see what the model wrote, not the decoded value
    args.on.getTime()
    return args.euros > 100 ? HookAction.reject("too much") : undefined
  },
  postToolCall: ({ call }) => {
    isExactly<number>()(call.args.euros)
  },
  onPermission: ({ call }) => {
    isExactly<number>()(call.args.euros)
  },
  onToolDenied: ({ call }) => {
    isExactly<"refund">()(call.name)
  }
}))

// Several tools, told apart by name.
defineHook({
  name: "several",
  tools: [refund, mail],
  preToolCall: (call) => {
    if (call.name === "refund") return call.args.euros > 100 ? HookAction.reject("too much") : undefined
    isExactly<"mail">()(call.name)
    isExactly<{ to: string }>()(call.args)
    // @ts-expect-error -- the argument of the other tool
    void call.args.euros
    return undefined
  }
})

// Names and patterns have JSON.
defineHook({ name: "pattern", tools: ["mcp_*"], preToolCall: ({ args }) => isExactly<Json>()(args) })
defineHook({ name: "all", preToolCall: ({ args }) => isExactly<Json>()(args) })
defineHook({
  name: "mixed",
  tools: [refund, "mcp_*"],
  preToolCall: (call) => {
    // @ts-expect-error -- it may be a call of another tool
    void call.args.euros
  }
})

// A tool of an agent.
defineHook({
  name: "delegation",
  tools: agentTool({ name: "ask", description: "", agent }),
  preToolCall: ({ args }) => isExactly<string>()(args.message)
})

// What a hook changes must fit the tool.
defineHook({
  name: "smaller",
  tools: refund,
  preToolCall: (call) => HookAction.transform({ ...call, args: { ...call.args, euros: 1 } })
})
defineHook({
  name: "wrong",
  tools: refund,
  // @ts-expect-error -- a number is expected
  preToolCall: (call) => HookAction.transform({ ...call, args: { ...call.args, euros: "1" } })
})
defineHook({
  name: "of-the-other-tool",
  tools: mail,
  // @ts-expect-error -- these are not the arguments of the tool
  preToolCall: (call) => HookAction.replace({ ...call, args: { euros: 1 } })
})
// @ts-expect-error -- a number is not a tool
defineHook({ name: "no-tool", tools: 5, preToolCall: () => undefined })
// @ts-expect-error -- there is no such point
defineHook({ name: "no-point", tools: refund, preToolCal: () => undefined })

// The services of the methods are still inferred.
class Db extends Context.Service<Db, { readonly n: number }>()("typedHooks/Db") {}
isExactly<AgentHook<Db>>()(defineHook({
  name: "db",
  tools: refund,
  *preToolCall({ args }) {
    const { n } = yield* Db
    return args.euros > n ? HookAction.reject("too much") : undefined
  }
}))
isExactly<AgentHook<Db>>()(defineHook({
  name: "db-effect",
  tools: [refund, mail],
  preToolCall: (call) =>
    Effect.map(Db, ({ n }) => call.name === "refund" && call.args.euros > n ? HookAction.reject("no") : undefined)
}))
