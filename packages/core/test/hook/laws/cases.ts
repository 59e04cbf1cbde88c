/** Random chains as plain data: how they are generated, read by a person, and made into hooks. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import type { HookPointName } from "../../../src/hook/HookPoint.ts"
import { outputAt, readAt, valueAt } from "../events.ts"

/** What a hook answers with. The first is what a failing case is shrunk to. */
export const whats = [
  ...[
    "nothing",
    "Continue",
    "append",
    "append",
    "append",
    "set",
    "Replace",
    "Reject",
    "Respond",
    "Abort",
    "Ask"
  ] as const,
  ...[
    "throws",
    "fails",
    "dies",
    "interrupts",
    "mutates",
    "wrong value",
    "no reason",
    "no output",
    "wrong output"
  ] as const,
  ...[
    "null",
    "number",
    "string",
    "bigint",
    "function",
    "array",
    "no tag",
    "unknown tag",
    "cyclic",
    "proxy",
    "throwing getter"
  ] as const
] as const
export type What = typeof whats[number] | "hangs"

const immediate = ["now", "succeed"] as const
export const hows = [...immediate, "promise", "thenable", "sync", "yielding", "generator"] as const
export type How = typeof hows[number]

export interface Answer {
  readonly what: What
  readonly how: How
}

export interface HookCase {
  readonly name: string
  readonly tier?: "managed" | "project" | "agent"
  readonly priority?: number
  readonly kind?: "policy" | "advisory" | "observer"
  /** Whether it only looks on at the point of the case. */
  readonly observes?: true
  readonly mode?: "enforce" | "shadow"
  readonly tools?: string | ReadonlyArray<string>
  readonly reinvoke?: "never" | "ifChanged" | "reapply"
  readonly failOpen?: boolean
  readonly onFailure?: "open" | "reject" | "abort"
  readonly onTimeout?: "open" | "reject" | "abort"
  /** Its answers to the first, the second, the third time it is asked, and so on in a circle. */
  readonly answers: ReadonlyArray<Answer>
}

export interface ChainCase {
  readonly point: HookPointName
  readonly freeze: boolean
  readonly record: boolean
  readonly hooks: ReadonlyArray<HookCase>
}

/** One of the given values; the first is the simplest. */
const one = <const A extends ReadonlyArray<unknown>>(...values: A): Arbitrary.Arbitrary<A[number]> =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, index) => index))), (index) => values[index])

type Choice = { readonly whats: ReadonlyArray<What>; readonly hows: ReadonlyArray<How> }

const hook = ({ hows, whats }: Choice) =>
  Arbitrary.all({
    tier: one(undefined, undefined, "project", "managed", "agent"),
    priority: one(undefined, undefined, 100, 90, 110, -1),
    kind: one(undefined, undefined, "advisory", "policy", "observer"),
    mode: one(undefined, undefined, undefined, "enforce", "shadow"),
    observes: one(undefined, undefined, undefined, undefined, true),
    tools: one(undefined, undefined, "deploy", "de*y", ["build", "*"], "build", [], "!deploy", ["*", "!build"]),
    reinvoke: one(undefined, undefined, "never", "ifChanged", "ifChanged", "reapply"),
    failOpen: one(undefined, undefined, true, false),
    onFailure: one(undefined, undefined, undefined, "open", "reject", "abort"),
    onTimeout: one(undefined, undefined, undefined, "open", "reject", "abort"),
    answers: Arbitrary.array(Arbitrary.all({ what: one(...whats), how: one(...hows) }), { minLength: 1, maxLength: 3 })
  })

const chain = (points: ReadonlyArray<HookPointName>, choice: Choice): Arbitrary.Arbitrary<ChainCase> =>
  Arbitrary.map(
    Arbitrary.all({
      point: one(...points),
      freeze: one(true, false),
      record: one(false, true),
      hooks: Arbitrary.array(hook(choice), { maxLength: 8 })
    }),
    (found) => ({
      ...found,
      hooks: found.hooks.map((options, index) => {
        const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
        return { name: "abcdefgh"[index]!, ...set } as HookCase
      })
    })
  )

/** Chains whose hooks answer at once. */
export const syncChains = (points: ReadonlyArray<HookPointName>): Arbitrary.Arbitrary<ChainCase> =>
  chain(points, { whats, hows: immediate })

/** Chains whose hooks answer in any way. */
export const anyChains = (points: ReadonlyArray<HookPointName>): Arbitrary.Arbitrary<ChainCase> =>
  chain(points, { whats, hows })

/** Chains whose hooks often do not answer at all. */
export const hangingChains = (points: ReadonlyArray<HookPointName>): Arbitrary.Arbitrary<ChainCase> =>
  chain(points, { whats: [...whats.slice(0, 15), ...Array<What>(6).fill("hangs")], hows })

/** One line for the point and one for each hook. */
export const describe = ({ freeze, hooks, point, record }: ChainCase): string =>
  [
    `${point}${freeze ? ", frozen" : ""}${record ? ", recorded" : ""}`,
    ...hooks.map(({ answers, name, ...options }) => {
      const said = answers.map(({ how, what }) => how === "now" ? what : `${what} (${how})`).join(", then ")
      const set = Object.entries(options).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`).join("")
      return `  ${name}:${set} answers ${said}`
    })
  ].join("\n")

/** Whether an answer is there when the method returns. */
export const isImmediate = ({ how, what }: Answer): boolean =>
  what !== "hangs" && (["fails", "dies", "interrupts"].includes(what)
    ? how !== "yielding" && how !== "generator" && how !== "sync"
    : how === "now" || how === "succeed")

/** Makes the hook. `called` receives every call. */
export const build = (
  { answers, name, observes, ...options }: HookCase,
  { freeze, point }: Pick<ChainCase, "freeze" | "point">,
  called: (name: string, event: unknown, ctx: HookContext) => void,
  hang: () => Promise<unknown> = () => new Promise(() => {})
): AgentHook => {
  let times = 0
  const method = (event: unknown, ctx: HookContext): unknown => {
    called(name, event, ctx)
    const { how, what } = answers[times++ % answers.length]!
    if (what === "hangs") return hanging(how, hang())
    return deliver(what, how, () => {
      if (what === "mutates" && freeze) (event as { mark?: string }).mark = name
      return answerOf(what, point, name, readAt(point, event))
    })
  }
  return { name, ...options, ...(observes ? { observes: [point] } : {}), [point]: method } as AgentHook
}

/** Whether a hook that hangs returned a promise, which can still be settled later. */
export const hangsByPromise = (how: How): boolean => !["sync", "yielding", "generator"].includes(how)

const hanging = (how: How, promise: Promise<unknown>): unknown =>
  hangsByPromise(how) ? promise : how === "generator"
    ? (function*() {
      yield* Effect.never
    })()
    : Effect.never

const deliver = (what: What, how: How, answer: () => unknown): unknown => {
  const broken = brokenEffect(what)
  if (broken !== undefined) {
    if (how === "generator") {
      return (function*() {
        return yield* broken
      })()
    }
    return how === "yielding" || how === "sync" ? Effect.flatMap(Effect.yieldNow, () => broken) : broken
  }
  switch (how) {
    case "now":
      return answer()
    case "succeed":
      try {
        return Effect.succeed(answer())
      } catch (error) {
        return Effect.fail(error)
      }
    case "promise":
      return (async () => answer())()
    case "thenable":
      return {
        // oxlint-disable-next-line unicorn/no-thenable -- a hook may return any thenable
        then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
          try {
            resolve(answer())
          } catch (error) {
            reject(error)
          }
        }
      }
    case "sync":
      return Effect.sync(answer)
    case "yielding":
      return Effect.flatMap(Effect.yieldNow, () => Effect.sync(answer))
    case "generator":
      return (function*() {
        yield* Effect.void
        return answer()
      })()
  }
}

const brokenEffect = (what: What): Effect.Effect<never, string> | undefined => {
  switch (what) {
    case "fails":
      return Effect.fail("on purpose")
    case "dies":
      return Effect.die(new Error("on purpose"))
    case "interrupts":
      return Exit.interrupt()
    default:
      return undefined
  }
}

const answerOf = (what: What, point: HookPointName, name: string, text: string): unknown => {
  switch (what) {
    case "Continue":
      return HookAction.Continue
    case "append":
      return HookAction.transform(valueAt(point, text + name))
    case "set":
      return HookAction.transform(valueAt(point, "k"))
    case "Replace":
      return HookAction.replace(valueAt(point, text + name.toUpperCase()))
    case "Reject":
      return HookAction.reject(`no from ${name}`)
    case "Respond":
      return HookAction.respond(outputAt(point, name))
    case "Abort":
      return HookAction.abort(`end from ${name}`)
    case "Ask":
      return HookAction.ask(`may it, asks ${name}`)
    case "throws":
      throw new Error("on purpose")
    default:
      return garbage[what]?.()
  }
}

/** What no typed hook can answer. */
const garbage: { readonly [what: string]: () => unknown } = {
  "wrong value": () => ({ _tag: "Transform", value: null }),
  "no reason": () => ({ _tag: "Reject" }),
  "no output": () => ({ _tag: "Respond" }),
  "wrong output": () => ({ _tag: "Respond", output: () => "later" }),
  "null": () => null,
  "number": () => 42,
  "string": () => "Continue",
  "bigint": () => 1n,
  "function": () => () => HookAction.Continue,
  "array": () => [HookAction.Continue],
  "no tag": () => ({ proceed: false }),
  "unknown tag": () => ({ _tag: "Continu" }),
  "cyclic": () => {
    const self: { self?: unknown } = {}
    self.self = self
    return self
  },
  "proxy": () => new Proxy({}, traps),
  "throwing getter": () => ({
    get _tag(): never {
      throw new Error("not to be read")
    }
  })
}

const refuse = (): never => {
  throw new Error("not to be touched")
}
const traps: ProxyHandler<object> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse
}
