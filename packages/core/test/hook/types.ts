/**
 * What the types of hooks accept and refuse. The compiler is the test: every refusal is expected, and every expectation
 * is needed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type AgentHook, defineHook, type HookMethod } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import type { ActionAt, HookPointName } from "../../src/hook/HookPoint.ts"
import * as HookState from "../../src/hook/HookState.ts"

class Db extends Context.Service<Db, { readonly find: (id: string) => Effect.Effect<string, Error> }>()("types/Db") {}
class Policy extends Context.Service<Policy, { readonly max: number }>()("types/Policy") {}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const isExactly =
  <Expected>() => <Found>(_value: Found, ..._same: Equal<Expected, Found> extends true ? [] : [never]): void => {}

// Every way to answer, and parameters typed by the point.
const every = defineHook({
  name: "every",
  priority: 10,
  kind: "advisory",
  tools: ["bash", "write_*"],
  timeout: "5 seconds",
  preTurn: (input) => input.message === "" ? HookAction.reject("say something") : undefined,
  postTurn: async ({ output }) => HookAction.transform({ ...output, text: output.text.trim() }),
  preToolCall: (call, ctx) => Effect.as(Effect.sync(() => ctx.warn(call.name)), HookAction.Continue),
  *postToolCall({ result }) {
    const ok = yield* Effect.succeed(result.ok)
    return ok ? undefined : HookAction.reject("try again")
  },
  onSessionEnd: ({ reason }, { notifyUser }) => notifyUser(reason)
})
isExactly<AgentHook>()(every)

// Services are inferred, expected errors are not.
isExactly<AgentHook<Db>>()(
  defineHook({ name: "db", preTurn: () => Effect.flatMap(Db, (db) => Effect.asVoid(db.find("1"))) })
)
isExactly<AgentHook<Db | Policy>>()(defineHook({
  name: "both",
  preTurn: () => Effect.flatMap(Db, (db) => Effect.asVoid(db.find("1"))),
  *preToolCall(call) {
    const { max } = yield* Policy
    return call.name.length > max ? HookAction.reject("too long") : HookAction.Continue
  }
}))
isExactly<AgentHook<Policy>>()(
  defineHook({ name: "wrap", wrapToolCall: (call, next) => Effect.andThen(Policy, next(call)) })
)

/** A class is a hook too. */
export class Audit implements AgentHook<Db> {
  readonly name = "audit"
  readonly kind = "observer"
  preTurn(input: { readonly message: string }) {
    return Effect.flatMap(Db, (db) => Effect.asVoid(db.find(input.message)))
  }
}

/** A class that forgets its name is none. */
// @ts-expect-error -- a hook needs a name
export class Nameless implements AgentHook {
  preTurn() {}
}

/** A hook that needs a service is not one that needs none; the other way round it is. */
export const needsNothing: Audit extends AgentHook ? never : true = true
export const needsMore: AgentHook<Db | Policy> = new Audit()

// @ts-expect-error -- a misspelt point
defineHook({ name: "h", preTurns: () => HookAction.reject("no") })
// @ts-expect-error -- a misspelt option
defineHook({ name: "h", failsOpen: false })
// @ts-expect-error -- a misspelt point without defineHook
export const literal: AgentHook = { name: "h", preTurns: () => HookAction.reject("no") }
// @ts-expect-error -- a hook without a name
defineHook({ preTurn: () => HookAction.reject("no") })
// @ts-expect-error -- a kind that is none
defineHook({ name: "h", kind: "observr" })
// @ts-expect-error -- a timeout that is none
defineHook({ name: "h", timeout: true })
// @ts-expect-error -- a point that is none
defineHook({ name: "h", observes: ["preTurns"] })

// @ts-expect-error -- A-03 the wrong value: an output before the turn
defineHook({ name: "h", preTurn: () => HookAction.transform({ text: "out" }) })
// @ts-expect-error -- A-03 the wrong value from an async method
defineHook({ name: "h", preTurn: async () => HookAction.transform({ text: "out" }) })
// @ts-expect-error -- A-03 the wrong value from an Effect
defineHook({ name: "h", preTurn: () => Effect.succeed(HookAction.transform({ text: "out" })) })
defineHook({
  name: "h",
  // @ts-expect-error -- A-03 the wrong value from a generator
  *preTurn() {
    yield* Effect.void
    return HookAction.transform({ text: "out" })
  }
})
// @ts-expect-error -- no action at all
defineHook({ name: "h", preTurn: () => ({ proceed: false }) })
// @ts-expect-error -- no action at all, from a promise
defineHook({ name: "h", preTurn: async () => true })
defineHook({
  name: "h",
  // @ts-expect-error -- a generator that yields a value that is not an Effect
  *preTurn() {
    yield 1
  }
})

// @ts-expect-error -- Transform where hooks only look on
defineHook({ name: "h", onSessionEnd: () => HookAction.transform({}) })
// @ts-expect-error -- Transform where hooks only look on
defineHook({ name: "h", postCompaction: () => HookAction.transform({ summary: "" }) })
// @ts-expect-error -- Abort where the turn is over
defineHook({ name: "h", onSessionEnd: () => HookAction.abort("no") })
// @ts-expect-error -- Abort at onTurnError
defineHook({ name: "h", onTurnError: () => HookAction.abort("no") })
// @ts-expect-error -- Reject where there is nothing to reject
defineHook({ name: "h", preStop: () => HookAction.reject("go on") })
// @ts-expect-error -- Respond after the fact
defineHook({ name: "h", postToolCall: () => HookAction.respond("ok") })
// @ts-expect-error -- Respond with a value that is not a model response
defineHook({ name: "h", preLlmCall: () => HookAction.respond("hello") })
defineHook({ name: "h", preToolCall: () => HookAction.respond({ any: ["json", 1, null] }) })
// @ts-expect-error -- Respond with what is not JSON
defineHook({ name: "h", preToolCall: () => HookAction.respond(new Map()) })
// @ts-expect-error -- Ask outside tool calls
defineHook({ name: "h", preTurn: () => HookAction.ask("may I?") })
defineHook({ name: "h", preToolCall: () => HookAction.ask("may it?"), onPermission: () => HookAction.ask("may it?") })

// @ts-expect-error -- inputs are read-only
defineHook({ name: "h", preTurn: (input) => void (input.message = "changed") })
// @ts-expect-error -- a parameter of another point
defineHook({ name: "h", preTurn: (event) => void event.result })

// @ts-expect-error -- next takes what the act takes
defineHook({ name: "h", wrapToolCall: (_call, next) => next({ message: "hi" }) })
// @ts-expect-error -- what surrounds a tool call yields its result
defineHook({ name: "h", wrapToolCall: (_call, _next) => Effect.succeed("done") })
defineHook({ name: "h", wrapToolCall: async (call, next) => await next.promise(call) })

// State.
const count = HookState.key("count", 0)
const level = HookState.key("level", Schema.Literals(["low", "high"]), "low")
isExactly<HookState.StateKey<number>>()(count)
isExactly<HookState.StateKey<"low" | "high">>()(level)
defineHook({
  name: "h",
  preTurn: (_input, { state }) => {
    const n: number = state.update(count, (n) => n + 1)
    state.set(level, n > 3 ? "high" : "low")
    // @ts-expect-error -- a number key holds no text
    state.set(count, "1")
    // @ts-expect-error -- not one of the literals
    state.set(level, "medium")
    // @ts-expect-error -- an update returns the key's type
    state.update(count, (n) => String(n))
    // @ts-expect-error -- a number is not a text
    const text: string = state.get(count)
    return HookAction.transform({ message: text })
  }
})
// @ts-expect-error -- a key's first value fits its schema
HookState.key("n", Schema.Finite, "0")
// @ts-expect-error -- without a schema a first value is JSON
HookState.key("when", new Date())
// @ts-expect-error -- a number key is not a key of anything
export const wide: HookState.StateKey<unknown> = count

/** Every point has a method of the same name, and Continue is legal everywhere. */
export const methods: {
  readonly [P in HookPointName]-?: AgentHook[P] extends HookMethod<P> | undefined ? true : never
} = {
  onSessionStart: true,
  onSessionEnd: true,
  preTurn: true,
  postTurn: true,
  onTurnError: true,
  preLlmCall: true,
  onLlmDelta: true,
  postLlmCall: true,
  onLlmError: true,
  preToolCall: true,
  postToolCall: true,
  onPermission: true,
  onToolDenied: true,
  postStep: true,
  preStop: true,
  preDelegation: true,
  postDelegation: true,
  preCompaction: true,
  postCompaction: true,
  onBudget: true,
  onSignal: true
}
export const continues: { readonly [P in HookPointName]: ActionAt<P> } = Object.fromEntries(
  Object.keys(methods).map((point) => [point, HookAction.Continue])
) as never
isExactly<HookAction.Continue>()(continues.onToolDenied)
