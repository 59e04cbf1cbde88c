/** What a driver without types may give to a guard. */
import { assert, describe, it } from "@effect/vitest"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"

const methods = [
  "userMessage",
  "modelRequest",
  "modelAnswer",
  "modelDelta",
  "callModel",
  "toolCall",
  "toolResult",
  "callTool",
  "decide",
  "delegation",
  "delegationResult",
  "compaction",
  "compacted",
  "beforeStop"
] as const

const values: ReadonlyArray<unknown> = [undefined, null, 5, "x", true, [], {}, Symbol("s"), () => 1, { id: 5 }]

/** What a method answers, or the tag of its error. */
const outcome = async (run: () => PromiseLike<unknown>): Promise<string> => {
  try {
    return `answers ${typeof await run()}`
  } catch (error) {
    return error instanceof Error && "_tag" in error ? "fails with a typed error" : `throws ${String(error)}`
  }
}

describe("values that do not fit", () => {
  it.each(methods)("are answered, or refused with a typed error, by %s", async (method) => {
    const session = GuardSession.make({
      hooks: [defineHook({ name: "asks", preToolCall: () => HookAction.ask("?") })],
      log: false
    })
    const found = new Set<string>()
    for (const value of values) {
      for (const second of [undefined, null, 5]) {
        const given = Reflect.get(session, method) as (...all: ReadonlyArray<unknown>) => PromiseLike<unknown>
        found.add(await outcome(async () => given.call(session, value, second)))
      }
    }
    const wrong = [...found].filter((one) => one.startsWith("throws"))
    assert.deepStrictEqual(wrong, [])
  })

  it("are named in the error", async () => {
    const session = GuardSession.make({ hooks: [], log: false })
    const message = await session.modelRequest(undefined as never).then(() => "", String)
    assert.include(message, "modelRequest of the guard: expected an object, found nothing")
    assert.include(
      await session.beforeStop({ text: 5 } as never).then(() => "", String),
      "beforeStop of the guard: text: expected a text, found 5"
    )
    assert.include(
      await session.delegation({ agent: "helper", task: "look" } as never).then(() => "", String),
      "delegation of the guard: message: expected a text, found nothing"
    )
    assert.include(
      await session.decide(5 as never, { type: "approve" }).then(() => "", String),
      "expected the id of a tool call, found 5"
    )
    const denied = await session.toolCall(null as never)
    assert.deepInclude(denied, { reason: "the call is not an object with id, name and args: nothing" })
  })

  it.each([
    undefined,
    5,
    {},
    { choices: [{ message: { role: "assistant", content: "the secret" } }] },
    { text: "x" },
    { text: 1, toolCalls: [] },
    { text: "x", toolCalls: [null] },
    { text: "x", toolCalls: [{ function: { name: "send" } }] }
  ])("are no answer of a model: %j", async (response) => {
    const seen: Array<unknown> = []
    const hook = defineHook({ name: "sees", postLlmCall: (answer) => void seen.push(answer) })
    const session = GuardSession.make({ hooks: [hook], log: false })
    const request = { messages: [], tools: [], parameters: {} }
    const expected =
      "response: expected an object with a string `text` and a list `toolCalls` of calls with `id` and `name`, found"
    for (
      const [method, answering] of [
        ["modelAnswer", () => session.modelAnswer({ response } as never)],
        ["callModel", () => session.callModel(request, async () => response as never)]
      ] as const
    ) assert.include(await answering().then(() => "", String), `SessionError: ${method} of the guard: ${expected}`)
    assert.deepStrictEqual(seen, [])
  })
})
