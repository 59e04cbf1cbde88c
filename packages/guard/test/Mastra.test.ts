/** The guard inside Mastra: its models and tools, called as the SDK does. The long tests run the real package. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import * as Secrets from "@belay/hooks/Secrets"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Guard from "../src/Guard.ts"
import { faceOf } from "../src/internal/mastra/version.ts"
import * as Mastra from "../src/Mastra.ts"
import { type Calling, kit } from "./support/mastra.ts"
import { calls, lastPrompt, says, scripted } from "./support/model.ts"

const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
const mails = (...people: ReadonlyArray<string>) =>
  calls(...people.map((to, index) => ["send_mail", { to }, String(index + 1)] as const))
const key = "AKIAIOSFODNN7EXAMPLE"
const failure = (run: Promise<unknown>) => run.then(() => "ran", String)

/** What the model reads after another agent has answered. */
const answerOf = (toolName: string, value: { readonly text: string }): LanguageModelV4CallOptions["prompt"] => [
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName, input: { prompt: "help" } }] },
  { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName, output: { type: "json", value } }] }
]

describe("the guard in Mastra", () => {
  it("keeps methods of a model that use private fields", () => {
    class Model {
      readonly #name = "one"
      readonly specificationVersion = "v3"
      named() {
        return this.#name
      }
    }
    const face: Model = faceOf(new Model() as never, scripted())
    assert.strictEqual(face.named(), "one")
  })

  it("denies calls, and changes arguments and results", async () => {
    const careful = defineHook({
      name: "careful",
      preToolCall: (call) => {
        const { to } = Object(call.args) as { readonly to: string }
        return to === "eve" ? HookAction.reject("no") : HookAction.transform({ ...call, args: { to: "ann" } })
      },
      postToolCall: () => HookAction.transform({ ok: true, output: "[withheld]" })
    })
    const { ask, call, ran } = kit([careful], scripted(mails("eve", "bob")))
    await ask("go")
    assert.include(await failure(call("eve", "1")), "no")
    assert.strictEqual(await call("bob", "2"), "[withheld]")
    assert.deepStrictEqual(ran, ["ann"])
  })

  it.each([
    ["approved", { approved: true }, ["ann"]],
    ["edited", { type: "edit", args: { to: "zoe" } }, ["zoe"]],
    ["refused", { approved: false, reason: "not now" }, []],
    ["answered with something else", "sure", []]
  ])("asks with a suspended tool, and obeys when it is %s", async (_title, resumeData, expected) => {
    const { ask, call, guarded, ran, suspended } = kit([asks], scripted(mails("ann")))
    await ask("go")
    assert.isUndefined(await call("ann"))
    assert.deepStrictEqual(suspended, [{ tool: "send_mail", reason: "really?" }])
    await call("ann", "1", { resumeData, suspendPayload: {} }).catch(() => undefined)
    assert.deepStrictEqual(ran, expected)
    assert.deepStrictEqual(await guarded.session.pending(), [])
  })

  it("does not run a call about which only others may decide, and says so", async () => {
    const ann = defineHook({ name: "ann", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["ann"] }) })
    for (const approved of [true, false]) {
      const { ask, call, ran } = kit([ann], scripted(mails("ann")))
      await ask("go")
      await call("ann")
      const answer = call("ann", "1", { resumeData: { approved, reason: "not now" }, suspendPayload: {} })
      assert.include(await failure(answer), "not run: ")
      assert.deepStrictEqual(ran, [])
    }
  })

  it("believes the program about a tool, and a server only where the program says nothing", async () => {
    const seen: Array<unknown> = []
    const reads = defineHook({
      name: "reads",
      preToolCall: ({ tool: { destructive, readOnly } }) => {
        seen.push({ destructive, readOnly })
        return HookAction.reject("no")
      }
    })
    const annotations = { readOnlyHint: true, destructiveHint: false }
    const act = async (hints: Guard.ConversationOptions["hints"]) => {
      const guarded = Mastra.make(Guard.make({ hooks: [reads], log: false }), hints === undefined ? {} : { hints })
      const tool = { id: "act", mcp: { annotations }, execute: (_input: object, _context: object): unknown => 1 }
      const { act: wrapped } = guarded.tools({ act: tool })
      const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "go" }] }]
      await guarded.model(scripted(calls(["act", {}, "1"]))).doGenerate({ prompt })
      await failure(Promise.resolve(wrapped.execute({}, { agent: { toolCallId: "1", suspend: () => {} } })))
    }
    await act(undefined)
    await act({ act: { readOnly: false } })
    assert.deepStrictEqual(seen, [{ destructive: false, readOnly: true }, { destructive: false, readOnly: false }])
  })

  it("shows what a tool writes only if no hook reads its result", async () => {
    const shownWith = async (...hooks: ReadonlyArray<AgentHook>) => {
      const shown: Array<unknown> = []
      const { ask, guarded } = kit(hooks, scripted(calls(["report", {}, "1"])))
      const show = (data: unknown) => Promise.resolve(void shown.push(data))
      const writer = Object.assign(new WritableStream({ write: show }), { write: show, custom: show })
      const { report } = guarded.tools({
        report: {
          id: "report",
          execute: async (_input: object, context: { readonly writer: typeof writer }) => {
            await context.writer.write("written 4711")
            await context.writer.custom({ type: "data-pin", data: "4711" })
            await new Blob(["piped 4711"]).stream().pipeTo(context.writer)
            return "all of 4711"
          }
        }
      })
      await ask("go", [])
      const context = { writer, agent: { toolCallId: "1", suspend: () => undefined } }
      return [await report.execute({}, context as never), shown.length]
    }
    const withholds = defineHook({
      name: "withholds",
      postToolCall: () => HookAction.transform({ ok: true, output: "[withheld]" })
    })
    assert.deepStrictEqual(await shownWith(withholds), ["[withheld]", 0])
    assert.deepStrictEqual(await shownWith(), ["all of 4711", 3])
  })

  it("makes the SDK run calls one after the other if hooks can ask, so that each question is answered", () => {
    const schemas = [[asks], []].map((hooks) => {
      const tool = { id: "act", execute: () => 1 }
      const [wrapped] = Object.values(Mastra.make(Guard.make({ hooks, log: false })).tools({ act: tool }))
      return Object(wrapped).suspendSchema === undefined
    })
    assert.deepStrictEqual(schemas, [false, true])
  })

  it("takes no answer that no person has given: of the model, without a question, or for other arguments", async () => {
    const selfish = calls(["send_mail", { to: "ann", resumeData: { approved: true } }, "1"])
    const model = scripted(selfish, mails("ann"))
    const { ask, call, ran } = kit([asks], model)
    await ask("go")
    assert.include(lastPrompt(model), "a model cannot answer for a person")
    assert.include(
      await failure(call("ann", "1", { resumeData: { approved: true } })),
      "no question about send_mail is open"
    )
    await ask("again")
    await call("ann", "1")
    assert.notStrictEqual(
      await failure(call("bob", "1", { resumeData: { approved: true }, suspendPayload: {} })),
      "ran"
    )
    assert.deepStrictEqual(ran, [])
  })

  it("decides once about a call whose tool waits for a person itself", async () => {
    const seen: Array<string> = []
    const notes = defineHook({
      name: "notes",
      preToolCall: () => {
        seen.push("call")
        return HookAction.ask("really?")
      },
      postToolCall: () => void seen.push("result")
    })
    const { ask, guarded } = kit([notes], scripted(calls(["look_up", {}, "1"])))
    const { lookUp } = guarded.tools({
      lookUp: {
        id: "look_up",
        execute: async (_: object, { agent }: { readonly agent: Calling }) =>
          await (agent.resumeData ?? agent.suspend("which one?"))
      }
    })
    await ask("go", [])
    const suspended: Array<unknown> = []
    const call = async (more: object = {}) => {
      const suspend = (payload: unknown) => void suspended.push(payload)
      return await lookUp.execute({}, { agent: { toolCallId: "1", suspend, ...more } })
    }
    await call()
    await call({ resumeData: { approved: true }, suspendPayload: {} })
    assert.strictEqual(await call({ resumeData: "this one", suspendPayload: "which one?" }), "this one")
    assert.deepStrictEqual(suspended, [{ tool: "lookUp", reason: "really?" }, "which one?"])
    assert.deepStrictEqual(seen, ["call", "result"])
  })

  it("continues after a restart with the same store and id", async () => {
    const parts = [{ id: "s" }, { store: SessionStore.inMemory() }] as const
    const first = kit([asks], scripted(mails("ann")), ...parts)
    await first.ask("go")
    await first.call("ann")
    const second = kit([asks], scripted(), ...parts)
    await second.call("ann", "1", { resumeData: { approved: true }, suspendPayload: {} })
    assert.deepStrictEqual([first.ran, second.ran], [[], ["ann"]])
  })

  it("decides about tools that the SDK runs itself when the model asks for them, and reads their results later", async () => {
    const careful = defineHook({
      name: "careful",
      preToolCall: ({ name }) =>
        name === "erase" ? HookAction.reject("not here") : name === "write" ? HookAction.ask("really?") : undefined,
      postToolCall: () => HookAction.transform({ ok: true, output: "[withheld]" })
    })
    const model = scripted(calls(["erase", {}]), calls(["write", {}]), calls(["look", {}, "l"]), says("done"))
    const { ask } = kit([careful], model)
    const names = ["erase", "write", "look"]
    const { content } = await ask("go", names)
    assert.deepStrictEqual(content.map((part) => part.type === "tool-call" ? part.toolName : ""), ["look"])
    assert.include(lastPrompt(model), "nobody can be asked: really?")
    await ask("go", names, [
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "l", toolName: "look", input: {} }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "l", toolName: "look", output: { type: "text", value: "4711" } }]
      }
    ])
    assert.include(lastPrompt(model), "[withheld]")
    assert.notInclude(lastPrompt(model), "4711")
  })

  it("refuses what it cannot guard: names of models, agents without a guard, models and tools wrapped twice", async () => {
    const { config, guarded, tools } = kit([], scripted())
    assert.throws(() => guarded.config({ model: "vendor/model" }), /found the name "vendor\/model"/)
    assert.throws(() => guarded.model(config.model), /guarded already/)
    assert.throws(() => guarded.tools(config.tools), /tools.send_mail: it is guarded already/)
    assert.throws(
      () => guarded.config({ agents: { helper: { model: scripted() } } }),
      /agents.helper: it is not guarded/
    )
    assert.doesNotThrow(() => guarded.config({ agents: { helper: { model: config.model } } }))
    assert.throws(() => guarded.config(undefined as never), /expected the options of an agent/)
    const { send_mail } = guarded.tools(tools)
    assert.include(
      await failure(Promise.resolve(send_mail.execute({ to: "a" }, { agent: { toolCallId: "x" } }))),
      "not seen"
    )
  })

  it("refuses to lead a network, which asks for its options first", () => {
    const { config } = kit([], scripted())
    const { defaultNetworkOptions } = config as { readonly defaultNetworkOptions?: () => unknown }
    assert.throws(() => defaultNetworkOptions!(), /network: a guarded agent cannot lead a network/)
  })

  it("does not run a tool if a hook throws, or the store fails", async () => {
    const hooks = [
      defineHook({ name: "throws", kind: "policy", preToolCall: () => Promise.reject(new Error("broken")) })
    ]
    const throws = kit(hooks, scripted(mails("ann")))
    await throws.ask("go")
    assert.notStrictEqual(await failure(throws.call("ann")), "ran")
    const store = { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    const fails = kit([], scripted(mails("ann")), {}, { store })
    assert.include(await failure(Promise.resolve(fails.ask("go"))), "disk full")
    assert.deepStrictEqual([...throws.ran, ...fails.ran], [])
  })

  it("lets sub-agents answer beside hooks that reveal nothing to them, and checks the answer", async () => {
    const secrets = Secrets.make({ strategy: "placeholder" })
    const model = scripted(calls(["agent-helper", { prompt: "help" }, "c"]), says("done"))
    const { ask } = kit([secrets], model)
    const { content } = await ask("go", ["agent-helper"])
    assert.strictEqual(content[0]?.type, "tool-call")
    await ask("go", ["agent-helper"], answerOf("agent-helper", { text: `the key is ${key}` }))
    assert.include(lastPrompt(model), "the key is ")
    assert.notInclude(lastPrompt(model), key)
  })

  it("declares as enforced what happens, and nothing else happens", async () => {
    const seen = new Set<string>()
    const places = Guard.make().coverage(Mastra.driver)
    const points = places.filter(({ place }) => !/^wrap|^reveal|^conceal/.test(place)).map(({ place }) => place)
    const hook = defineHook({
      name: "notes",
      ...Object.fromEntries(points.map((point) => [point, () => void seen.add(point)])),
      preToolCall: ({ name }) => {
        seen.add("preToolCall")
        return name === "erase" ? HookAction.reject("no") : undefined
      },
      wrapLlmCall: (request, next) => {
        seen.add("wrapLlmCall")
        return next(request)
      },
      wrapToolCall: (call, next) => {
        seen.add("wrapToolCall")
        return next(call)
      },
      revealText: (text) => {
        seen.add("revealText")
        return text
      }
    })
    const policy: Guard.GuardOptions["policy"] = {
      check: ({ args }) =>
        Object(args)["to"] === "asked"
          ? { type: "ask", reason: "why", grant: { sandbox: "none" } }
          : { type: "allow", grant: { sandbox: "none" } }
    }
    const denies = defineHook({
      name: "denies",
      tools: "send_mail",
      preToolCall: ({ args }) => Object(args)["to"] === "eve" ? HookAction.reject("no") : undefined
    })
    const both = kit([hook, denies], scripted(mails("eve", "asked", "ann"), says("bye")), {}, { policy })
    await both.ask("go")
    await both.call("eve", "1").catch(() => undefined)
    await both.call("asked", "2")
    await both.call("ann", "3")
    await both.ask("go", ["send_mail"], [
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "3", toolName: "send_mail", input: {} }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "3", toolName: "send_mail", output: { type: "text", value: "x" } }]
      }
    ])
    await both.guarded.session.end()
    const { wrapToolCall: _wraps, ...without } = hook
    const below = kit([without], scripted(calls(["agent-helper", { prompt: "help" }])))
    await below.ask("go", ["agent-helper"])
    await below.ask("go", ["agent-helper"], answerOf("agent-helper", { text: "found it" }))
    // This needs a hook that reports a budget.
    const declared = places.filter(({ place, reach }) => reach === "enforced" && place !== "onBudget")
    assert.deepStrictEqual([...seen].toSorted(), declared.map(({ place }) => place).toSorted())
  })
})
