/** The guard inside Strands: its plugin, with the events that the SDK documents. The long tests run the real package. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Guard from "../src/Guard.ts"
import * as Strands from "../src/Strands.ts"
import { events, sdk } from "./support/strands.ts"

const kit = (hooks: ReadonlyArray<AgentHook>, more: Guard.GuardOptions = {}) => {
  const guarded = Strands.make(Guard.make({ hooks, log: false, ...more }), { id: "s", approvedBy: "ann" })
  return { ...events(guarded), session: guarded.session }
}

const stops = () => {
  throw new Error("interrupted")
}

describe("the guard in Strands", () => {
  it("denies calls, changes arguments and results, and shows what hooks inject with the result", async () => {
    const { after, before } = kit([defineHook({
      name: "careful",
      preToolCall: (call, ctx) => {
        if (call.name === "bad") return HookAction.reject("no")
        ctx.inject("be careful")
        return HookAction.transform({ ...call, args: { a: 2 } })
      },
      postToolCall: () => HookAction.transform({ ok: true, output: "[withheld]" })
    })])
    assert.strictEqual((await before("bad", {})).cancel, "no")
    assert.deepStrictEqual((await before("good", { a: 1 }, "2")).toolUse.input, { a: 2 })
    assert.deepStrictEqual((await after("good", "4711", "2")).content.map(({ text }) => text), [
      "[withheld]\n\nbe careful"
    ])
  })

  it("shows hooks all parts of a result, and results of an id that was denied before", async () => {
    const { after, before } = kit([defineHook({
      name: "cuts",
      preToolCall: ({ name }) => name === "bad" ? HookAction.reject("no") : undefined,
      postToolCall: ({ result }) =>
        JSON.stringify(result).includes("4711") ? HookAction.transform({ ok: true, output: "[cut]" }) : undefined
    })])
    await before("bad", {}, "x")
    await before("read", {}, "x")
    const json = { type: "jsonBlock", json: { pin: "4711" } } as never
    const { content } = await after("read", "fine", "x", "success", [json])
    assert.deepStrictEqual(content.map(({ text }) => text), ["[cut]"])
  })

  it("changes the error of a tool wherever it stands", async () => {
    const { after, before } = kit([defineHook({
      name: "hides",
      postToolCall: () => HookAction.transform({ ok: false, error: "[cut]" })
    })])
    await before("read", {})
    const { content, error } = await after("read", "no access with 4711", "1", "error")
    assert.deepStrictEqual([error, ...content.map(({ text }) => text)], ["[cut]", "[cut]"])
  })

  it("shows pieces of a result only if no hook reads the whole", async () => {
    class Slow {
      readonly #name = "slow"
      get name() {
        return this.#name
      }
      async *stream(context: string) {
        yield await Promise.resolve(`piece of ${this.#name}`)
        return `all of ${context}`
      }
    }
    const streamed = async (...hooks: Parameters<typeof kit>[0]) => {
      const { selectedTool } = await kit(hooks).before("slow", {}, "1", undefined, new Slow())
      const pieces = (selectedTool as Slow | undefined)?.stream("4711")
      return [await pieces?.next(), (selectedTool as Slow | undefined)?.name]
    }
    const reads = defineHook({ name: "reads", postToolCall: () => undefined })
    assert.deepStrictEqual(await streamed(reads), [{ done: true, value: "all of 4711" }, "slow"])
    assert.deepStrictEqual(await streamed(), [undefined, undefined])
  })

  it("asks about a message that has no text", async () => {
    const { model } = kit([defineHook({ name: "doorman", kind: "policy", preTurn: () => HookAction.reject("no") })])
    assert.strictEqual(String(await model("", [{ type: "imageBlock" }])), "no")
    assert.strictEqual(await kit([]).model("", [{ type: "toolResultBlock" }]), false)
  })

  it("asks about a message once, however often the model is called, and again if it was refused", async () => {
    const seen: Array<string> = []
    const { read } = kit([defineHook({
      name: "doorman",
      preTurn: ({ message }) => {
        seen.push(message)
        return message === "bad" ? HookAction.reject("no") : undefined
      }
    })])
    for (const text of ["good", "bad"]) {
      const message = { role: "user", content: [new sdk.TextBlock(text)] }
      await read(message)
      await read(message)
    }
    assert.deepStrictEqual(seen, ["good", "bad", "bad"])
  })

  it("refuses messages, and those that a hook would change", async () => {
    const { model } = kit([defineHook({
      name: "doorman",
      preTurn: ({ message }) =>
        message === "bad"
          ? HookAction.reject("not here")
          : message === "4711"
          ? HookAction.transform({ message: "" })
          : undefined
    })])
    assert.strictEqual(await model("bad") as unknown, "not here")
    assert.include(String(await model("4711")), "cannot pass on")
    assert.strictEqual(await model("hi"), false)
  })

  it.each([
    ["approved", true, false],
    ["refused", { type: "deny", message: "not now" }, "not now"],
    ["answered with something else", "sure", "a person refused the call"]
  ])("asks with an interrupt, and obeys when it is %s", async (_title, answer, cancel) => {
    const { before, session } = kit([defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })])
    const first = await before("mail", {}, "1", stops).then(() => "ran", String)
    assert.include(first, "interrupted")
    assert.strictEqual((await before("mail", {}, "1", () => answer)).cancel, cancel)
    assert.deepStrictEqual(await session.pending(), [])
  })

  it("cancels a call about which only others may decide", async () => {
    for (const answer of [true, { type: "deny", message: "not now" }]) {
      const zoe = defineHook({ name: "zoe", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["zoe"] }) })
      const { before } = kit([zoe])
      await before("mail", {}, "1", stops).catch(() => undefined)
      assert.isString((await before("mail", {}, "1", () => answer)).cancel)
    }
  })

  it("takes no answer to a question that nobody has asked, and refuses or fails if the guard fails", async () => {
    const asks = kit([defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })])
    assert.include(String((await asks.before("mail", {}, "1", () => true)).cancel), "no question about mail is open")
    assert.isString((await asks.before("mail", {}, "__proto__", () => true)).cancel)
    const throws = kit([
      defineHook({ name: "throws", kind: "policy", preToolCall: () => Promise.reject(new Error("broken")) })
    ])
    assert.isString((await throws.before("mail", {})).cancel)
    const { before } = kit([], { store: { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") } })
    assert.include(await before("mail", {}).then(() => "ran", String), "disk full")
  })

  it("refuses by name hooks that must hold where Strands has no point", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", postLlmCall: () => HookAction.abort("no") })]
    assert.throws(() => Strands.make(Guard.make({ hooks, log: false })), /strands cannot enforce keeper at postLlmCall/)
  })

  it("refuses a module that is not the SDK, and an agent that is guarded already", () => {
    const { plugin } = Strands.make(Guard.make({ log: false }))
    assert.throws(() => plugin({ ...sdk, AfterToolCallEvent: undefined }), /without AfterToolCallEvent/)
    const agent = { addHook: () => {} }
    plugin(sdk).initAgent(agent)
    assert.throws(() => plugin(sdk).initAgent(agent), /guarded already/)
  })

  it("declares as enforced what happens, and nothing else happens", async () => {
    const seen = new Set<string>()
    const places = Guard.make().coverage(Strands.driver)
    const points = places.filter(({ place }) => !/^wrap|^reveal|^conceal/.test(place)).map(({ place }) => place)
    const hook = defineHook({
      name: "notes",
      ...Object.fromEntries(points.map((point) => [point, () => void seen.add(point)])),
      preToolCall: ({ name }) => {
        seen.add("preToolCall")
        return name === "bad" ? HookAction.reject("no") : undefined
      }
    })
    const policy: Guard.GuardOptions["policy"] = {
      check: ({ name }) =>
        name === "ask"
          ? { type: "ask", reason: "why", grant: { sandbox: "none" } }
          : { type: "allow", grant: { sandbox: "none" } }
    }
    const { after, before, model, session } = kit([hook], { policy })
    await model("hi")
    await before("bad", {}, "1")
    await before("ask", {}, "2", stops).catch(() => undefined)
    await before("good", {}, "3")
    await after("good", "seen", "3")
    await session.end()
    const declared = places.filter(({ reach }) => reach === "enforced").map(({ place }) => place)
    assert.deepStrictEqual([...seen].toSorted(), declared.toSorted())
  })
})
