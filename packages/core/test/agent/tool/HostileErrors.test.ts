// oxlint-disable typescript/prefer-promise-reject-errors -- what programs do that nobody checks
/** What a tool, a hook or a model throws is described in words, and no text of Effect reaches the model or the user. */
import { type AgentHook, createAgent, defineTool, HookAction } from "@belay/core"
import type { AgentConfig } from "@belay/core/AgentConfig"
import { fromPromise } from "@belay/core/LlmProvider"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"

const trap = (): never => {
  throw new Error("trap")
}

class Tagged extends Data.TaggedError("Tagged")<{ readonly why: string }> {}

const schemaError = (): unknown => {
  try {
    return Schema.decodeUnknownSync(Schema.Struct({ city: Schema.Number }))({ city: "x" })
  } catch (error) {
    return error
  }
}

const fiberFailure = (): unknown => {
  try {
    return Effect.runSync(Effect.die({ code: 7 }))
  } catch (error) {
    return error
  }
}

/** Values that somebody may throw. */
const thrown: ReadonlyArray<readonly [string, () => unknown]> = [
  ["a getter of the message that throws", () => Object.defineProperty(new Error("x"), "message", { get: trap })],
  ["a getter of the name that throws", () => Object.defineProperty(new Error(""), "name", { get: trap })],
  ["a stack that throws", () => Object.defineProperty(new Error("plain"), "stack", { get: trap })],
  ["toString that throws", () => ({ toString: trap, toJSON: trap })],
  ["toJSON that throws", () => ({ toJSON: trap })],
  ["a message that is an object", () => Object.assign(new Error(""), { message: { toString: trap } })],
  ["a proxy", () => new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap })],
  ["a proxy of an error", () => new Proxy(new Error("x"), { get: trap, getPrototypeOf: trap, has: trap })],
  ["a getter of the tag that throws", () => ({
    get _tag() {
      return trap()
    }
  })],
  ["nothing", () => undefined],
  ["a symbol", () => Symbol("s")],
  ["a circle", () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    return circle
  }],
  ["a function", () => trap],
  ["a cause", () => Cause.die("inner")],
  ["a tagged error", () => new Tagged({ why: "because" })],
  ["an error of a schema", schemaError],
  ["an error of a fiber", fiberFailure],
  ["a bigint", () => 10n]
]

const internals =
  /SchemaError|FiberFailure|Cause\(|"_id"|"_tag"|reasons|~effect|effect\/(?:dist|src)|node_modules|error (?:has )?occurred|fibers interrupted|\n\s+at \S+ \(/

/** Runs an agent whose model calls `work`, and returns all that the model and the user have read. */
const textsOf = async (config: Partial<AgentConfig>): Promise<string> => {
  const seen: Array<string> = []
  const provider = fromPromise({
    name: "one-call",
    complete: async ({ messages }) => {
      seen.push(JSON.stringify(messages))
      const isDone = messages.at(-1)?.role === "tool"
      const toolCalls = isDone ? [] : [{ id: "c", name: "work", args: {} }]
      return { model: "m", text: isDone ? "done" : "", toolCalls, finishReason: isDone ? "stop" : "tool-calls" }
    }
  })
  const agent = createAgent({ provider, log: false, ...config })
  agent.on((event) => {
    if (event.type === "tool-end" || event.type === "hook-failed" || event.type === "warning") {
      seen.push(JSON.stringify(event))
    }
  })
  const text = await agent.run("go").then(
    (result) => result.text,
    (error: unknown) => `failed: ${Object(error).message}`
  )
  return [...seen, text].join("\n").replaceAll("\\n", "\n")
}

const work = (execute: () => unknown) =>
  defineTool({ name: "work", description: "Works", input: { type: "object" }, execute: execute as () => string })

describe("what is thrown", () => {
  it.for(thrown)("by a tool, as %s, is described without the inside", async ([, make]) => {
    const error = make()
    const kinds = [
      () => {
        throw error
      },
      () => Promise.reject(error),
      () => Effect.fail(error),
      () => Effect.die(error)
    ]
    for (const execute of kinds) {
      const texts = await textsOf({ tools: [work(execute)] })
      assert.notMatch(texts, internals)
      assert.include(texts, "done")
    }
  })

  it.for(thrown)("by a hook, as %s, is described without the inside", async ([, make]) => {
    const error = make()
    for (
      const fails of [
        () => {
          throw error
        },
        () => Promise.reject(error),
        () => Effect.die(error)
      ]
    ) {
      for (const point of ["preTurn", "preToolCall", "postToolCall", "preLlmCall"] as const) {
        for (const onFailure of ["open", "reject", "abort"] as const) {
          const hook = { name: "broken", onFailure, [point]: fails }
          assert.notMatch(
            await textsOf({ tools: [work(() => "ok")], hooks: [hook] }),
            internals,
            `${point} ${onFailure}`
          )
        }
      }
    }
  })

  it.for(thrown)("by a model, as %s, is described without the inside", async ([, make]) => {
    const error = make()
    const provider = fromPromise({ name: "broken", complete: () => Promise.reject(error) })
    const retryAtOnce: AgentHook = {
      name: "retry-at-once",
      onLlmError: ({ decision }) =>
        decision.type === "retry" ? HookAction.transform({ ...decision, delayMs: 0 }) : undefined
    }
    assert.notMatch(await textsOf({ provider, hooks: [retryAtOnce] }), internals)
  })
})

describe("a value with traps", () => {
  it.for(thrown.filter(([name]) => name !== "a cause"))(
    "that a tool returns, as %s, is an error in words",
    async ([, make]) => {
      const value = make()
      const texts = await textsOf({ tools: [work(() => value)] })
      assert.notMatch(texts, internals)
      assert.include(texts, "done")
    }
  )
})
