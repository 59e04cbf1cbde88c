/** The guard inside pi: its extension, with the events that pi documents. The long tests run the real package. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Guard from "../src/Guard.ts"
import * as Pi from "../src/Pi.ts"
import { events as pi } from "./support/pi.ts"

type Answer = {
  readonly action?: string
  readonly text?: string
  readonly block?: boolean
  readonly reason?: string
  readonly isError?: boolean
  readonly content?: ReadonlyArray<{ readonly type: string; readonly text?: string }>
} | undefined

const kit = (hooks: ReadonlyArray<AgentHook>, more: Guard.GuardOptions = {}, confirms?: boolean) => {
  const notes: Array<string> = []
  const tool = { name: "send_mail", description: "Sends a mail", annotations: { destructiveHint: true } }
  const context = {
    hasUI: confirms !== undefined,
    abort: () => void notes.push("aborted"),
    ui: {
      confirm: (title: string) => Promise.resolve(notes.push(title)).then(() => confirms),
      notify: (text: string) => void notes.push(text)
    }
  }
  const extension = Pi.make(Guard.make({ hooks, log: false, ...more }), { approvedBy: "ada" })
  const send = pi(extension, { context, tools: [tool] })
  const fire = async (event: string, fields: object = {}) => await send(event, fields) as Answer
  const call = async (input: object, toolCallId = "1") =>
    await fire("tool_call", { toolName: "send_mail", toolCallId, input })
  const result = async (text: string, toolCallId = "1") =>
    await fire("tool_result", {
      toolName: "send_mail",
      toolCallId,
      input: {},
      isError: false,
      content: [{ type: "text", text }]
    })
  return { call, fire, notes, result }
}

describe("the guard in pi", () => {
  it("denies calls, changes arguments in place, and shows what hooks inject with the result", async () => {
    const { call, result } = kit([defineHook({
      name: "careful",
      preToolCall: (given, ctx) => {
        if (Object(given.args)["to"] === "eve") return HookAction.reject("no")
        ctx.inject("be careful")
        return HookAction.transform({ ...given, args: { to: "ann" } })
      },
      postToolCall: () => HookAction.transform({ ok: true, output: "[withheld]" })
    })])
    assert.deepStrictEqual(await call({ to: "eve" }), { block: true, reason: "no" })
    const input = { to: "bob", text: "hi" }
    // The id of a call that a tool makes has a slash.
    assert.isUndefined(await call(input, "2/1"))
    assert.deepStrictEqual(input as object, { to: "ann" })
    assert.deepStrictEqual((await result("4711", "2/1"))?.content, [{ type: "text", text: "[withheld]\n\nbe careful" }])
  })

  it("blocks a call that more people have to approve than the one who was asked", async () => {
    const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?", undefined, { quorum: 2 }) })
    assert.deepStrictEqual(await kit([asks], {}, true).call({ to: "ann" }), {
      block: true,
      reason: "not run: more people have to approve: really?"
    })
  })

  it.each([true, false, undefined])("blocks a call about which others have to be asked: %s", async (confirms) => {
    const ann = defineHook({ name: "ann", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["ann"] }) })
    assert.isTrue((await kit([ann], {}, confirms).call({ to: "ann" }))?.block)
  })

  it("refuses and changes messages", async () => {
    const { fire, notes } = kit([defineHook({
      name: "doorman",
      preTurn: (input) =>
        input.message === "bad" ? HookAction.reject("not here") : HookAction.transform({ ...input, message: "[pin]" })
    })])
    assert.deepStrictEqual(await fire("input", { text: "bad" }), { action: "handled" })
    assert.deepStrictEqual(notes, ["not here"])
    assert.deepStrictEqual(await fire("input", { text: "4711" }), { action: "transform", text: "[pin]" })
  })

  it.each([[true, undefined], [false, "a person refused the call"], [undefined, /nobody is there: really\?/]] as const)(
    "asks the person who is there: %s",
    async (confirms, reason) => {
      const hooks = [defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })]
      const { call, notes } = kit(hooks, {}, confirms)
      const answer = await call({ to: "ann" })
      assert.match(answer?.reason ?? "ran", reason === undefined ? /^ran$/ : new RegExp(reason))
      assert.lengthOf(notes, confirms === undefined ? 0 : 1)
    }
  )

  it("refuses, blocks and withholds if the guard fails", async () => {
    const { call, fire, result } = kit([], {
      store: { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    })
    assert.deepStrictEqual(await fire("input", { text: "hi" }), { action: "handled" })
    assert.include(await call({ to: "ann" }).then((answer) => answer?.reason ?? "ran", String), "disk full")
    assert.include((await result("4711"))?.content?.[0]?.text ?? "", "withheld, because the guard failed")
  })

  it("refuses by name hooks that must hold where pi has no point", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", postLlmCall: () => HookAction.abort("no") })]
    assert.throws(() => Pi.make(Guard.make({ hooks, log: false })), /pi cannot enforce keeper at postLlmCall/)
  })

  it("declares what happens, and nothing else happens", async () => {
    const seen = new Set<string>()
    const places = Guard.make().coverage(Pi.driver)
    const points = places.filter(({ place }) => !/^wrap|^reveal|^conceal/.test(place)).map(({ place }) => place)
    const hook = defineHook({
      name: "notes",
      ...Object.fromEntries(points.map((point) => [point, () => void seen.add(point)])),
      preToolCall: ({ args }) => {
        seen.add("preToolCall")
        return Object(args)["to"] === "eve" ? HookAction.reject("no") : undefined
      }
    })
    const policy: Guard.GuardOptions["policy"] = {
      check: ({ args }) =>
        Object(args)["to"] === "asked"
          ? { type: "ask", reason: "why", grant: { sandbox: "none" } }
          : { type: "allow", grant: { sandbox: "none" } }
    }
    const { call, fire, result } = kit([hook], { policy }, true)
    await fire("input", { text: "hi" })
    await call({ to: "eve" }, "1")
    await call({ to: "asked" }, "2")
    await call({ to: "ann" }, "3")
    await result("sent", "3")
    const said = { role: "assistant", content: [{ type: "text", text: "bye" }] }
    await fire("agent_before_settle", { outcome: "completed", context: { contextMessages: [said] } })
    await fire("session_shutdown", { reason: "quit" })
    const reached = places.filter(({ reach }) => reach === "enforced" || reach === "observed")
    assert.deepStrictEqual([...seen].toSorted(), reached.map(({ place }) => place).toSorted())
  })
})
