/** The guard inside opencode: its plugin, with the payloads that the plugin API declares. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { ToolCallLimit } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Guard from "../src/Guard.ts"
import * as OpenCode from "../src/OpenCode.ts"
import { events } from "./support/openCode.ts"

const kit = async (hooks: ReadonlyArray<AgentHook>, more: Guard.GuardOptions = {}) =>
  events(await OpenCode.make(Guard.make({ hooks, log: false, ...more }))(events.input))

const said = (run: Promise<unknown>): Promise<string> =>
  run.then(() => "ran", (error: unknown) => error instanceof Error ? error.message : String(error))

describe("the guard in opencode", () => {
  it("denies calls, changes arguments where opencode reads them, and says nothing about the rest", async () => {
    const { before } = await kit([defineHook({
      name: "careful",
      preToolCall: (call) => {
        if (call.name === "bash") return HookAction.reject("no commands")
        if (call.name === "answered") return HookAction.respond("42")
        return call.name === "edit" ? HookAction.transform({ ...call, args: { b: 2 } }) : undefined
      }
    })])
    const args: object = { a: 1 }
    assert.strictEqual(await said(before("bash", { command: "rm" }, "0")), "no commands")
    assert.strictEqual(await said(before("answered", {}, "1")), "not run, and this is its result: 42")
    await before("edit", args, "2")
    assert.deepStrictEqual(args, { b: 2 })
    const same = { filePath: "a" }
    await before("read", same, "3")
    assert.deepStrictEqual(same, { filePath: "a" })
  })

  it("changes and withholds results, of MCP servers too, and adds what hooks inject", async () => {
    const { after, before } = await kit([defineHook({
      name: "keeper",
      preToolCall: (_call, ctx) => {
        ctx.inject("be careful")
      },
      postToolCall: ({ call, result }) => {
        if (call.name === "stops") return HookAction.abort("the turn ends")
        return JSON.stringify(result).includes("4711") ? HookAction.transform({ ok: true, output: "[pin]" }) : undefined
      }
    })])
    const output = {
      title: "t",
      output: "4711",
      metadata: { output: "4711", exit: 0 },
      attachments: [{ url: "data:" }]
    }
    await before("bash", {}, "1")
    await after("bash", output, "1")
    assert.deepStrictEqual<object>(output, {
      title: "t",
      output: "[pin]\n\nbe careful",
      metadata: { output: "[pin]" }
    })
    const mcp = { content: [{ type: "resource", resource: { text: "4711" } }], structuredContent: { pin: 4711 } }
    await after("mcp_read", mcp, "2")
    assert.deepStrictEqual<object>(mcp, { content: [{ type: "text", text: "[pin]" }] })
    const picture = { content: [{ type: "image", data: "aGk=" }] }
    await before("mcp_draw", {}, "3")
    await after("mcp_draw", picture, "3")
    const more = [{ type: "image", data: "aGk=" }, { type: "text", text: "be careful" }]
    assert.deepStrictEqual<object>(picture.content, more)
    const fine = { title: "t", output: "all is well", metadata: { diff: "+1" } }
    await after("edit", fine, "4")
    assert.deepStrictEqual(fine, { title: "t", output: "all is well", metadata: { diff: "+1" } })
    await after("task", undefined, "5")
    const last = { title: "t", output: "secret", metadata: {} }
    await after("stops", last, "6")
    assert.strictEqual(last.output, "the turn ends")
    assert.strictEqual(await said(before("read", {}, "7")), "the turn ends")
  })

  it("checks the errors of tools before the model reads them, each once", async () => {
    let seen = 0
    const { before, reads } = await kit([defineHook({
      name: "keeper",
      preToolCall: ({ name }) => name === "bash" ? HookAction.reject("no commands") : undefined,
      postToolCall: ({ result }) => {
        seen += 1
        return result.ok ? undefined : HookAction.transform({ ok: false, error: "[hidden]" })
      }
    })])
    await before("read", {}, "1")
    await said(before("bash", {}, "2"))
    assert.strictEqual(await reads("read", "1", "no such file: 4711"), "[hidden]")
    assert.strictEqual(await reads("read", "1", "no such file: 4711"), "[hidden]")
    assert.strictEqual(await reads("bash", "2", "Error: no commands"), "no commands")
    assert.strictEqual(seen, 1)
  })

  it("refuses and changes messages", async () => {
    const { message } = await kit([defineHook({
      name: "doorman",
      preTurn: ({ message }, ctx) => {
        if (message.includes("bad")) return HookAction.reject("not here")
        if (message === "answer") return HookAction.respond({ text: "closed today" })
        if (message === "note") ctx.inject("be careful")
        return message.includes("4711") ? HookAction.transform({ message: "the pin is [pin]" }) : undefined
      }
    })])
    assert.strictEqual(await said(message("hi", "a file that is bad")), "not here")
    assert.strictEqual(await said(message("answer")), "closed today")
    assert.deepStrictEqual(await message("the pin is", "4711"), ["the pin is [pin]"])
    assert.deepStrictEqual(await message("note"), ["note\n\nbe careful"])
    assert.deepStrictEqual(await message("hi", "there"), ["hi", "there"])
  })

  it("refuses what would be a question, with the name of the hook and its reason", async () => {
    const { before } = await kit([defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })])
    const text = await said(before("mail", {}, "1"))
    assert.include(text, "asks asks a person")
    assert.include(text, "really?")
    assert.notStrictEqual(await said(before("mail", {}, "__proto__")), "ran")
    const terms = { approvers: ["ann"] }
    const ofAnn = await kit([defineHook({ name: "ann", preToolCall: () => HookAction.ask("hm?", undefined, terms) })])
    assert.include(await said(ofAnn.before("mail", {}, "1")), "ann asks a person")
  })

  it("decides about sub-agents, whose calls count in the limits of the whole tree", async () => {
    const { before, message } = await kit([
      ToolCallLimit.make({ perSession: 2 }),
      defineHook({
        name: "keeper",
        preDelegation: ({ agent }) => agent === "general" ? HookAction.reject("work alone") : undefined
      })
    ])
    const task = (subagent_type: string) => ({ subagent_type, description: "d", prompt: "look around" })
    assert.strictEqual(await said(before("task", task("general"), "1")), "work alone")
    await before("task", task("explore"), "2")
    await message.in("ses_child", "look around")
    await before.in("ses_child", "read", {}, "1")
    assert.include(await said(before.in("ses_child", "read", {}, "2")), "2")
  })

  it("runs nothing if the guard fails, or if opencode does not say whose sub-agent asks", async () => {
    const throws = await kit([
      defineHook({ name: "throws", kind: "policy", preToolCall: () => Promise.reject(new Error("broken")) })
    ])
    assert.notStrictEqual(await said(throws.before("mail", {}, "1")), "ran")
    assert.include(await said(throws.before.in("ses_unknown", "read", {}, "1")), "does not know its session")
    assert.include(await said(throws.before.in("ses_loop", "read", {}, "1")), "its own parent")
    const { before, message } = await kit([], {
      store: { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    })
    assert.include(await said(message("hi")), "disk full")
    assert.include(await said(before("mail", {}, "1")), "disk full")
  })

  it("keeps the prototype of arguments, and refuses what it cannot change", async () => {
    const { before } = await kit([defineHook({
      name: "changes",
      preToolCall: (call) =>
        HookAction.transform({ ...call, args: JSON.parse("{\"__proto__\":{\"admin\":true}}") as never })
    })])
    const args: object = { a: 1 }
    await before("edit", args, "1")
    assert.strictEqual(Object.getPrototypeOf(args), Object.prototype)
    assert.notStrictEqual(await said(before("edit", Object.freeze({ a: 1 }), "2")), "ran")
  })

  it("refuses by name hooks that must hold where opencode has no point", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", postLlmCall: () => HookAction.abort("no") })]
    const make = (allowUnguarded: ReadonlyArray<string>) =>
      OpenCode.make(Guard.make({ hooks, log: false, allowUnguarded }))
    assert.throws(() => make([]), /opencode cannot enforce keeper at postLlmCall/)
    assert.isFunction(make(["keeper"]))
  })

  it("declares as enforced what happens, and nothing else happens", async () => {
    const seen = new Set<string>()
    const note = (place: string) => () => void seen.add(place)
    const places = Guard.make().coverage(OpenCode.driver)
    const points = places.filter(({ place }) => !/^wrap|^reveal|^conceal/.test(place)).map(({ place }) => place)
    const { after, before, dispose, message, reads } = await kit([
      defineHook({
        name: "notes",
        ...Object.fromEntries(points.map((point) => [point, note(point)])),
        preToolCall: ({ name }) => {
          seen.add("preToolCall")
          return name === "mail" ? HookAction.reject("no mails") : undefined
        }
      })
    ], {
      policy: {
        check: ({ name }) =>
          name === "ask"
            ? { type: "ask", reason: "why", grant: { sandbox: "none" } }
            : { type: "allow", grant: { sandbox: "none" } }
      }
    })
    await message("hi")
    await said(before("mail", {}, "0"))
    await said(before("ask", {}, "1"))
    await before("task", { subagent_type: "explore", prompt: "look" }, "2")
    await message.in("ses_child", "look")
    await after("task", { title: "t", output: "seen", metadata: {} }, "2")
    await before("read", {}, "3")
    await reads("read", "3", "no such file")
    await dispose()
    const declared = places.filter(({ reach }) => reach === "enforced").map(({ place }) => place)
    assert.deepStrictEqual([...seen].toSorted(), declared.toSorted())
  })
})
