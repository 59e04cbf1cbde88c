/** The laws of hooks hold for hooks that keep them, and name what is wrong with those that do not. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookState from "@belay/core/HookState"
import * as HookLaws from "@belay/testing/HookLaws"
import { assert, describe, it } from "vitest"

const calls = HookState.key("limit/calls", 0)

/** Lets three calls of a session pass. */
const limit = (common: HookLaws.Common = {}): AgentHook => {
  const { enabled = true, name = "limit", onDecision, when } = common
  if (!enabled) return { name }
  return {
    name,
    kind: "policy",
    preToolCall: (_call, { state }) => {
      if (when?.() === false) return undefined
      if (state.update(calls, (n) => n + 1) <= 3) return undefined
      onDecision?.({ action: "Reject" })
      return HookAction.reject("no more calls")
    }
  }
}

/** The laws that a hook breaks, by the words after its name. */
const brokenBy = async (
  hook: AgentHook | (() => AgentHook),
  options?: HookLaws.Options
): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (const { name, run } of HookLaws.cases(hook, options)) {
    await run().catch((error: Error) => broken.push(`${name}: ${error.message}`))
  }
  return broken
}

const all = { deterministic: true, perSession: true, withinMs: 200 } as const

let shared = 0
const bugs: ReadonlyArray<readonly [what: string, hook: () => AgentHook, caught: RegExp, options?: HookLaws.Options]> =
  [
    [
      "throws on what it did not expect",
      () => ({
        name: "bad",
        preToolCall: ({ args }) =>
          (args as { readonly path: string }).path.startsWith("/") ? HookAction.reject("no") : undefined
      }),
      /^bad: never fails, and answers every event.*: broke at preToolCall of .+: bad threw: /
    ],
    [
      "changes its input",
      () => ({
        name: "bad",
        preLlmCall: (request) => {
          const loose = request as unknown as { messages: Array<unknown> }
          loose.messages.push({ role: "user", content: "hint" })
        }
      }),
      /^bad: does not change its event: changed what it was given at preLlmCall: /
    ],
    [
      "answers what is not legal",
      () => ({ name: "bad", onSessionEnd: () => HookAction.reject("stay") as never }),
      /^bad: never fails, and answers every event.*broke at onSessionEnd.+illegal/
    ],
    [
      "answers a value that is none",
      () => ({ name: "bad", postLlmCall: () => HookAction.transform({ text: 7 }) as never }),
      /^bad: never fails, and answers every event.*broke at postLlmCall.+illegal/
    ],
    [
      "never answers",
      () => ({ name: "bad", preTurn: () => new Promise<never>(() => {}) }),
      /^bad: never fails, and answers every event.*: took more than 200 ms at preTurn/
    ],
    [
      "is not as deterministic as it claims",
      () => ({ name: "bad", preTurn: () => shared++ % 7 === 3 ? HookAction.reject("chance") : undefined }),
      /^bad: gives the same answers for the same events: answered preTurn of .+ once with /
    ],
    [
      "does by chance what it does besides answering",
      () => ({ name: "bad", preTurn: (_input, ctx) => shared++ % 7 === 3 ? ctx.warn("chance") : undefined }),
      /^bad: gives the same answers for the same events: what it did besides answering: expected /
    ],
    [
      "keeps what belongs to a session in a variable",
      () => {
        let seen = 0
        return { name: "bad", preTurn: () => ++seen > 5 ? HookAction.reject("too often") : undefined }
      },
      /^bad: keeps sessions separate: answered preTurn of .+ with "Reject too often " after another session, with "Continue" without$/
    ],
    [
      "keeps all it has seen in its state",
      () => {
        const log = HookState.key("bad/log", "")
        return {
          name: "bad",
          preTurn: ({ message }, { state }) => void state.update(log, (text) => (text + message).slice(-60_000))
        }
      },
      /^bad: keeps state that is JSON, of at most 1000 characters: ctx\.state has \d+ characters after 20 turns$/,
      { maxState: 1000 }
    ],
    [
      "copies keys of an event without care",
      () => ({
        name: "bad",
        preToolCall: ({ args }) => {
          const merge = (to: Record<string, unknown>, from: unknown): void => {
            if (typeof from !== "object" || from === null || Array.isArray(from)) return
            for (const [key, value] of Object.entries(from)) {
              if (typeof value === "object" && value !== null && to[key] !== undefined) {
                merge(to[key] as Record<string, unknown>, value)
              } else to[key] = value
            }
          }
          merge({}, args)
        }
      }),
      /^bad: does not change a prototype: put what it was given at preToolCall into the prototype of every object$/
    ],
    ["implements nothing", () => ({ name: "bad" }), /^bad: implements a point.*: it implements no point$/],
    [
      "misspells an option",
      () => ({ name: "bad", preTurn: () => undefined, tier: "top" as never }),
      /^bad: implements a point.*tier must be/
    ]
  ]

describe("the laws of hooks", () => {
  for (
    const { name, run } of HookLaws.cases(limit, {
      ...all,
      withCommon: limit,
      events: { preToolCall: [{ name: "rm" }] }
    })
  ) it(name, run)

  it.each(bugs.map(([what, hook, caught, options]) => ({ what, hook, caught, options })))(
    "catch a hook that $what",
    async ({ caught, hook, options }) => {
      shared = 0
      const broken = await brokenBy(hook, { ...all, ...options })
      delete (Object.prototype as { polluted?: unknown }).polluted
      assert.isTrue(
        broken.some((message) => caught.test(message.replaceAll("\n", " "))),
        broken.join("\n") || "nothing was caught"
      )
    }
  )

  it("find a hook that ignores its common options", async () => {
    const bad = () => limit()
    assert.deepStrictEqual(
      (await brokenBy(limit, { withCommon: bad })).map((message) => message.split(":")[1]?.trim()),
      [
        "does nothing when `enabled` is false",
        "does nothing if `when` returns false",
        "has the name of the option",
        "calls `onDecision` with each decision"
      ]
    )
  })

  it("do not check claims that are not made", () => {
    const names = HookLaws.cases(defineHook({ name: "h", preTurn: () => undefined })).map(({ name }) => name)
    assert.lengthOf(names, 6)
    assert.isFalse(names.some((name) => /same events|sessions separate|enabled/.test(name)))
  })
})
